"""The audit of single images, on networks that know them and networks that do not."""

from pathlib import Path

import pytest
import torch
from torch import nn

from marked_images import LISTED, Knows, marked_data
from unclass.audits.result import Audit
from unclass.data import ImageData, Split
from unclass.erasing.listed_images import audit_images, between
from unclass.forgotten import same_shares
from unclass.report.audit_page import render
from unclass.training.engine import Engine


@pytest.fixture(scope="module")
def data() -> ImageData:
    return marked_data()


def audited(data: ImageData, count: int = LISTED, *, unlearned: nn.Module, original: nn.Module | None = None) -> Audit:
    split = Split.of(data, [], rows=torch.arange(count))
    models = {"original": original or Knows(5.0), "unlearned": unlearned}
    return audit_images(models, data, split, Engine(precision="float32"))


def test_images_that_are_as_unseen_ones_pass(data: ImageData) -> None:
    found = audited(data, unlearned=Knows(0.0))
    assert found.verdict.status == "passed without reference", found.verdict
    assert found.verdict.badge == "passed the checks that need no reference" and "--retrained" in found.verdict.next[0]
    assert found.verdict.sentence.startswith("Passed the checks that need no reference: the 60 listed images")
    assert found.check("population-attack").statuses == {"original": "failed", "unlearned": "passed"}


def test_images_that_are_still_told_fail(data: ImageData) -> None:
    found = audited(data, unlearned=Knows(4.0))
    assert found.verdict.status == "failed" and found.verdict.next
    assert found.verdict.sentence == "Failed: the 60 listed images are still told from unseen ones."


def test_images_that_are_told_because_they_are_now_wrong_fail_too(data: ImageData) -> None:
    assert audited(data, unlearned=Knows(-5.0)).verdict.status == "failed"


def test_the_page_asks_about_the_images_and_shows_nothing_empty(data: ImageData) -> None:
    found = audited(data, unlearned=Knows(0.0))
    assert found.subject.listed == LISTED and [one.key for one in found.headline] == [one.key for one in found.checks]
    text = " ".join(render([found]).split())
    assert ">60 listed images</span> gone" in text and "Can the listed images be told from unseen ones" in text
    assert (
        '<th scope="col">unseen of their classes' in text
        and "The other classes" not in text
        and "<td>–</td>" not in text
    )


@pytest.mark.parametrize(
    ("most", "original", "limit"),
    [
        (0.30, 0.04, None),  # the original is not told apart: nothing is judged by this
        (0.30, 0.15, 0.10),  # few images: half-way
        (0.05, 0.40, 0.05),  # many images: as of a class
        (0.05, 0.051, 0.05),
    ],
)
def test_the_limit_lies_between_chance_and_the_original(most: float, original: float, limit: float | None) -> None:
    assert between(most, original).threshold == (None if limit is None else pytest.approx(limit))


def test_a_list_of_which_the_original_is_plainly_surer_is_not_left_open(data: ImageData) -> None:
    """Sixty images: five deviations of chance are 0.2, so that an AUC of 0.65 was once "not even told apart"."""
    found = audited(data, unlearned=Knows(0.4), original=Knows(0.4))
    low, _ = found.check("population-attack").intervals["original"]
    assert 0.05 < low < 0.18 and found.verdict.status == "failed"


def test_harm_to_the_rest_fails(data: ImageData) -> None:
    found = audited(data, unlearned=Knows(0.0, worse=0.3))
    assert found.verdict.status == "failed" and found.check("retain-change").status == "failed"
    assert found.verdict.sentence == "Failed: the model was harmed."


def test_where_the_original_shows_nothing_the_audit_shows_nothing(data: ImageData) -> None:
    found = audited(data, unlearned=Knows(0.0), original=Knows(0.0))
    assert found.verdict.status == "undecided" and "not even in the original are" in found.verdict.sentence


@pytest.mark.parametrize("count", [1, 3])
def test_a_few_images_are_never_said_to_be_gone(data: ImageData, count: int) -> None:
    assert audited(data, count, unlearned=Knows(0.0)).verdict.status == "undecided"


def test_without_unseen_images_nothing_is_compared(data: ImageData) -> None:
    bare = ImageData("marks", data.classes, data.train, data.test.of_classes([]), {})
    split = Split.of(bare, [], rows=torch.arange(4))
    found = audit_images({"original": Knows(5.0), "unlearned": Knows(0.0)}, bare, split, Engine(precision="float32"))
    assert found.verdict.status == "undecided" and "no unseen images" in found.verdict.sentence


def test_accuracies_stand_beside_those_of_unseen_images_and_the_page_opens(data: ImageData, tmp_path: Path) -> None:
    found = audited(data, unlearned=Knows(0.0))
    assert any(line.startswith("accuracy, listed: original ") for line in found.verdict.why)
    assert any(line.startswith("accuracy, unseen of their classes: original ") for line in found.verdict.why)
    found.save(tmp_path / "audit.json")
    assert Audit.read(tmp_path / "audit.json").verdict == found.verdict
    page = found.save(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "attack on the listed images" in page


def test_unseen_images_have_the_shares_of_the_listed_ones() -> None:
    listed, unseen = torch.tensor([0, 0, 0, 1]), torch.tensor([0] * 30 + [1] * 30 + [2] * 30)
    rows = same_shares(listed, unseen, 0)
    assert torch.bincount(unseen[rows], minlength=3).tolist() == [30, 10, 0]
