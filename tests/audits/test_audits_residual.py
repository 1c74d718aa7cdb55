"""What is left inside, beside the slow way to find it."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from unclass.audits.examine import Examination
from unclass.audits.observe import Observation
from unclass.audits.residual import _own_logit, _recalibration, information_left, steps_to_half
from unclass.data import ImageSet, Split
from unclass.metrics import information_difference, label_information
from unclass.predictions import Predictions

CLASSES = 4


def images(labels: list[int]) -> ImageSet:
    return ImageSet.of(torch.zeros(len(labels), 1, 2, 2, dtype=torch.uint8), torch.tensor(labels))


SPLIT = Split((0,), images([1, 2, 3] * 4), images([0] * 6), images([1, 2, 3] * 3), images([0] * 5))


def seen(seed: int, shift: float = 0.0) -> Observation:
    """Random outputs for the four sets; the forgotten class's own output is moved by a constant."""
    generator = torch.Generator().manual_seed(seed)

    def of(part: ImageSet) -> Predictions:
        logits = torch.randn(len(part), CLASSES, generator=generator)
        logits[:, 0] += 2.0 * (part.labels == 0) + shift
        return Predictions(logits, part.labels)

    return Observation({name: of(part) for name, part in SPLIT.sets().items()}, {}, torch.ones(CLASSES, 1), None)


def examination(**more: Any) -> Examination:
    return Examination(SPLIT, {"original": seen(0), "unlearned": seen(1)}, **more)


def test_own_logit_is_the_share_of_pairs_in_the_right_order() -> None:
    measure = _own_logit(examination())
    for role, seed in (("original", 0), ("unlearned", 1)):
        sets = seen(seed).predictions
        own, others = (
            [row[0] - sum(row[1:]) / 3 for row in sets[name].logits.tolist()] for name in ("forget_test", "retain_test")
        )
        pairs = [(one > other) + 0.5 * (one == other) for one in own for other in others]
        assert measure.values[role] == pytest.approx(sum(pairs) / len(pairs))


def test_a_mask_that_moves_the_output_by_a_constant_changes_nothing() -> None:
    masked = replace(examination(), observations={"original": seen(0), "unlearned": seen(0, shift=-50.0)})
    values = _own_logit(masked).values
    assert values["unlearned"] == pytest.approx(values["original"])


def test_recalibration_takes_the_larger_accuracy_and_says_who_has_no_batch_norm() -> None:
    before = {role: float((one.predictions["forget"].logits.argmax(1) == 0).float().mean())
              for role, one in examination().observations.items()}  # fmt: skip
    again = {"original": {"forget": before["original"] / 2, "forget_test": 0.0}, "unlearned": None}
    measure = _recalibration(examination(recalibrated=again))
    assert measure.values == pytest.approx(before)
    assert "not applicable to unlearned" in measure.note
    higher = {**again, "unlearned": {"forget": 1.0, "forget_test": 0.0}}
    assert _recalibration(examination(recalibrated=higher)).values["unlearned"] == 1.0


@pytest.mark.parametrize(
    "curve, steps", [([(0, 0.5)], 0), ([(0, 0.0), (3, 0.49), (6, 0.7)], 6), ([(0, 0.0), (9, 0.4)], 10)]
)
def test_half_is_reached_at_the_first_step_or_after_the_last(curve: list[tuple[int, float]], steps: int) -> None:
    assert steps_to_half(curve) == steps


def test_information_is_compared_with_retraining_layer_by_layer() -> None:
    forgotten = torch.arange(12) < len(SPLIT.forget)  # the first images are of the class
    noise = torch.randn(2, 12, 2, generator=torch.Generator().manual_seed(0))
    layers = {
        role: {str(layer): noise[layer] + apart * forgotten[:, None] for layer in range(count)}
        for role, apart, count in (("original", 4, 2), ("unlearned", 2, 2), ("retrained", 0, 2), ("other", 2, 1))
    }
    observations = {role: replace(seen(0), layers=found) for role, found in layers.items()}
    whole = Examination(SPLIT, observations, probed=dict.fromkeys([*layers, "logit-mask"]))  # type: ignore[arg-type]
    slowly = {role: [label_information(one, forgotten) for one in found.values()] for role, found in layers.items()}
    wanted = information_difference(slowly["unlearned"], slowly["retrained"], slowly["original"])
    found = information_left(whole)
    assert found["unlearned"] == wanted and 0 < wanted < 1  # type: ignore[operator]
    assert found["retrained"] == 0 and found["original"] == found["logit-mask"] == 1  # a control shares its layers
    assert found["other"] is None  # a network with other layers
    del observations["retrained"]
    assert set(information_left(whole).values()) == {None}
