"""Audits written by earlier versions, in today's form."""

import re
from typing import Any

# Checks had no keys in unclass-audit-1: they were found by what they are called.
KEYS = {
    "change on D_rt": "retain-change",
    "accuracy on D_ft": "forget-test-accuracy",
    "change of the worst class": "worst-class-change",
    "population attack": "population-attack",
    "attack success rate": "attack-success-rate",
    "TPR at 1 % FPR": "tpr-at-1-fpr",
    "RMIA": "rmia",
    "U-LiRA": "u-lira",
    "place by head bias": "place-by-bias",
    "place by head norm": "place-by-norm",
    "place by share of predictions": "place-by-share",
    "accuracy on D_f after recalibration": "recalibration",
    "own logit": "own-logit",
    "class read from one image": "one-image",
    "linear probe": "linear-probe",
    "nearest class mean": "nearest-mean",
    "relearning from D_r": "relearn-retain",
    "steps to relearn": "relearn-steps",
    "JS divergence on D_f": "js-forget",
    "JS divergence on D_rt": "js-retain-test",
    "activation distance": "activation-distance",
    "label histograms": "label-histograms",
    "equal predictions": "equal-predictions",
    "entropy distributions": "entropy-distance",
    "ZRF": "zrf",
}


def upgraded(content: dict[str, Any]) -> dict[str, Any]:
    """Return a record of unclass-audit-1 with the keys that today's has; nothing is computed anew."""
    checks = [{**one, "key": _key(one["name"])} for one in content.get("checks") or []]
    headline = [{**one, "key": _key(one["name"])} for one in content.get("headline") or []]
    known = {one["key"] for one in checks}
    checks += [_from_headline(one) for one in headline if one["key"] not in known]
    controls = [
        {**one, "failed_checks": [_key(name) for name in one.get("failed_checks") or []]}
        for one in content.get("self_check") or []
    ]
    noise = {_key(name): band for name, band in (content.get("noise") or {}).items()}
    return {**content, "checks": checks, "headline": headline, "self_check": controls, "noise": noise}


def _key(name: str) -> str:
    return KEYS.get(name) or re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _from_headline(one: dict[str, Any]) -> dict[str, Any]:
    """Return a check made of what the headline says of it, where the list of checks does not have it."""
    kept = {key: one[key] for key in ("key", "name", "threshold", "reference", "direction", "unit", "status")}
    known = {"group": "residual", "question": one["name"], "carries_verdict": True}
    return {**kept, **known, "values": {"unlearned": one["value"]}}
