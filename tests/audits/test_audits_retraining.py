"""The next step after an audit without a reference: a command that works, and about how long it takes."""

import shlex
from pathlib import Path

import pytest
from torch import nn

from unclass.audits.retraining import retrain_command, retraining_seconds
from unclass.cli import run
from unclass.data import DataOptions, ImageData
from unclass.models import Classifier, Opening, load, save


def test_the_command_names_what_was_given_and_what_is_not_as_usual() -> None:
    options = DataOptions(Path("my data"), size=16, skip_bad=True, workers=0)
    found = retrain_command("a model.pt", "folder:x", ["one, two", "3"], options, None)
    assert found == (
        "unclass forget 'a model.pt' --data folder:x --root 'my data' --size 16 --skip-bad "
        "--class 'one, two' --class 3 --method retrain --seed 1 --out 'a model-retrained.pt'"
    )


@pytest.mark.parametrize("opening", [None, Opening("timm:resnet18")])
def test_objects_and_networks_from_elsewhere_are_retrained_in_python(opening: Opening | None) -> None:
    given = "weights.pt" if opening else nn.Linear(1, 1)
    assert retrain_command(given, "digits", ["3"], None, opening) == (
        "unclass.forget(original, data, '3', method=\"retrain\")"
    )


def test_the_command_runs_as_printed(model: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(model, "o.safetensors")
    words = shlex.split(retrain_command("o.safetensors", "digits", ["3"], DataOptions(per_class=40), None))
    assert run(words[1:]) == 0
    assert load(tmp_path / "o-retrained.safetensors").card.forgotten == ("3",)


def test_seconds_are_those_of_training_or_three_passes_over_what_stays_in_each_epoch(
    model: Classifier, digits: ImageData
) -> None:
    epochs, images = model.card.recipe["epochs"], len(digits.train)
    assert retraining_seconds(model, digits, 40, 2.0, 100, {}) == pytest.approx(3 * epochs * (images - 40) * 0.02)
    assert retraining_seconds(model, digits, 40, 2.0, 100, {"seconds": 7}) == 7.0
    assert retraining_seconds(nn.Linear(1, 1), digits, 40, 2.0, 100, {}) is None
