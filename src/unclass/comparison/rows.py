"""From records to the rows of a table: mean ± spread over classes and seeds, beside the retrained model."""

import math
from collections.abc import Iterable, Sequence
from statistics import mean, stdev
from typing import Any

FIGURES = {
    "accuracy_retain": "D_r",
    "accuracy_forget": "D_f",
    "accuracy_retain_test": "D_rt",
    "accuracy_forget_test": "D_ft",
    "attack_success_rate": "ASR",
}


def summarise(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each label, in order of first appearance."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        grouped.setdefault(record["label"], []).append(record)
    reference = grouped.get("retrain", [])
    return [_row(label, members, reference) for label, members in grouped.items()]


def _row(label: str, records: Sequence[dict[str, Any]], reference: Sequence[dict[str, Any]]) -> dict[str, Any]:
    done = [record for record in records if record["figures"] is not None]
    row: dict[str, Any] = {"method": label, "runs": len(done), "failed": len(records) - len(done)}
    for key in FIGURES:
        row[key] = _spread([record["figures"][key] for record in done])
    seconds = [record["cost"]["seconds"] for record in done if record["cost"]]
    row["seconds"] = _spread(seconds)
    row["steps"] = mean(r["cost"]["steps"] for r in done if r["cost"]) if seconds else None
    row["retain_images_read"] = mean(r["cost"]["retain_images_read"] for r in done if r["cost"]) if seconds else None
    row["speed_up"] = _speed_up(done, reference)
    return row


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    return {"mean": mean(values), "spread": stdev(values) if len(values) > 1 else 0.0}


def _speed_up(records: Sequence[dict[str, Any]], reference: Sequence[dict[str, Any]]) -> float | None:
    """Geometric mean of retraining's time over the method's, run by run."""
    ratios = [
        retraining / record["cost"]["seconds"]
        for record in records
        if record["cost"] and record["cost"]["seconds"] > 0 and (retraining := _retraining(record, reference))
    ]
    return math.exp(mean(math.log(ratio) for ratio in ratios)) if ratios else None


def _retraining(record: dict[str, Any], reference: Sequence[dict[str, Any]]) -> float | None:
    """Return the seconds of retraining without the same classes: with the same seed, else with the others."""
    timed = [one for one in reference if one["cost"] and one["forget_classes"] == record["forget_classes"]]
    nearest = [one for one in timed if one["seed"] == record["seed"]] or timed
    return mean(one["cost"]["seconds"] for one in nearest) if nearest else None
