from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import unclass
from unclass.data import Batches, ImageData, ImageSet, Split, TrainingData, Withheld
from unclass.errors import Diverged, InputError
from unclass.methods import METHODS, Needs
from unclass.methods.configure import configure
from unclass.methods.finetune import Finetune
from unclass.methods.retrain import Retrain
from unclass.metrics import Evaluation
from unclass.models import Classifier, weights_digest
from unclass.models.networks.small_cnn import SmallCNN
from unclass.predictions import predict_sets
from unclass.running import Settings, check_needs, unlearn
from unclass.training.engine import Engine


@pytest.fixture(autouse=True)
def card_stays(trained: Classifier) -> Iterator[None]:
    """The shared network keeps its card, whatever a test writes there."""
    card = trained.card
    yield
    trained.card = card


def test_everything_named_in_the_package_is_there() -> None:
    assert all(hasattr(unclass, name) for name in unclass.__all__)
    assert unclass.__all__ == sorted(unclass.__all__, key=lambda name: (not name.isupper(), name))


@pytest.mark.parametrize("verb", ["train", "forget", "evaluate", "audit", "compare", "doctor", "bench", "paper"])
def test_every_verb_is_a_function_and_shadows_no_module(verb: str) -> None:
    assert callable(getattr(unclass, verb)) and find_spec(f"unclass.{verb}") is None
    assert "Example: " in (getattr(unclass, verb).__doc__ or "")


def test_a_whole_number_too_long_for_a_machine_is_a_number(
    trained: Classifier, digits: ImageData, engine: Engine
) -> None:
    with pytest.raises(Diverged):
        unclass.forget(trained, digits, 3, "negative-gradient", engine=engine, epochs=2, lr=10**30)


class KilledAt:
    """An observer that ends a run after so many steps, as a kill does."""

    def __init__(self, step: int) -> None:
        self.step = step

    def start(self, model: nn.Module) -> None: ...

    def after_step(self, step: int, model: nn.Module, y: torch.Tensor) -> None:
        if step == self.step:
            raise KeyboardInterrupt


def killed(model: nn.Module, data: object, out: Path) -> None:
    stopped = Engine(precision="float32", checkpoint_seconds=0, observer=KilledAt(4))
    with pytest.raises(KeyboardInterrupt):
        unclass.forget(model, data, 3, "random-labels", epochs=4, batch_size=8, out=out, engine=stopped)


@pytest.mark.parametrize(
    "other",
    [{"classes": 5}, {"batch_size": 9}, {"method": "negative-gradient"}, {"batch_norm": "train"}],
    ids=["class", "batch size", "method", "option"],
)
def test_a_killed_run_is_not_gone_on_with_by_another(
    other: dict[str, object], trained: Classifier, digits: ImageData, engine: Engine, tmp_path: Path
) -> None:
    out = tmp_path / "model.safetensors"
    killed(trained, digits, out)
    asked = {"classes": 3, "method": "random-labels", "batch_size": 8} | other
    with pytest.raises(InputError, match=r"of another run \(random-labels of classes \[3\]"):
        unclass.forget(trained, digits, out=out, epochs=4, engine=engine, **asked)  # type: ignore[arg-type]


def test_a_killed_run_is_not_gone_on_with_on_other_images(
    trained: Classifier, digits: ImageData, engine: Engine, tmp_path: Path
) -> None:
    killed(trained, digits, tmp_path / "model.safetensors")
    turned = replace(digits, train=digits.train.select(torch.arange(len(digits.train)).flip(0)))
    with pytest.raises(InputError, match="of another run"):
        unclass.forget(
            trained,
            turned,
            3,
            "random-labels",
            epochs=4,
            batch_size=8,
            out=tmp_path / "model.safetensors",
            engine=engine,
        )


