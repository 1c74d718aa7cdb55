"""What every method of the table promises, whatever it does inside: the contract that `unclass.testing` publishes."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from unclass.cli import run as run_command
from unclass.methods import METHODS, REFERENCE
from unclass.methods.configure import configure, explanations
from unclass.testing import PROMISES, Trial

# Strong enough to forget on forty tiny digits of each class, where the preset `digits` is not.
OPTIONS: dict[str, dict[str, Any]] = {
    "retrain": {"epochs": 2, "lr": 0.1},
    "finetune": {"epochs": 4, "lr": 0.2},
    "random-labels": {"epochs": 6, "lr": 0.02},
    "negative-gradient": {"epochs": 4, "lr": 0.01, "batch_norm": "train"},
    "fisher": {"images": 100},
    "amnesiac": {"repair_epochs": 1},
    "boundary-shrink": {"epochs": 6, "lr": 0.02},
    "boundary-expanding": {"epochs": 6, "lr": 0.05},
    "delete": {"lr": 1e-3},
    "spotter": {"lr": 1e-3},
    "pour": {"lr": 1e-3},
    "jit": {"lr": 1.0, "samples": 8, "batch_norm": "frozen"},
    "mu-mis": {"epochs": 10, "lr": 1e-4, "batch_norm": "frozen"},
    "scrub": {"lr": 0.01, "epochs": 4, "ascent_epochs": 3},
    "l1-sparse": {"gamma": 0.002, "lr": 0.2, "epochs": 5},
    "masked-small-gradients": {"share": 0.5, "epochs": 5, "lr": 0.1},
    "ssd": {"alpha": 1.2, "dampening": 0.5},
    "subspace-projection": {"alpha_retain": 30.0, "alpha_forget": 10.0},
    "bad-teacher": {"epochs": 4, "lr": 0.03},
}


@pytest.fixture(scope="module", params=METHODS)
def trial(request: pytest.FixtureRequest) -> Trial:
    """Each method, run once for all promises."""
    return Trial(METHODS[request.param], OPTIONS.get(request.param, {}))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_method_keeps_its_promise(trial: Trial, promise: Callable[[Trial], None]) -> None:
    promise(trial)


@pytest.mark.parametrize("name, preset", [(name, preset) for name in METHODS for preset in METHODS[name].presets])
def test_every_preset_is_found_by_its_name_and_by_the_data(name: str, preset: str) -> None:
    method: Any = configure(name, preset=preset)
    assert {key: getattr(method, key) for key in METHODS[name].presets[preset]} == METHODS[name].presets[preset]
    assert configure(name, data=preset) == method


def test_the_papers_methods_have_their_presets() -> None:
    for name in ("boundary-shrink", "boundary-expanding"):
        assert {"paper", "authors"} <= set(METHODS[name].presets)


def test_one_method_is_the_reference() -> None:
    assert [name for name, kind in METHODS.items() if kind.role == "reference"] == [REFERENCE]


def test_list_shows_every_method_with_its_options_and_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["methods"]
    assert list(listed) == list(METHODS)
    for name, about in listed.items():
        assert about["options"] == asdict(METHODS[name]())  # type: ignore[call-overload]
        assert about["help"] == explanations(METHODS[name]) and all(about["help"].values())
        assert about["needs"] and about["summary"]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_explained_with_a_line_for_each_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["methods", name]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for option in explanations(METHODS[name]):
        assert option in shown
    assert METHODS[name]().needs.words() in shown
