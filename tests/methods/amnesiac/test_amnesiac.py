from pathlib import Path

import pytest
import torch

from unclass.data import Batches, ImageData, Split, TrainingData, Withheld
from unclass.errors import InputError
from unclass.methods.amnesiac import Amnesiac
from unclass.methods.amnesiac.recorder import UpdateRecorder, recorded_updates
from unclass.methods.retrain import Retrain, reset
from unclass.models import Classifier
from unclass.running import Settings, new_model, train_model
from unclass.training.engine import Engine


def retain(split: Split) -> TrainingData:
    return TrainingData(Withheld("D_f"), Batches(split.retain, 32), split.classes)


def test_taking_back_every_batch_gives_the_initial_weights(digits: ImageData, engine: Engine, tmp_path: Path) -> None:
    split = Split.of(digits, ["3"])
    recording = Engine(precision="float32", observer=UpdateRecorder(tmp_path, [3]))
    fresh = new_model(digits, "small-cnn", {"width": 4})
    everything = Settings(seed=7, batch_size=len(digits.train))  # one batch an epoch, so that each holds a 3
    trained, _ = train_model(fresh, digits, Retrain(epochs=3, lr=0.1), recording, everything)
    unlearned = Amnesiac(updates=str(tmp_path), repair_epochs=0)(trained, retain(split), engine)
    torch.manual_seed(7)
    initial = reset(fresh)
    for (name, weight), start, learned in zip(
        unlearned.named_parameters(), initial.parameters(), trained.parameters(), strict=True
    ):
        torch.testing.assert_close(weight, start, rtol=0, atol=1e-6, msg=name)
        assert not torch.allclose(learned, start, rtol=0, atol=1e-4), name


def test_only_the_recorded_updates_are_taken_back(
    recorded: tuple[Classifier, Path], split: Split, engine: Engine
) -> None:
    original, folder = recorded
    unlearned = dict(Amnesiac(str(folder), repair_epochs=0)(original, retain(split), engine).named_parameters())
    expected = {name: weight.detach().clone() for name, weight in original.named_parameters()}
    for update in recorded_updates(folder, original, [3]):
        for name, change in update.items():
            expected[name] -= change
    for name, weight in expected.items():
        torch.testing.assert_close(unlearned[name], weight, msg=name)


def test_repair_reads_the_retain_images_as_often_as_told(recorded: tuple[Classifier, Path], split: Split) -> None:
    engine = Engine(precision="float32")
    Amnesiac(str(recorded[1]), repair_epochs=2)(recorded[0], retain(split), engine)
    assert engine.steps == 2 * len(Batches(split.retain, 32))


def test_updates_of_another_model_are_refused(
    recorded: tuple[Classifier, Path], model: Classifier, split: Split, engine: Engine
) -> None:
    with pytest.raises(InputError, match="recorded for another model"):
        Amnesiac(str(recorded[1]))(model, retain(split), engine)


def test_updates_of_another_class_are_refused(
    recorded: tuple[Classifier, Path], digits: ImageData, engine: Engine
) -> None:
    with pytest.raises(InputError, match=r"recorded classes \[3\], not \[5\].*`record_class`"):
        Amnesiac(str(recorded[1]))(recorded[0], retain(Split.of(digits, ["3", "5"])), engine)


@pytest.mark.parametrize("where", ["", "nowhere"])
def test_without_recorded_updates_the_error_names_the_command(
    model: Classifier, split: Split, engine: Engine, tmp_path: Path, where: str
) -> None:
    with pytest.raises(InputError, match="record them while training with `record_updates` DIR"):
        Amnesiac(str(tmp_path / where))(model, retain(split), engine)
