"""Erased images are named before anybody trains on them, whatever file or order they come in."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from unclass.cli import run
from unclass.data import ImageData
from unclass.data.fingerprints import fingerprints
from unclass.ledger.erased import erased_in, warnings
from unclass.ledger.requests import Request
from unclass.ledger.store import Ledger


@pytest.fixture
def erased(ledger: Ledger, asked: Request, digits: ImageData) -> Ledger:
    """A ledger in which the first seventeen images were erased."""
    prints = fingerprints(digits.train.select(torch.arange(17)))
    with ledger.writing() as database:
        database.executemany("INSERT INTO erased_images VALUES (?, ?)", [(one, asked.id) for one in prints])
    return ledger


def test_they_are_known_again_in_any_order(erased: Ledger, digits: ImageData) -> None:
    turned = replace(digits, train=digits.train.select(torch.arange(len(digits.train)).flip(0)))
    assert erased_in(erased, turned) == {"R-1": 17}
    assert warnings({"R-1": 17}) == ["17 images were erased on request R-1"]
    assert erased_in(erased, replace(digits, train=digits.train.select(torch.arange(17, 100)))) == {}


def test_images_that_differ_in_a_pixel_are_others(digits: ImageData) -> None:
    prints = fingerprints(digits.train)
    assert len(set(prints)) == len(
        {one.numpy().tobytes() for one in digits.train.read(torch.arange(len(digits.train)))}
    )
    assert fingerprints(digits.train.select(torch.tensor([5]))) == [prints[5]]


@pytest.mark.parametrize("words", [["train", "digits", "--set", "epochs=1", "--model-set", "width=4"]])
def test_commands_name_them_before_they_start(
    erased: Ledger, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--per-class", "40", "--out", str(tmp_path / "m.safetensors"), "--ledger", str(erased.path)]
    assert run([*words, *given]) == 0
    assert "17 images were erased on request R-1" in capsys.readouterr().err
