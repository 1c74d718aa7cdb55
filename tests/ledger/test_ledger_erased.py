"""Erased images are named before anybody trains on them, whatever file or order they come in."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import unclass
from unclass.cli import run
from unclass.data import ImageData
from unclass.data.fingerprints import fingerprints
from unclass.errors import InputError
from unclass.ledger.erased import erased_in, ledger_to_ask
from unclass.ledger.models import register
from unclass.ledger.requests import Request
from unclass.ledger.store import VARIABLE, Ledger
from unclass.models import Classifier, save


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
    assert erased_in(erased, replace(digits, train=digits.train.select(torch.arange(17, 100)))) == {}


def test_images_that_differ_in_a_pixel_are_others(digits: ImageData) -> None:
    prints = fingerprints(digits.train)
    assert len(set(prints)) == len(
        {one.numpy().tobytes() for one in digits.train.read(torch.arange(len(digits.train)))}
    )
    assert fingerprints(digits.train.select(torch.tensor([5]))) == [prints[5]]


@pytest.mark.parametrize("loudness", [[], ["--quiet"]])
@pytest.mark.parametrize("verb", ["train", "forget"])
def test_commands_name_them_before_they_start(
    erased: Ledger,
    trained: Classifier,
    verb: str,
    loudness: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = save(trained, tmp_path / "model.safetensors")
    words = ["train", "digits", "--model-set", "width=4", "--set", "epochs=1"]
    if verb == "forget":
        words = ["forget", str(file), "--data", "digits", "--class", "3"]
    given = ["--per-class", "40", "--out", str(tmp_path / "m.safetensors"), "--ledger", str(erased.path)]
    assert run([*words, *given, *loudness]) == 0
    assert "17 images were erased on request R-1; leave them out of the data" in capsys.readouterr().err


def test_python_names_them_too_by_argument_or_variable(
    erased: Ledger, trained: Classifier, digits: ImageData, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = {"epochs": 1, "model_options": {"width": 4}}
    with pytest.warns(UserWarning, match="17 images were erased on request R-1"):
        unclass.train(digits, "small-cnn", ledger=erased.path, **quick)
    monkeypatch.setenv(VARIABLE, str(erased.path))
    with pytest.warns(UserWarning, match="17 images were erased on request R-1"):
        unclass.forget(trained, digits, "3")
    told: list[str] = []
    unclass.forget(trained, digits, "3", tell=told.append)
    assert told == ["warning: 17 images were erased on request R-1; leave them out of the data"]
    unclass.forget(trained, digits, "3", ledger=False, tell=told.append)
    assert len(told) == 1


def test_python_asks_the_ledger_what_weights_without_a_card_have_forgotten(
    ledger: Ledger, trained: Classifier, digits: ImageData, tmp_path: Path
) -> None:
    file = tmp_path / "weights.pt"
    torch.save(trained.network.state_dict(), file)
    card = {**trained.card.as_dict(), "forgotten": ["5"], "still_known": {"3": 0.7}}
    register(ledger, file, card, {"data": "digits"}, name="plain", operator="ann")
    found = unclass.forget(file, digits, "8", opening=unclass.Opening("small-cnn", {"width": 8}), ledger=ledger.path)
    assert isinstance(found, Classifier) and set(found.card.asked) == {"3", "5", "8"}


def test_a_ledger_that_was_named_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert ledger_to_ask(None) is None
    monkeypatch.setenv(VARIABLE, str(tmp_path / "not-begun.ledger"))
    assert ledger_to_ask(None) is None and ledger_to_ask(False) is None
    with pytest.raises(InputError, match="there is no ledger"):
        unclass.train("digits", epochs=1, ledger=tmp_path / "mistyped.ledger")


@pytest.mark.parametrize("wrong", [True, 3, [], b"ledger", np.zeros(2), "x" * 5000])
def test_what_is_no_ledger_is_refused_in_python(wrong: Any) -> None:
    with pytest.raises(InputError, match="`ledger`"):
        ledger_to_ask(wrong)
