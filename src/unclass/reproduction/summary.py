"""From the records of all runs to one summary."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from unclass.audits.result import Audit
from unclass.comparison.plan import REFERENCE
from unclass.comparison.rows import Row, summarise
from unclass.data import ImageData
from unclass.metrics import SCORES
from unclass.records import Environment, Record, UpdatesCost, environment
from unclass.report.paper.experiment import Experiment, Setup
from unclass.report.paper.summary import Case, Network, PaperRow, Pictures, Progress, RecordedUpdates, Summary
from unclass.reproduction.schedule import WAITING


def make_summary(
    setup: Setup,
    experiments: Sequence[Experiment],
    data: ImageData,
    records: Sequence[Record],
    audits: Sequence[Audit] = (),
) -> Summary:
    """Return what the tables show: a case for each forgotten class that a run is done of, and where it comes from."""
    done = [record for record in records if record.scores is not None]
    classes = dict.fromkeys(record.forget_classes[0] for record in done)
    return Summary(
        setup=setup,
        command=f"unclass paper {setup.name} --scale {setup.scale}",
        environment=_environment(done),
        precision=tuple(sorted({record.precision for record in done})),
        data=Pictures(data.name, len(data.train), len(data.test), tuple(data.classes)),
        experiments=tuple(experiments),
        cases=tuple(make_case(name, records, audits) for name in classes),
        recipe=next((_recipe(record) for record in done if record.label == REFERENCE), {}),
        model=next((_network(record) for record in done), Network()),
        progress=_progress(records),
    )


def make_case(name: str, records: Sequence[Record], audits: Sequence[Audit] = ()) -> Case:
    """Return the rows of one forgotten class."""
    members = [record for record in records if record.forget_classes[0] == name]
    verdicts = {
        audit.subject.method: audit.verdict.status for audit in audits if audit.subject.forget_classes == (name,)
    }
    # A method that is meant to run on some seeds only has not failed on the others.
    ran = {record.label for record in members if not _left_out(record)}
    kept = [record for record in members if not (_left_out(record) and record.label in ran)]
    rows = tuple(_row(row, kept, verdicts) for row in summarise(kept))
    return Case(name, tuple(sorted({record.seed for record in members})), rows)


def _progress(records: Sequence[Record]) -> Progress:
    waiting = [record for record in records if record.failed == f"not run: {WAITING}"]
    done = [record for record in records if not _left_out(record)]
    return Progress(len(done), len(done) + len(waiting))


def _left_out(record: Record) -> bool:
    return str(record.failed or "").startswith("not run")


def _row(row: Row, records: Sequence[Record], verdicts: Mapping[str, str]) -> PaperRow:
    """Return a row of the comparison with what it has beside: seeds, ranges, one-off costs, the verdict."""
    own = [record for record in records if record.label == row.method]
    done = [record for record in own if record.scores is not None]
    return PaperRow(
        **vars(row),
        seeds=tuple(record.seed for record in done),
        why_not=next((record.failed for record in own if record.failed), None),
        range={key: _range(_values(done, key)) for key in SCORES},
        retain_images=mean(record.counts["retain"] for record in done) if done else None,
        sample=next((record.options["images"] for record in done if record.options.get("images")), None),
        updates=_updates([record.cost.updates for record in done if record.cost and record.cost.updates]),
        verdict=verdicts.get(row.method),
    )


def _updates(costs: Sequence[UpdatesCost]) -> RecordedUpdates | None:
    """Return the mean of what recording cost, as far as it is known."""
    sizes = [cost.bytes for cost in costs]
    seconds = [cost.recording_seconds for cost in costs if cost.recording_seconds is not None]
    return RecordedUpdates(mean(sizes), mean(seconds) if seconds else None) if costs else None


def _values(records: Sequence[Record], key: str) -> list[float]:
    found = [getattr(record.scores, key) for record in records]
    return [value for value in found if value is not None]


def _range(values: Sequence[float]) -> tuple[float, float] | None:
    return (min(values), max(values)) if values else None


def _environment(records: Sequence[Record]) -> Environment:
    """Return versions and hardware of the runs; of this machine if there are none."""
    return next((record.environment for record in records if record.environment is not None), None) or environment()


def _recipe(record: Record) -> dict[str, Any]:
    """Return how the models were trained; of a file with pretrained weights its name alone."""
    return {**record.options, "start": Path(record.options["start"]).name}


def _network(record: Record) -> Network:
    card = record.original.card if record.original is not None else {}
    return Network(card.get("architecture", ""), card.get("options", {}))
