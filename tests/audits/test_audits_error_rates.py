"""The table of false alarms and misses counts what it says."""

from copy import deepcopy

import torch

from unclass.audits.error_rates import Judged, as_markdown, judged, rates
from unclass.audits.run import make_controls
from unclass.data import Split
from unclass.models import Classifier
from unclass.training.engine import Engine


def test_originals_and_controls_are_caught_and_every_choice_of_references_is_judged(
    model: Classifier, split: Split, engine: Engine
) -> None:
    torch.manual_seed(1)
    again = deepcopy(model)
    for weight in again.parameters():
        weight.data += 0.3 * weight.data.std() * torch.randn_like(weight)
    models = {"original": model, "retrained-1": again, "retrained-2": deepcopy(again)}
    found = judged("digits", models, make_controls(model, split, engine), split, engine, 0)
    for kind in ("original", "logit-mask"):  # no reference, either one, both
        own = [one for one in found if one.check == "own-logit" and one.kind == kind]
        assert {one.status for one in own} == {"failed"} and sum(one.times for one in own) == 4
    assert sum(one.times for one in found if one.check == "retain-change" and one.kind == "retrained") == 4


def test_the_table_counts_alarms_misses_and_what_stays_open() -> None:
    found = [
        Judged("digits", "own-logit", "retrained", 1, "passed", 7),
        Judged("digits", "own-logit", "retrained", 1, "failed", 2),
        Judged("digits", "own-logit", "retrained", 2, "undecided", 1),
        Judged("digits", "own-logit", "head-only", 1, "passed", 1),
        Judged("digits", "own-logit", "head-only", 1, "failed", 3),
        Judged("digits", "one-image", "original", 0, "informative", 1),
    ]
    first, second = rates(found)
    assert (first.false_alarms, first.open, first.missed["head-only"]) == ("2 of 10", "1 of 10", "1 of 4")
    assert first.as_dict()["false alarms"] == "2 of 10" and first.as_dict()["head-only"] == "1 of 4"
    assert second.missed["original"] == "–" and "| own logit | digits | 2 of 10 |" in as_markdown([first])
