"""From the records of all runs to one summary: all that the tables show, small enough to be kept beside the text."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

from unclass.audits.result import Audit
from unclass.border.offline import reading
from unclass.comparison.rows import summarise
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.metrics import SCORES
from unclass.records import Record, UpdatesCost, environment
from unclass.reproduction.experiment import Experiment, Setup
from unclass.reproduction.schedule import WAITING
from unclass.storage import read_json

SCHEMA = "unclass-paper-1"


def make_summary(
    setup: Setup,
    experiments: Sequence[Experiment],
    data: ImageData,
    records: Sequence[Record],
    audits: Sequence[Audit] = (),
) -> dict[str, Any]:
    """Return what the tables show: a case for each forgotten class that a run is done of, and where it comes from."""
    done = [record for record in records if record.scores is not None]
    classes = list(dict.fromkeys(record.forget_classes[0] for record in done))
    return {
        "schema": SCHEMA,
        "setup": {**asdict(setup), "runs": [list(run) for run in setup.runs]},
        "command": f"unclass paper {setup.name} --scale {setup.scale}",
        "environment": _environment(done),
        "precision": sorted({record.precision for record in done}),
        "data": {"name": data.name, "train": len(data.train), "test": len(data.test), "classes": list(data.classes)},
        "recipe": next((_recipe(record) for record in done if record.label == "retrain"), {}),
        "model": next((_model(record) for record in done), {}),
        "experiments": [asdict(experiment) for experiment in experiments],
        "progress": _progress(records),
        "cases": [_case(name, records, audits) for name in classes],
    }


def read_summary(path: Path) -> dict[str, Any]:
    """Read a summary and make sure that it is one."""
    with reading(f"{path} is not a summary: it", "give OUT/summary.json of unclass paper"):
        content = read_json(path)
    if content.get("schema") != SCHEMA:
        raise InputError(f"{path} is not a summary of unclass paper ({SCHEMA}); give its OUT/summary.json")
    return content


def _case(name: str, records: Sequence[Record], audits: Sequence[Audit]) -> dict[str, Any]:
    members = [record for record in records if record.forget_classes[0] == name]
    verdicts = {
        audit.subject.method: audit.verdict.status for audit in audits if audit.subject.forget_classes == (name,)
    }
    # A method that is meant to run on some seeds only has not failed on the others.
    ran = {record.label for record in members if not _left_out(record)}
    kept = [record for record in members if not (_left_out(record) and record.label in ran)]
    rows = [{**row.as_dict(), **_more(row.method, kept, verdicts)} for row in summarise(kept)]
    return {"class": name, "seeds": sorted({record.seed for record in members}), "rows": rows}


def _progress(records: Sequence[Record]) -> dict[str, int]:
    """Return how many runs are done and how many are planned; those left out on purpose count as neither."""
    waiting = [record for record in records if record.failed == f"not run: {WAITING}"]
    done = [record for record in records if not _left_out(record)]
    return {"done": len(done), "planned": len(done) + len(waiting)}


def _left_out(record: Record) -> bool:
    return str(record.failed or "").startswith("not run")


def _more(method: str, records: Sequence[Record], verdicts: Mapping[str, str]) -> dict[str, Any]:
    """Return what a row has beside the comparison's: seeds, the range of each figure, one-off costs, the verdict."""
    own = [record for record in records if record.label == method]
    done = [record for record in own if record.scores is not None]
    return {
        "seeds": [record.seed for record in done],
        "why_not": next((record.failed for record in own if record.failed), None),
        "range": {key: _range(_values(done, key)) for key in SCORES},
        "retain_images": mean(record.counts["retain"] for record in done) if done else None,
        "sample": next((record.options["images"] for record in done if record.options.get("images")), None),
        "updates": _updates([record.cost.updates for record in done if record.cost and record.cost.updates]),
        "verdict": verdicts.get(method),
    }


def _updates(costs: Sequence[UpdatesCost]) -> dict[str, float] | None:
    """Return the mean of what recording cost, as far as it is known."""
    known = {key: [getattr(cost, key) for cost in costs] for key in ("bytes", "recording_seconds")}
    found = {key: [value for value in values if value is not None] for key, values in known.items()}
    return {key: mean(values) for key, values in found.items() if values} or None


def _values(records: Sequence[Record], key: str) -> list[float]:
    found = [getattr(record.scores, key) for record in records]
    return [value for value in found if value is not None]


def _range(values: Sequence[float]) -> list[float] | None:
    return [min(values), max(values)] if values else None


def _environment(records: Sequence[Record]) -> dict[str, Any]:
    """Return versions and hardware of the runs; of this machine if there are none."""
    known = [record.environment for record in records if record.environment is not None]
    return asdict(known[0] if known else environment())


def _recipe(record: Record) -> dict[str, Any]:
    """Return how the models were trained; of a file with pretrained weights its name alone."""
    return {**record.options, "start": Path(record.options["start"]).name}


def _model(record: Record) -> dict[str, Any]:
    card = record.original.card if record.original is not None else {}
    return {"architecture": card.get("architecture", ""), "options": card.get("options", {})}
