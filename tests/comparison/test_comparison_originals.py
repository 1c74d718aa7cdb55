"""An original is trained once, kept, and never taken for another."""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from unclass.comparison.claim import OtherSettings
from unclass.comparison.layout import original_path
from unclass.comparison.originals import original_of
from unclass.comparison.plan import Plan
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.methods.retrain import Retrain
from unclass.models import Classifier, load, save, weights_digest
from unclass.records import read_record
from unclass.running import Outcome, trained_card
from unclass.training.engine import Engine

module = import_module("unclass.comparison.originals")


@pytest.fixture
def plan(digits: ImageData, tmp_path: Path) -> Plan:
    return Plan(digits, tmp_path, ["finetune"], [["3"]], model_options={"width": 2}, recipe=Retrain(epochs=1))


@pytest.fixture(autouse=True)
def trained_seeds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Training draws weights by the seed and does nothing else; the seeds of all that was trained."""
    seeds: list[int] = []

    def train(model: Classifier, data: ImageData, recipe: Retrain, engine: Engine, settings: Any) -> Any:
        seeds.append(settings.seed)
        generator = torch.Generator().manual_seed(settings.seed)
        for weight in model.parameters():
            weight.data = torch.randn(weight.shape, generator=generator)
        model.card = trained_card(model, data, recipe, settings)
        return model, Outcome(model, 2.0, 5, 0)

    monkeypatch.setattr(module, "train_model", train)
    yield seeds


def test_one_is_trained_with_its_seed_and_then_kept(plan: Plan, engine: Engine, trained_seeds: list[int]) -> None:
    made = original_of(plan, 7, engine)
    assert weights_digest(original_of(plan, 7, engine)) == weights_digest(made)
    assert trained_seeds == [7]
    record = read_record(original_path(plan, 7).with_suffix(".json"))
    assert (record.seed, record.weights) == (7, weights_digest(made)) and record.cost is not None
    original_of(plan, 8, engine)
    assert trained_seeds == [7, 8]


def test_other_settings_are_refused_and_nothing_is_written_over(plan: Plan, engine: Engine) -> None:
    made = weights_digest(original_of(plan, 0, engine))
    with pytest.raises(OtherSettings, match="was trained with other settings; choose another `out` or delete it"):
        original_of(replace(plan, recipe=Retrain(epochs=2)), 0, engine)
    assert weights_digest(load(original_path(plan, 0))) == made


@pytest.mark.parametrize("harm", ["weights", "record", "no record"])
def test_one_that_its_record_does_not_speak_of_is_trained_again(
    plan: Plan, engine: Engine, trained_seeds: list[int], harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    made = original_of(plan, 0, engine)
    path, digest = original_path(plan, 0), weights_digest(made)
    record = path.with_suffix(".json")
    if harm == "weights":
        next(iter(made.parameters())).data += 1
        save(made, path)
    elif harm == "record":
        record.write_text(record.read_text(encoding="utf-8").replace('"seed": 0', '"seed": 1'), encoding="utf-8")
    else:
        record.unlink()
    assert weights_digest(original_of(plan, 0, engine)) == digest
    assert trained_seeds == [0, 0] and len(caplog.messages) == 1


def test_one_that_is_given_is_opened_and_must_fit_the_data(
    plan: Plan, engine: Engine, trained_seeds: list[int], tmp_path: Path
) -> None:
    given = original_of(plan, 0, engine)
    own = replace(plan, originals=[save(given, tmp_path / "mine.safetensors")])
    assert weights_digest(original_of(own, 0, engine)) == weights_digest(given) and trained_seeds == [0]
    given.card = replace(given.card, classes=tuple("abcdefghij"))
    save(given, tmp_path / "mine.safetensors")
    with pytest.raises(InputError, match=r"mine\.safetensors"):
        original_of(own, 0, engine)
