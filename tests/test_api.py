from pathlib import Path

import pytest
from torch import nn

import unclass
from unclass.data import ImageData, Split
from unclass.engine import Engine
from unclass.errors import InputError
from unclass.methods.configure import configure
from unclass.methods.finetune import Finetune
from unclass.methods.retrain import Retrain
from unclass.metrics import figures
from unclass.models import Classifier, weights_digest
from unclass.predictions import predict_sets
from unclass.runs import Settings, unlearn


def test_everything_named_in_the_package_is_there() -> None:
    assert all(hasattr(unclass, name) for name in unclass.__all__)
    assert unclass.__all__ == sorted(unclass.__all__, key=lambda name: (not name.isupper(), name))


def test_the_example_of_the_issue_runs(trained: Classifier, digits: ImageData, engine: Engine, tmp_path: Path) -> None:
    unclass.save(trained, tmp_path / "model.safetensors")
    model = unclass.load(tmp_path / "model.safetensors")
    forgotten = unclass.forget(model, digits, classes=["3"], method="boundary-shrink", engine=engine, lr=0.02)
    assert isinstance(forgotten, Classifier) and forgotten.card.forgotten == ("3",)
    assert weights_digest(model) == weights_digest(trained) and model.card.forgotten == ()
    before, after = (unclass.evaluate(m, digits, ["3"], engine=engine) for m in (model, forgotten))
    assert after["accuracy_forget"] < before["accuracy_forget"]


def test_forget_runs_the_method_with_its_options(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    found = unclass.forget(trained, digits, ["3"], "finetune", seed=2, batch_size=32, engine=engine, epochs=1, lr=0.02)
    method = configure("finetune", data="digits", options={"epochs": 1, "lr": 0.02})
    expected = unlearn(trained, Split.of(digits, ["3"]), method, engine, Settings(2, 32)).model
    assert weights_digest(found) == weights_digest(expected)


def test_forget_takes_a_method_made_by_hand(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    found = unclass.forget(trained, digits, [3], Finetune(epochs=1), batch_size=32, engine=engine)
    expected = unlearn(trained, Split.of(digits, ["3"]), Finetune(epochs=1), engine, Settings(0, 32)).model
    assert weights_digest(found) == weights_digest(expected)


def test_options_beside_a_method_made_by_hand_are_not_swallowed(trained: Classifier, digits: ImageData) -> None:
    with pytest.raises(InputError, match="has its options already"):
        unclass.forget(trained, digits, ["3"], Finetune(), lr=0.5)
    with pytest.raises(InputError, match="has its options already"):
        unclass.forget(trained, digits, ["3"], Finetune(), preset="paper")


def test_retrain_repeats_the_recipe_on_the_card(
    trained: Classifier, digits: ImageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Retrain] = []
    monkeypatch.setattr(Retrain, "__call__", lambda self, model, data, engine: seen.append(self) or model)
    unclass.forget(trained, digits, ["3"], "retrain")
    unclass.forget(trained, digits, ["3"], "retrain", epochs=2)
    unclass.forget(trained, digits, ["3"], "retrain", preset="paper")
    paper = Retrain(**Retrain.presets["paper"])
    assert seen == [Retrain(epochs=8, lr=0.1), Retrain(epochs=2, lr=0.1), paper]


def test_a_plain_module_can_forget_too(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    network: nn.Module = trained.network
    found = unclass.forget(network, digits, ["3"], "negative-gradient", engine=engine, epochs=1)
    assert type(found) is type(network)


def test_evaluate_gives_the_figures_of_the_predictions(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    expected = figures(predict_sets(trained, Split.of(digits, ["3"]), engine))
    assert unclass.evaluate(trained, digits, ["3"], engine=engine) == expected


def test_train_takes_names_and_changes_to_the_recipe(engine: Engine) -> None:
    model = unclass.train("digits", batch_size=256, engine=engine, model_options={"width": 2}, epochs=1)
    assert model.card.architecture == "small-cnn" and model.card.options == {"width": 2}
    assert model.card.recipe["epochs"] == 1
    assert model.card.recipe["lr"] == Retrain.presets["digits"]["lr"]


@pytest.mark.parametrize(
    "call, expected",
    [
        ({"classes": ["33"]}, "unknown class '33'"),
        ({"classes": []}, "no class to forget"),
        ({"classes": ["3"], "method": "fishr"}, "did you mean fisher"),
        ({"classes": ["3"], "epoch": 2}, "did you mean epochs"),
        ({"classes": ["3"], "lr": -1}, "lr is -1"),
    ],
)
def test_bad_input_is_an_input_error(trained: Classifier, digits: ImageData, call: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        unclass.forget(trained, digits, **call)
