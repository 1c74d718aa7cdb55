"""What every method of the table promises, whatever it does inside."""

import json
from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from unclass.cli import run as run_command
from unclass.data import Batches, ImageData, ImageSet, Split, TrainingData, Withheld
from unclass.methods import METHODS, Method, Needs
from unclass.methods.amnesiac.recorder import UpdateRecorder
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.models import Classifier, weights_digest
from unclass.models.networks.small_cnn import SmallCNN
from unclass.predictions import predict
from unclass.running import Settings, unlearn
from unclass.training.engine import Engine

# Strong enough to forget on forty tiny digits of each class; a new method adds its row.
OPTIONS: dict[str, dict[str, Any]] = {
    "retrain": {"epochs": 2, "lr": 0.1},
    "finetune": {"epochs": 4, "lr": 0.2},
    "random-labels": {"epochs": 6, "lr": 0.02},
    "negative-gradient": {"epochs": 4, "lr": 0.01, "batch_norm": "train"},
    "fisher": {"images": 100},
    "amnesiac": {"repair_epochs": 1},
    "boundary-shrink": {"epochs": 6, "lr": 0.02},
    "boundary-expanding": {"epochs": 6, "lr": 0.05},
    "boundary-shift": {},
    "logit-mask": {},
}
SETTINGS = Settings(seed=5, batch_size=32)


def method_named(name: str, updates: Path) -> Method:
    where = {"updates": str(updates)} if Needs.UPDATES in METHODS[name].needs else {}
    return configure(name, options={**OPTIONS[name], **where})


