"""As many shadow models as the time allows: said before, trained then."""

from pathlib import Path
from typing import Any

import pytest
import torch

import unclass
from unclass.audits import shadow_count, subjects
from unclass.audits.shadow import Shadows
from unclass.audits.shadow_count import affordable, pair_seconds
from unclass.data import ImageData, Split
from unclass.errors import InputError
from unclass.models import Classifier, weights_digest
from unclass.running import Settings
from unclass.training.engine import Engine


def test_a_pair_is_two_trainings_and_the_unlearning(
    model: Classifier, digits: ImageData, split: Split, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow_count, "_seconds_of_a_step", lambda *_: 0.5 * 32)  # half a second for each image
    found = pair_seconds(model, digits, split, 7.0, engine, Settings(batch_size=32))
    epochs = model.card.recipe["epochs"]
    assert found == pytest.approx(0.5 * epochs * (len(digits.train) + len(split.retain)) + 7.0)


def test_the_first_steps_are_not_timed(
    model: Classifier, digits: ImageData, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # whatever is done once takes long
    ends = iter([100.0, 120.0, 130.0, *(130.0 + 0.25 * step for step in range(1, 100))])
    monkeypatch.setattr(shadow_count, "perf_counter", lambda: next(ends))
    assert shadow_count._seconds_of_a_step(model, digits, engine, Settings(batch_size=32)) == pytest.approx(0.25)


def test_timing_changes_no_model_and_draws_nothing(
    model: Classifier, digits: ImageData, split: Split, engine: Engine
) -> None:
    digest, state = weights_digest(model), torch.get_rng_state()
    assert pair_seconds(model, digits, split, 0.0, engine, Settings(batch_size=32)) > 0
    assert weights_digest(model) == digest and torch.equal(torch.get_rng_state(), state)


def test_less_time_than_two_pairs_take_is_an_error_that_says_how_much_is_needed() -> None:
    assert affordable(1, 30.0) == 2
    with pytest.raises(InputError, match="about 4 minutes; raise `shadow_minutes`"):
        affordable(1, 120.0)


def test_the_audit_says_how_many_and_trains_that_many(
    model: Classifier, digits: ImageData, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "forgotten.safetensors"
    unclass.forget(model, digits, "3", method="logit-mask", engine=engine, out=path)
    asked: list[int] = []

    def train(original: Any, data: Any, split: Any, method: Any, count: int, *_: Any) -> Shadows:
        asked.append(count)
        return Shadows([original, original], [original, original])

    monkeypatch.setattr(subjects, "train_shadows", train)
    monkeypatch.setattr(subjects, "pair_seconds", lambda *_: 90.0)
    said: list[str] = []
    found = unclass.audit(path, model, digits, "3", engine=engine, shadow_minutes=5, tell=said.append)
    assert asked == [3] and said[0] == "U-LiRA: 3 pairs of shadow models, about 90 seconds each"
    assert found.check("u-lira").values["unlearned"] is not None


@pytest.mark.parametrize(
    "given",
    [{"shadow": -1}, {"shadow": 10**30}, *({"shadow_minutes": one} for one in (-1, float("inf"), float("nan")))],
)
def test_numbers_without_sense_are_an_error_before_any_work(
    given: dict[str, Any], model: Classifier, digits: ImageData, engine: Engine
) -> None:
    with pytest.raises(InputError, match=f"`{next(iter(given))}` .* is out of range; give at most 1024 shadow models"):
        unclass.audit(model, model, digits, "3", engine=engine, **given)
