"""Single images: what a run says of them is what was seen, and images that went before do not come back."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from torch import nn

import unclass
from marked_images import LISTED, Knows, marked_data
from unclass.cli import run
from unclass.data import ImageData, Split, TrainingData
from unclass.data.fingerprints import fingerprints
from unclass.errors import InputError
from unclass.forgotten import ListedImages, Told, left_by, remark_on_images, told_apart, what_is_told
from unclass.methods.finetune import Finetune
from unclass.metrics.delong import auc_interval
from unclass.models import Card, Classifier, Opening, load, save
from unclass.models.memory import memory_of
from unclass.training.engine import Engine

ROWS = list(range(LISTED))


@pytest.fixture(scope="module")
def marks() -> ImageData:
    return marked_data()


@pytest.fixture
def leaving(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let fine-tuning leave a network that is so much surer of marked images."""

    def leave(much: float) -> None:
        def call(self: Finetune, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
            found = deepcopy(model)
            found.get_parameter("network.much").data.fill_(much)
            return found

        monkeypatch.setattr(Finetune, "__call__", call)

    return leave


def knowing(much: float) -> Classifier:
    return Classifier(Knows(much), Card("marks", ("dark", "bright"), (1, 2, 2), mean=(0.0,), std=(1.0,)))


def forgotten(model: Classifier, data: ImageData, rows: list[int]) -> Classifier:
    made = unclass.forget(model, data, method="finetune", forget_list=rows, engine=Engine(precision="float32"))
    assert isinstance(made, Classifier)
    return made


def test_the_auc_is_the_share_of_pairs_in_which_the_listed_image_is_surer(marks: ImageData, engine: Engine) -> None:
    listed, unseen = marks.train.select(torch.arange(20)), marks.test.select(torch.arange(30))
    model = knowing(1.0)

    def sure(images: object) -> torch.Tensor:
        x = images.read(torch.arange(len(images))).float() / 255  # type: ignore[attr-defined, arg-type]
        return model(x).log_softmax(1).gather(1, images.labels[:, None])  # type: ignore[attr-defined]

    difference = sure(listed) - sure(unseen).T
    pairs = (difference > 0).double() + (difference == 0).double() / 2
    found = told_apart(model, listed, unseen, engine)
    assert found.auc == pytest.approx(pairs.mean().item(), abs=1e-6) and found.low < found.auc < found.high


def test_a_few_easy_images_are_no_knowledge(marks: ImageData, engine: Engine) -> None:
    """Ten unseen images of which a network happens to be sure: their own interval is narrow, and chance."""
    model = knowing(0.0)
    pixels = marks.test.read(torch.arange(len(marks.test)))[:, 0, 0, 0].float()
    margins = (pixels - 127.5).abs() * torch.where((pixels > 127.5) == (marks.test.labels == 1), 1, -1)
    rows = margins.argsort(descending=True)[100:110]
    found = told_apart(model, marks.test.select(rows), marks.test.select(torch.arange(100, 400)), engine)
    assert found.auc > 0.7 and auc_interval(margins[rows], margins[100:])[0] > 0.6
    assert found.low == 0.5 and not found.apart


def test_images_that_are_still_told_apart_are_not_called_forgotten(
    marks: ImageData, leaving: Callable[[float], None]
) -> None:
    leaving(4.0)
    made = forgotten(knowing(5.0), marks, ROWS)
    prints = set(fingerprints(marks.train.select(torch.tensor(ROWS))))
    assert made.card.forgotten_images == () and set(made.card.still_known_images) == prints
    record = unclass.record_of(made)
    assert record.listed is not None and record.listed.still_known and record.listed.count == LISTED
    assert any("still told apart, so the card does not call them forgotten" in one for one in record.remarks)
    assert not prints & set(fingerprints(left_by(made, Split.of(marks, [], rows=torch.tensor([99]))).retain))


def test_images_that_are_as_unseen_ones_are(marks: ImageData, leaving: Callable[[float], None]) -> None:
    leaving(0.0)
    made = forgotten(knowing(5.0), marks, ROWS)
    assert len(made.card.forgotten_images) == LISTED and "still_known_images" not in made.card.as_dict()
    record = unclass.record_of(made)
    assert record.listed is not None and record.listed.are_gone and record.remarks[0].endswith("no longer told apart")


def test_they_can_be_forgotten_once_more(marks: ImageData, leaving: Callable[[float], None]) -> None:
    leaving(4.0)
    known = forgotten(knowing(5.0), marks, ROWS)
    leaving(0.0)
    made = forgotten(known, marks, ROWS)
    assert len(made.card.forgotten_images) == LISTED and made.card.still_known_images == ()


def test_images_that_went_before_may_not_come_back(marks: ImageData, leaving: Callable[[float], None]) -> None:
    leaving(0.0)
    first = forgotten(knowing(5.0), marks, ROWS)
    leaving(5.0)
    with pytest.raises(InputError, match="finetune brings back 60 images that were forgotten before"):
        forgotten(first, marks, [200, 201, 202])
    leaving(0.1)
    assert len(forgotten(first, marks, [200, 201, 202]).card.asked_images) == LISTED + 3


def test_being_less_sure_of_them_than_of_unseen_ones_is_no_knowledge(marks: ImageData, engine: Engine) -> None:
    split = Split.of(marks, [], rows=torch.tensor(ROWS))
    found = what_is_told(knowing(5.0), knowing(-5.0), split, engine, "finetune")
    assert found is not None and found.after.auc < 0.4 and not found.still_known


@pytest.mark.parametrize(
    ("before", "after", "ends"),
    [
        (Told(0.9, 0.8, 0.95), Told(0.8, 0.7, 0.9), "still told apart, so the card does not call them forgotten; "),
        (Told(0.9, 0.8, 0.95), Told(0.5, 0.4, 0.6), "no longer told apart"),
        (Told(0.9, 0.6, 0.97), Told(0.6, 0.4, 0.8), "cannot be said, since the images are too few"),
        (Told(0.5, 0.4, 0.6), Told(0.5, 0.4, 0.6), "cannot be said, since not even the original tells them apart"),
    ],
)
def test_no_more_is_said_than_was_seen(before: Told, after: Told, ends: str) -> None:
    assert ends in remark_on_images(ListedImages(20, 40, before, after))


def test_without_unseen_images_it_says_that_nothing_was_measured(marks: ImageData, engine: Engine) -> None:
    bare = ImageData("marks", marks.classes, marks.train, marks.test.of_classes([]), {})
    split = Split.of(bare, [], rows=torch.tensor(ROWS))
    assert what_is_told(knowing(5.0), knowing(5.0), split, engine, "finetune") is None
    assert "was not measured" in remark_on_images(None)


def test_files_and_openings_remember_them(trained: Classifier, digits: ImageData, tmp_path: Path) -> None:
    model = deepcopy(trained)
    prints = fingerprints(digits.train.select(torch.tensor([1, 2])))
    opening = Opening(still_known_images=tuple(prints), forgotten_images=(prints[0],))
    opened = opening.open(save(model, tmp_path / "model.safetensors"), digits.classes, digits.train.shape)
    assert set(opened.card.still_known_images) == set(prints) and opened.card.forgotten_images == ()
    again = load(save(opened, tmp_path / "again.safetensors"))
    assert again.card.asked_images == tuple(sorted(prints)) == tuple(memory_of(again.card)["still_known_images"])


def test_the_command_does_not_say_forgot_where_nobody_can_tell(
    trained: Classifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = save(trained, tmp_path / "model.safetensors")
    (tmp_path / "list.txt").write_text("3\n7\n")
    given = ["--data", "digits", "--per-class", "20", "--forget-list", str(tmp_path / "list.txt")]
    given += ["--method", "finetune", "--set", "epochs=1", "--out", str(tmp_path / "out.safetensors")]
    assert run(["forget", str(file), *given]) == 0
    told = capsys.readouterr()
    assert "was to forget 2 images (whether it has is open)" in told.out
    assert "remark: the 2 listed images against" in told.err
