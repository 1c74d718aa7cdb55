"""Nothing comes back: what a model has forgotten is read by no later run, counted nowhere, and looked at again."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import unclass
from unclass.cli import run
from unclass.data import Batches, DataOptions, ImageData, Split, TrainingData
from unclass.data.fingerprints import fingerprints
from unclass.errors import InputError
from unclass.forgotten import KNOWN, check_stays_gone, left_by, mark_forgotten
from unclass.methods import METHODS, Needs
from unclass.methods.amnesiac.recorder import UpdateRecorder
from unclass.methods.finetune import Finetune
from unclass.methods.method import cross_entropy
from unclass.models import Classifier, load, save
from unclass.predictions import predict
from unclass.running import Settings, unlearn
from unclass.training.engine import Engine

OPTIONS: dict[str, dict[str, Any]] = {
    "retrain": {"epochs": 8, "lr": 0.1},
    "finetune": {"epochs": 4, "lr": 0.2},
    "random-labels": {"epochs": 6, "lr": 0.01},
    "negative-gradient": {"epochs": 4, "lr": 0.003},
    "boundary-shrink": {"epochs": 6, "lr": 0.007},
    "boundary-expanding": {"epochs": 6, "lr": 0.05},
    "bad-teacher": {"epochs": 4, "lr": 0.03},
}  # strong enough to do something on forty tiny digits of each class


@pytest.fixture(scope="module")
def without_3(trained: Classifier, digits: ImageData) -> Classifier:
    """The tiny network once it has forgotten 3."""
    return unclass.forget(trained, digits, "3", engine=Engine(precision="float32"))


def share_recognised(model: nn.Module, data: ImageData, label: str) -> float:
    images = data.train.of_classes([data.index(label)])
    return predict(model, Batches(images), Engine(precision="float32")).correct.float().mean().item()


@pytest.fixture(scope="module")
def without_3_recorded(
    without_3: Classifier, digits: ImageData, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Classifier, Path]:
    """The same network after a little more training without 3, and its updates by batches with an 8."""
    recorder = UpdateRecorder(tmp_path_factory.mktemp("later") / "updates", [8])
    stays = Batches(digits.train.of_classes([3], inverse=True), 16, shuffle=True)
    recording = Engine(precision="float32", observer=recorder)
    trained = recording.fit(deepcopy(without_3), stays, cross_entropy, epochs=1, lr=0.01)
    recorder.finish(trained)
    return trained, recorder.folder


@pytest.mark.parametrize("name", METHODS)
def test_no_method_brings_back_what_was_forgotten_before(
    name: str,
    without_3: Classifier,
    without_3_recorded: tuple[Classifier, Path],
    digits: ImageData,
    engine: Engine,
) -> None:
    model, options = without_3, {**OPTIONS.get(name, {})}
    if Needs.UPDATES in METHODS[name]().needs:
        model, options["updates"] = without_3_recorded[0], str(without_3_recorded[1])
    again = unclass.forget(model, digits, "8", name, engine=engine, batch_size=32, **options)
    assert share_recognised(again, digits, "3") <= 0.1
    assert again.card.asked == ("3", "8")
    known = [name for name in ("3", "8") if share_recognised(again, digits, name) > KNOWN]
    assert list(again.card.still_known) == known and set(again.card.forgotten) == {"3", "8"} - set(known)


def test_what_went_by_taking_back_its_updates_stays_gone(
    recorded: tuple[Classifier, Path], digits: ImageData, engine: Engine
) -> None:
    model, folder = recorded
    first = unclass.forget(model, digits, "3", "amnesiac", engine=engine, batch_size=32, updates=str(folder))
    again = unclass.forget(first, digits, "8", "finetune", engine=engine, batch_size=32, epochs=4, lr=0.2)
    assert again.card.asked == ("3", "8")
    assert share_recognised(again, digits, "3") <= max(0.1, first.card.still_known.get("3", 0.0) + KNOWN)


def test_fine_tuning_on_a_model_that_has_forgotten_reads_none_of_it(
    without_3: Classifier, digits: ImageData, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: set[int] = set()
    walk = Batches.__iter__

    def watched(self: Batches) -> Iterator[tuple[Tensor, Tensor]]:
        for x, y in walk(self):
            read.update(y.tolist())
            yield x, y

    split = left_by(without_3, Split.of(digits, ["8"]))
    monkeypatch.setattr(Batches, "__iter__", watched)
    method = Finetune(epochs=1)
    data = TrainingData(Batches(split.forget), Batches(split.retain), split.gone)
    method(without_3, data, engine)
    assert read == {0, 1, 2, 4, 5, 6, 7, 9}


def test_the_revival_that_was_seen_is_an_error_and_nothing_is_written(
    without_3: Classifier, digits: ImageData, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method that brings its own images of 3 along: the data it is given cannot prevent that."""
    threes = digits.train.of_classes([3])
    plain = Finetune.__call__

    def smuggling(self: Finetune, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        return plain(self, model, replace(data, retain=Batches(threes, 32)), engine)

    monkeypatch.setattr(Finetune, "__call__", smuggling)
    file = save(without_3, tmp_path / "without-3.safetensors")
    with pytest.raises(InputError, match="brings back 3, which was forgotten before"):
        unclass.forget(
            file,
            digits,
            "8",
            "finetune",
            epochs=4,
            lr=0.2,
            batch_size=32,
            engine=engine,
            out=tmp_path / "out.safetensors",
        )
    assert not list(tmp_path.glob("out*"))


def test_accuracies_on_what_stays_leave_it_out(without_3: Classifier, digits: ImageData, engine: Engine) -> None:
    scores = unclass.evaluate(without_3, digits, "8", engine=engine)
    stays = [index for index in range(10) if index not in (3, 8)]
    images = digits.test.of_classes(stays)
    expected = predict(without_3, Batches(images), engine).correct.float().mean().item()
    assert scores.accuracy_retain_test == pytest.approx(expected)


def test_single_images_stay_out_by_their_pixels(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    rows = [5, 17, 33]
    forgot = unclass.forget(trained, digits, method="finetune", forget_list=rows, epochs=1, engine=engine)
    prints = fingerprints(digits.train.select(torch.tensor(rows)))
    assert set(forgot.card.forgotten_images) == set(prints) and forgot.card.forgotten == ()
    shuffled = replace(digits, train=digits.train.select(torch.arange(len(digits.train)).flip(0)))
    split = left_by(forgot, Split.of(shuffled, ["8"]))
    assert not set(prints) & set(fingerprints(split.retain))
    assert len(split.retain) == len(Split.of(shuffled, ["8"]).retain) - 3


def test_a_checkpoint_remembers_both(trained: Classifier, digits: ImageData, tmp_path: Path) -> None:
    model = deepcopy(trained)
    mark_forgotten(model, Split.of(digits, ["3"]), {3: 0.02})
    mark_forgotten(model, Split.of(digits, ["5"]), {5: 0.6})
    mark_forgotten(model, Split.of(digits, [], rows=torch.tensor([1, 2])), {})
    card = load(save(model, tmp_path / "model.safetensors")).card
    assert card.forgotten == ("3",) and card.still_known == {"5": 0.6} and len(card.forgotten_images) == 2


def test_images_of_what_was_forgotten_need_not_be_there_any_more(
    trained: Classifier, digits: ImageData, tmp_path: Path
) -> None:
    from PIL import Image

    from unclass.arguments import model_and_data

    model = deepcopy(trained)
    model.card = replace(model.card, classes=tuple(f"digit {n}" for n in range(10)), forgotten=("digit 3",))
    for place, (pixels, label) in enumerate(
        zip(digits.train.read(torch.arange(400)), digits.train.labels, strict=False)
    ):
        if label != 3:
            folder = tmp_path / "photos" / f"digit {int(label)}"
            folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels[0].numpy()).save(folder / f"{place}.png")
    _, images = model_and_data(model, f"folder:{tmp_path / 'photos'}", data_options=DataOptions(size=8))
    assert images.classes == model.card.classes and not (images.train.labels == 3).any()
    model.card = replace(model.card, forgotten=())
    with pytest.raises(InputError, match="has no images of digit 3"):
        model_and_data(model, f"folder:{tmp_path / 'photos'}", data_options=DataOptions(size=8))


def test_forgetting_one_after_the_other_leaves_two_classes(trained: Classifier, digits: ImageData) -> None:
    model = deepcopy(trained)
    model.card = replace(model.card, forgotten=tuple(digits.classes[:8]))
    with pytest.raises(InputError, match="leave fewer than two classes"):
        left_by(model, Split.of(digits, ["8"]))


def test_what_was_forgotten_before_is_left_out_once_whoever_asks(without_3: Classifier, digits: ImageData) -> None:
    split = left_by(without_3, Split.of(digits, ["8"]))
    assert left_by(without_3, split) is split
    assert split.gone == (8, 3) and split.earlier is not None and (split.earlier.images.labels == 3).all()


def test_a_model_that_forgot_nothing_is_split_as_ever(trained: Classifier, digits: ImageData) -> None:
    split = Split.of(digits, ["8"])
    assert left_by(trained, split) is split and left_by(nn.Linear(2, 2), split) is split


def test_running_a_method_by_hand_is_no_way_around(without_3: Classifier, digits: ImageData, engine: Engine) -> None:
    outcome = unlearn(without_3, Split.of(digits, ["8"]), Finetune(epochs=1), engine, Settings(batch_size=32))
    assert outcome.retain_images_read == 8 * 40
    assert share_recognised(outcome.model, digits, "3") <= 0.1


@pytest.fixture(scope="module")
def knowing_3(trained: Classifier, digits: ImageData) -> Classifier:
    """The tiny network after a method that was to forget 3 and did next to nothing."""
    return unclass.forget(trained, digits, "3", "finetune", epochs=1, lr=1e-9, engine=Engine(precision="float32"))


def test_a_class_that_is_still_known_is_not_called_forgotten(knowing_3: Classifier, digits: ImageData) -> None:
    left = share_recognised(knowing_3, digits, "3")
    assert left > KNOWN
    assert knowing_3.card.forgotten == () and knowing_3.card.still_known == {"3": pytest.approx(left)}
    record = unclass.record_of(knowing_3)
    assert record.left == {"3": pytest.approx(left)}
    assert record.remarks[0].startswith(f"{100 * left:.0f} % of the training images of 3 are still recognised")


def test_its_images_stay_out_of_every_later_run_and_what_was_left_is_no_return(
    knowing_3: Classifier, digits: ImageData, engine: Engine
) -> None:
    split = left_by(knowing_3, Split.of(digits, ["8"]))
    assert not (split.retain.labels == 3).any() and not (split.retain_test.labels == 3).any()
    again = unclass.forget(knowing_3, digits, "8", "random-labels", epochs=6, lr=0.01, batch_size=32, engine=engine)
    assert again.card.asked == ("3", "8")


def test_it_can_be_forgotten_once_more(knowing_3: Classifier, digits: ImageData, engine: Engine) -> None:
    again = unclass.forget(knowing_3, digits, "3", engine=engine)
    assert again.card.forgotten == ("3",) and again.card.still_known == {} and "still_known" not in again.card.as_dict()


@pytest.mark.parametrize(
    ("left", "was", "now", "returns"),
    [
        (0.0, 0.0, 0.09, False),
        (0.0, 0.09, 0.12, True),  # a little more each time comes to the same
        (0.6, 0.6, 0.65, False),
        (0.6, 0.6, 0.75, True),
        (0.6, 0.2, 0.75, True),
        (0.0, 0.8, 0.85, False),  # a card that an earlier version wrote
        (0.0, 0.8, 0.95, True),
    ],
)
def test_a_return_is_more_than_was_left(
    trained: Classifier, engine: Engine, left: float, was: float, now: float, returns: bool
) -> None:
    gone = {"still_known": {"3": left}} if left else {"forgotten": ("3",)}
    card = replace(trained.card, **gone)  # type: ignore[arg-type]
    if not returns:
        check_stays_gone(card, {3: was}, {3: now}, engine, "finetune")
        return
    with pytest.raises(InputError, match="brings back 3"):
        check_stays_gone(card, {3: was}, {3: now}, engine, "finetune")


def test_weights_without_a_card_do_not_forget_that_they_still_know(
    knowing_3: Classifier, digits: ImageData, engine: Engine, tmp_path: Path
) -> None:
    torch.save(knowing_3.network.state_dict(), tmp_path / "plain.pt")
    opening = unclass.Opening("small-cnn", {"width": 8}, still_known={"3": 0.9})
    out = tmp_path / "again.pt"
    weak = {"epochs": 1, "lr": 1e-9}
    unclass.forget(tmp_path / "plain.pt", digits, "8", "finetune", opening=opening, out=out, engine=engine, **weak)
    opened = unclass.Opening("small-cnn", {"width": 8}).open(out, digits.classes, digits.train.shape)
    assert opened.card.forgotten == () and set(opened.card.still_known) == {"3", "8"}


def test_the_command_says_plainly_that_a_class_is_still_known(
    trained: Classifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = save(trained, tmp_path / "model.safetensors")
    given = ["--data", "digits", "--per-class", "20", "--class", "3", "--method", "finetune"]
    given += ["--set", "epochs=1", "--set", "lr=1e-9", "--out", str(tmp_path / "out.safetensors")]
    assert run(["forget", str(file), *given]) == 0
    told = capsys.readouterr()
    assert "out.safetensors: was to forget 3 and still knows 3 with finetune" in told.out
    assert "% of the training images of 3 are still recognised" in told.err
