"""Audits of the first version are read under today's names, and nothing in them is computed anew."""

from copy import deepcopy
from typing import Any

from unclass.audits.catalogue import CHECKS
from unclass.audits.older import KEYS, upgraded
from unclass.audits.result import Audit

CHECK = {
    "name": "own logit", "group": "residual", "question": "?", "direction": "lower", "status": "failed",
    "values": {"unlearned": 0.9},
}  # fmt: skip
TILE = {
    "name": "ZRF", "threshold": 0.5, "reference": None, "direction": "higher", "unit": "share", "status": "passed",
    "value": 0.7,
}  # fmt: skip
OLD: dict[str, Any] = {
    "schema": "unclass-audit-1",
    "verdict": {"status": "failed", "sentence": "Failed."},
    "checks": [CHECK, {**CHECK, "name": "A new (idea), once"}],
    "headline": [TILE],
    "self_check": [{"model": "original", "expected": "failed", "found": "failed", "ok": True,
                    "failed_checks": ["own logit", "RMIA"]}],
    "noise": {"linear probe": [0.1, 0.2]},
}  # fmt: skip


def test_every_old_name_leads_to_a_check_of_today() -> None:
    assert set(KEYS.values()) <= set(CHECKS)
    assert len(set(KEYS.values())) == len(KEYS)


def test_checks_controls_and_noise_are_found_by_key() -> None:
    found = upgraded(OLD)
    assert [one["key"] for one in found["checks"]] == ["own-logit", "a-new-idea-once", "zrf"]
    assert found["self_check"][0]["failed_checks"] == ["own-logit", "rmia"]
    assert found["noise"] == {"linear-probe": [0.1, 0.2]}


def test_what_only_the_headline_knew_is_a_check_with_its_value() -> None:
    zrf = Audit.of(OLD).check("zrf")
    assert zrf.values == {"unlearned": 0.7} and (zrf.threshold, zrf.direction) == (0.5, "higher")
    assert zrf.carries_verdict and Audit.of(OLD).headline == (zrf,)


def test_what_was_read_is_left_as_it_is_and_parts_may_be_missing() -> None:
    before = deepcopy(OLD)
    upgraded(OLD)
    assert before == OLD
    bare = upgraded({"verdict": {}, "checks": None, "noise": None})
    assert (bare["checks"], bare["headline"], bare["self_check"], bare["noise"]) == ([], [], [], {})