def everything_in(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers, those that checkpoints leave out too."""
    return {name: tensor.detach().clone() for name, tensor in (*model.named_parameters(), *model.named_buffers())}


def confidence(model: nn.Module, images: ImageSet) -> float:
    """Mean probability of the true class."""
    predictions = predict(model, Batches(images, 200), Engine(precision="float32"))
    return predictions.probabilities.gather(1, predictions.labels[:, None]).mean().item()


@pytest.fixture(scope="module", params=METHODS)
def done(request: pytest.FixtureRequest, recorded: tuple[Classifier, Path], split: Split) -> SimpleNamespace:
    """Each method run once, with what was there before."""
    original, updates = recorded
    before, digest = everything_in(original), weights_digest(original)
    method = method_named(request.param, updates)
    outcome = unlearn(original, split, method, Engine(precision="float32"), SETTINGS)
    return SimpleNamespace(
        name=request.param, method=method, original=original, before=before, digest=digest, outcome=outcome
    )


@pytest.fixture(scope="module")
def plain(digits: ImageData, tmp_path_factory: pytest.TempPathFactory) -> tuple[nn.Module, Path]:
    """A bare network that is no Classifier, trained from a DataLoader, with its updates for 3 and 5."""
    folder = tmp_path_factory.mktemp("plain") / "updates"
    torch.manual_seed(1)
    recorder = UpdateRecorder(folder, [3, 5])
    data = TrainingData(Withheld("D_f"), loader(digits.train), ())
    network = Retrain(epochs=6, lr=0.1)(SmallCNN(10, width=8), data, Engine(precision="float32", observer=recorder))
    recorder.finish(network)
    return network, folder


def loader(images: ImageSet) -> DataLoader[tuple[Tensor, ...]]:
    pixels = images.read(torch.arange(len(images))).float() / 255
    return DataLoader(TensorDataset(pixels, images.labels), batch_size=32, shuffle=True)


def test_every_method_of_the_table_is_under_this_contract() -> None:
    assert set(OPTIONS) == set(METHODS)


def test_confidence_in_the_forgotten_class_falls(done: SimpleNamespace, split: Split) -> None:
    assert confidence(done.outcome.model, split.forget) < confidence(done.original, split.forget) / 2


def test_the_original_is_untouched(done: SimpleNamespace) -> None:
    assert weights_digest(done.original) == done.digest
    after = everything_in(done.original)
    assert after.keys() == done.before.keys()
    assert all(torch.equal(after[name], done.before[name]) for name in after)
    assert not done.original.training
    assert all(parameter.requires_grad for parameter in done.original.parameters())


def test_keys_shapes_dtypes_and_class_count_stay(done: SimpleNamespace) -> None:
    old, new = done.original.state_dict(), done.outcome.model.state_dict()
    assert list(new) == list(old)
    for key, tensor in new.items():
        assert (tensor.shape, tensor.dtype) == (old[key].shape, old[key].dtype), key
    assert type(done.outcome.model) is type(done.original)
    assert done.outcome.model(torch.rand(2, 1, 8, 8)).shape == (2, 10)


def test_the_result_is_another_model_in_evaluation_mode(done: SimpleNamespace) -> None:
    assert weights_digest(done.outcome.model) != done.digest
    assert not any(module.training for module in done.outcome.model.modules())


def test_no_hook_stays_behind(done: SimpleNamespace) -> None:
    for module in done.outcome.model.modules():
        assert not module._forward_hooks and not module._forward_pre_hooks


def test_same_seed_gives_the_same_weights(done: SimpleNamespace, split: Split) -> None:
    torch.rand(17)  # whatever was drawn before must not matter
    again = unlearn(done.original, split, done.method, Engine(precision="float32"), SETTINGS)
    assert weights_digest(again.model) == weights_digest(done.outcome.model)


def test_retain_images_are_read_only_where_they_are_needed(done: SimpleNamespace) -> None:
    assert (done.outcome.retain_images_read > 0) == (Needs.RETAIN in done.method.needs)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_touches_only_the_data_it_declares(
    name: str, recorded: tuple[Classifier, Path], split: Split, engine: Engine
) -> None:
    original, updates = recorded
    method = method_named(name, updates)
    data = TrainingData(
        forget=Batches(split.forget, 32) if Needs.FORGET in method.needs else Withheld("D_f"),
        retain=Batches(split.retain, 32) if Needs.RETAIN in method.needs else Withheld("D_r"),
        classes=split.classes,
    )
    method(original, data, engine)  # Withheld raises as soon as it is walked through or measured


@pytest.mark.parametrize(
    "name, need", [(name, need) for name in METHODS for need in METHODS[name].needs if need is not Needs.UPDATES]
)
def test_a_method_does_read_the_data_it_declares(
    name: str, need: Needs, recorded: tuple[Classifier, Path], split: Split, engine: Engine
) -> None:
    original, updates = recorded
    method = method_named(name, updates)
    data = TrainingData(
        forget=Withheld("D_f") if need is Needs.FORGET else Batches(split.forget, 32),
        retain=Withheld("D_r") if need is Needs.RETAIN else Batches(split.retain, 32),
        classes=split.classes,
    )
    with pytest.raises(RuntimeError, match="withheld"):
        method(original, data, engine)


@pytest.mark.parametrize("name", METHODS)
def test_a_plain_module_forgets_two_classes_from_data_loaders(
    name: str, plain: tuple[nn.Module, Path], digits: ImageData, engine: Engine
) -> None:
    original, updates = plain
    split = Split.of(digits, ["3", "5"])
    digest, before = weights_digest(original), confidence(original, split.forget)
    torch.manual_seed(0)
    data = TrainingData(loader(split.forget), loader(split.retain), split.classes)
    unlearned = method_named(name, updates)(original, data, engine)
    assert type(unlearned) is type(original) and weights_digest(original) == digest
    assert list(unlearned.state_dict()) == list(original.state_dict())
    for index in split.classes:
        assert confidence(unlearned, split.forget.of_classes([index])) < 0.6 * before


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_a_frozen_dataclass_whose_record_makes_it_again(name: str) -> None:
    method: Any = configure(name, options=OPTIONS[name])
    assert is_dataclass(method) and isinstance(method, Method)
    with pytest.raises(FrozenInstanceError):
        setattr(method, fields(method)[0].name, 0)
    record = json.loads(json.dumps(asdict(method)))
    assert configure(name, options=record) == method
    assert configure(name, options={key: str(value) for key, value in record.items()}) == method


@pytest.mark.parametrize("name, preset", [(name, preset) for name in METHODS for preset in METHODS[name].presets])
def test_every_preset_constructs_with_allowed_values(name: str, preset: str) -> None:
    method: Any = configure(name, preset=preset)
    assert {key: getattr(method, key) for key in METHODS[name].presets[preset]} == METHODS[name].presets[preset]
    assert configure(name, data=preset) == method


def test_the_papers_methods_have_their_presets() -> None:
    for name in ("boundary-shrink", "boundary-expanding"):
        assert {"paper", "authors"} <= set(METHODS[name].presets)


def test_list_shows_every_method_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["methods"]
    assert list(listed) == list(METHODS)
    for name, about in listed.items():
        assert about["options"] == asdict(METHODS[name]())  # type: ignore[call-overload]
        assert about["needs"] and about["summary"]