@pytest.mark.parametrize("then", [5, None], ids=["another class", "nothing"])
def test_a_killed_training_is_not_gone_on_with_where_other_updates_are_to_be_kept(
    then: int | None, digits: ImageData, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = {"model_options": {"width": 2}, "epochs": 2, "batch_size": 8, "out": tmp_path / "model.safetensors"}

    def killed_later(self: unclass.UpdateRecorder, step: int, *_: object) -> None:
        if step == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(unclass.UpdateRecorder, "after_step", killed_later)
        engine = Engine(precision="float32", checkpoint_seconds=0)
        unclass.train(digits, "small-cnn", engine=engine, record_updates=tmp_path / "kept", record_class=3, **asked)
    other = {} if then is None else {"record_updates": tmp_path / "kept", "record_class": then}
    with pytest.raises(InputError, match="of another run"):
        unclass.train(digits, "small-cnn", engine=Engine(precision="float32"), **other, **asked)


def test_a_killed_run_goes_on_to_what_it_would_have_come_to(
    trained: Classifier, digits: ImageData, engine: Engine, tmp_path: Path
) -> None:
    killed(trained, digits, tmp_path / "model.safetensors")
    asked = {"epochs": 4, "batch_size": 8, "engine": engine}
    gone_on = unclass.forget(trained, digits, 3, "random-labels", out=tmp_path / "model.safetensors", **asked)
    assert weights_digest(gone_on) == weights_digest(unclass.forget(trained, digits, 3, "random-labels", **asked))


def test_the_example_of_the_issue_runs(trained: Classifier, digits: ImageData, engine: Engine, tmp_path: Path) -> None:
    unclass.save(trained, tmp_path / "model.safetensors")
    model = unclass.load(tmp_path / "model.safetensors")
    forgotten = unclass.forget(model, digits, classes=["3"], method="boundary-shrink", engine=engine, lr=0.02)
    assert isinstance(forgotten, Classifier) and forgotten.card.forgotten == ("3",)
    assert weights_digest(model) == weights_digest(trained) and model.card.forgotten == ()
    before, after = (unclass.evaluate(m, digits, ["3"], engine=engine) for m in (model, forgotten))
    assert after.accuracy_forget < before.accuracy_forget


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
    expected = Evaluation.of(predict_sets(trained, Split.of(digits, ["3"]), engine))
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
        ({"classes": ["3"], "method": "finetune", "epoch": 2}, "did you mean epochs"),
        ({"classes": ["3"], "pace": -1}, "pace is -1"),
    ],
)
def test_bad_input_is_an_input_error(trained: Classifier, digits: ImageData, call: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        unclass.forget(trained, digits, **call)


def normalised(images: ImageSet) -> TensorDataset:
    """Images as somebody's own transform gives them: far from [0, 1]."""
    return TensorDataset(images.read(torch.arange(len(images))).float() / 25.5 - 5, images.labels)


@pytest.fixture(scope="module")
def theirs(digits: ImageData) -> nn.Module:
    """Somebody's own network, trained on their own loader."""
    torch.manual_seed(0)
    network = SmallCNN(10, width=8)
    data = TrainingData(Withheld("D_f"), DataLoader(normalised(digits.train), batch_size=32, shuffle=True), ())
    return Retrain(epochs=6, lr=0.1)(network, data, Engine(precision="float32"))


def test_forget_and_evaluate_take_loaders_as_they_are(theirs: nn.Module, digits: ImageData, engine: Engine) -> None:
    train, test = (DataLoader(normalised(part), batch_size=16) for part in (digits.train, digits.test))
    forgotten = unclass.forget(theirs, train, [3], "finetune", engine=engine, epochs=1, lr=0.02)
    before, after = (unclass.evaluate(model, test, [3], engine=engine) for model in (theirs, forgotten))
    assert set(before.as_dict()) == {"accuracy_retain_test", "accuracy_forget_test"}
    assert before.accuracy_retain_test > 0.6
    by_hand = [int(theirs(x[None]).argmax() == y) for x, y in normalised(digits.test) if y == 3]
    assert before.accuracy_forget_test == pytest.approx(sum(by_hand) / len(by_hand))
    assert after != before
    both = unclass.image_data(normalised(digits.train), test)
    same = unclass.forget(theirs, both, [3], "finetune", batch_size=16, engine=engine, epochs=1, lr=0.02)
    assert weights_digest(same) == weights_digest(forgotten)
    assert len(unclass.evaluate(same, both, [3], engine=engine).as_dict()) == 5


def test_dicts_from_a_stream_will_do(theirs: nn.Module, digits: ImageData, engine: Engine) -> None:
    class Stream(IterableDataset):
        def __iter__(self):
            return ({"pixel_values": x, "labels": y} for x, y in normalised(digits.train))

    options = {"batch_size": 16, "engine": engine, "epochs": 1, "lr": 0.02}
    streamed = unclass.forget(theirs, DataLoader(Stream(), batch_size=16), [3], "negative-gradient", **options)
    expected = unclass.forget(theirs, normalised(digits.train), [3], "negative-gradient", **options)
    assert weights_digest(streamed) == weights_digest(expected)


def test_images_to_forget_are_enough_for_methods_that_need_no_others(
    theirs: nn.Module, digits: ImageData, engine: Engine
) -> None:
    only = normalised(digits.train.of_classes([3]))
    found = unclass.forget(theirs, only, [3], "boundary-expanding", forget_only=True, engine=engine, epochs=1)
    expected = unclass.forget(theirs, normalised(digits.train), [3], "boundary-expanding", engine=engine, epochs=1)
    assert weights_digest(found) == weights_digest(expected)
    assert set(unclass.evaluate(found, only, [3], forget_only=True, engine=engine).as_dict()) == {"accuracy_forget"}


@pytest.mark.parametrize("method", METHODS)
def test_methods_that_need_more_say_so_before_they_start(theirs: nn.Module, digits: ImageData, method: str) -> None:
    only = unclass.image_data(normalised(digits.train.of_classes([3])), classes=digits.classes)
    split, kind = Split.of(only, [3], forget_only=True), METHODS[method]
    if not kind().needs & (Needs.RETAIN | Needs.UPDATES):
        check_needs(kind(), split)
        return
    with pytest.raises(
        InputError, match=rf"^{method} needs .*D_r.*, and only D_f was given; choose from: .*boundary-sh"
    ):
        unclass.forget(theirs, only, [3], method, forget_only=True)


@pytest.mark.parametrize("method", METHODS)
def test_methods_for_whole_classes_refuse_a_list_of_images(trained: Classifier, digits: ImageData, method: str) -> None:
    rows = (digits.train.labels == 3).nonzero().flatten()[:10].tolist()
    split = Split.of(digits, [], rows=torch.tensor(rows))
    if not METHODS[method].whole_classes:
        check_needs(METHODS[method](), split)
        return
    with pytest.raises(
        InputError, match=rf"^{method} forgets whole classes, not some of their images; choose from: retr"
    ):
        unclass.forget(trained, digits, [3], method, forget_list=rows)


def test_listed_images_are_forgotten_and_the_class_stays(
    trained: Classifier, digits: ImageData, engine: Engine
) -> None:
    rows = (digits.train.labels == 3).nonzero().flatten()[:10].tolist()
    options = {"engine": engine, "batch_size": 32, "epochs": 8, "lr": 0.1}
    found = unclass.forget(trained, digits, method="retrain", forget_list=rows, **options)
    assert found.card.forgotten == trained.card.forgotten
    assert unclass.evaluate(found, digits, forget_list=rows, engine=engine).accuracy_forget_test > 0.5
    kept = torch.tensor([row for row in range(len(digits.train)) if row not in rows])
    without = replace(digits, train=digits.train.select(kept))
    torch.manual_seed(0)
    remaining = TrainingData(Withheld("D_f"), Batches(without.train, 32, shuffle=True), ())
    expected = Retrain(epochs=8, lr=0.1)(trained, remaining, engine)
    assert weights_digest(found) == weights_digest(expected)


@pytest.mark.parametrize(
    ("images", "labels", "problem"),
    [
        (
            torch.zeros(4, 3, 8, 8),
            [0, 1, 2, 3],
            r"the model cannot take images of 3 × 8 × 8 \(.*transform them as in tr",
        ),
        (torch.zeros(4, 1, 3, 3), [0, 1, 2, 3], "the model cannot take images of 1 × 3 × 3"),
        (torch.zeros(4, 1, 8, 8).long(), [0, 1, 2, 3], "images are of type torch.int64"),
        (torch.zeros(4, 1, 8, 8), [0, 1, 2, 10], "class 10 is beyond the model's 10 outputs"),
    ],
)
def test_loader_that_does_not_fit_is_explained(images: torch.Tensor, labels: list, problem: str) -> None:
    class Fixed(SmallCNN):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if x.shape[-1] < 4:
                raise RuntimeError("kernel size can't be greater than input size")
            return super().forward(x)

    with pytest.raises(InputError, match=problem):
        unclass.forget(Fixed(10, width=4), TensorDataset(images, torch.tensor(labels)), [3], "negative-gradient")


def test_images_normalised_twice_are_refused(trained: Classifier, digits: ImageData) -> None:
    with pytest.raises(InputError, match=r"normalises images itself and was given images from -5.00 to"):
        unclass.forget(trained, normalised(digits.train), [3])


def test_a_batch_of_one_with_batch_norm_is_explained(engine: Engine) -> None:
    torch.manual_seed(0)
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))
    one = TensorDataset(torch.rand(1, 1, 2, 2), torch.tensor([3]))
    with pytest.raises(InputError, match="batch norm was given one image and needs two; add images"):
        unclass.forget(network, one, [3], "random-labels", forget_only=True, engine=engine, batch_norm="train")
    unclass.forget(network, one, [3], "random-labels", forget_only=True, engine=engine)


def test_a_record_holds_what_the_method_found_of_itself(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    found = unclass.record_of(unclass.forget(trained, digits, "3", "boundary-shift", engine=engine))
    assert found.findings.keys() == {"still_in_class", "membership_gap", "harm", "sure", "told"}
    worse = {**found.findings, "still_in_class": 0.5}
    assert any("still taken for the class" in line for line in configure("boundary-shift").remarks(worse))


@pytest.mark.parametrize("wrong", [[], {}, 3, nn.Linear(1, 1)])
def test_what_was_not_made_here_has_no_record(wrong: object) -> None:
    with pytest.raises(InputError, match="no record of this model is known here"):
        unclass.record_of(wrong)  # type: ignore[arg-type]
