"""What `unclass paper` writes: tables, figures, the page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from unclass.audits.result import Audit
from unclass.comparison.plan import Plan
from unclass.errors import InputError
from unclass.predictions import load_predictions
from unclass.report.paper.drawn import Drawn
from unclass.report.paper.experiment import Experiment
from unclass.report.paper.summary import Case, Summary
from unclass.reproduction.drawn import look_at
from unclass.reproduction.schedule import Job
from unclass.storage import write_atomically
from unclass.training.engine import Engine

FORMATS = ("pdf", "png")
SHOWS_PICTURES = "it shows pictures of the erased class, which were not asked for; ask by `with_pictures`"
Figures = Iterator[tuple[str, Callable[[], Any]]]


@dataclass(frozen=True)
class Written:
    """The files of a reproduction: `audits` is their page, `missing` says of a figure why it was not drawn."""

    report: Path
    tables: tuple[Path, ...] = ()
    figures: tuple[Path, ...] = ()
    audits: Path | None = None
    missing: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the same as JSON."""
        audits = {} if self.audits is None else {"audits": str(self.audits)}
        tables, figures = [str(path) for path in self.tables], [str(path) for path in self.figures]
        return {"report": str(self.report), "tables": tables, **audits, "figures": figures, "missing": {**self.missing}}


def write_outputs(
    summary: Summary,
    plans: Sequence[Plan],
    jobs: Sequence[Job],
    audits: Sequence[Audit],
    out: Path,
    engine: Engine,
    *,
    with_pictures: bool = False,
) -> Written:
    """Write everything and return what was written; a figure that cannot be drawn says why.

    Attention maps are laid over images of the erased class: they are drawn only `with_pictures`.
    """
    from unclass.report.audit_page import write_report  # jinja2 and matplotlib take a second to import: not for --help
    from unclass.report.paper.page import write_page

    tables = [path for one in summary.tables.values() for path in _tables(summary, one, out)]
    pictures: dict[str, list[Path]] = {}
    missing: dict[str, str] = {}
    for experiment in [one for one in summary.experiments if one.draw != "table"]:
        if experiment.draw == "attention" and not with_pictures:
            missing[experiment.name] = SHOWS_PICTURES
            continue
        for name, draw in _drawings(experiment, summary, plans, jobs, out, engine):
            try:
                pictures.setdefault(experiment.name, []).append(_save(draw(), out / "figures" / name))
            except InputError as error:
                missing[experiment.name] = str(error)
    report = write_page(summary, pictures, missing, out / "report.html")
    rows = [row for case in summary.cases for row in case.rows]
    page = write_report(audits, out / "audits.html", rows) if audits else None
    return Written(report, tuple(tables), tuple(file for files in pictures.values() for file in files), page, missing)


def _tables(summary: Summary, experiment: Experiment, out: Path) -> Iterator[Path]:
    from unclass.report.paper.blocks import beside_paper
    from unclass.report.paper.latex import latex
    from unclass.report.paper.table import long_csv

    head = f"# {experiment.title}\n\n{experiment.shows}\n\n"
    texts = {
        "md": head + beside_paper(summary, experiment),
        "tex": "\n".join(latex(experiment, case, summary.command) for case in summary.cases),
        "csv": long_csv(experiment, summary.cases),
    }
    for kind, text in texts.items():
        path = out / "tables" / f"{experiment.name}.{kind}"
        yield write_atomically(path, partial(_write_text, text))


def _write_text(text: str, file: Path) -> None:
    file.write_text(text, encoding="utf-8")


def _save(figure: Any, path: Path) -> Path:
    for kind in FORMATS:
        write_atomically(path.with_name(f"{path.name}.{kind}"), partial(figure.savefig, dpi=200, format=kind))
    return path.with_name(f"{path.name}.png")


def _drawings(
    experiment: Experiment, summary: Summary, plans: Sequence[Plan], jobs: Sequence[Job], out: Path, engine: Engine
) -> Figures:
    """Yield a figure for each class, of its first seed where it shows single models."""
    from unclass.report.figures import images
    from unclass.report.paper.figures import attack_success_beside, recalibration_curves, times_beside

    bars: dict[str, Callable[[Experiment, Case], Any]] = {"attack-success": attack_success_beside, "time": times_beside}
    pictures: dict[str, Callable[[Drawn], Any]] = {
        "attention": images.attention_grid,
        "decision-space": images.decision_space,
        "recalibration": recalibration_curves,
    }
    for case in summary.cases:
        name = f"{experiment.name}-{case.forgotten}"
        if experiment.draw in bars:
            yield name, partial(bars[experiment.draw], experiment, case)
            continue
        plan = next(plan for plan in plans if plan.seeds[0] == case.seeds[0])
        own = {job.method: job for job in jobs if (job.forget_class, job.seed) == (case.forgotten, case.seeds[0])}
        chosen = [own[method] for method in experiment.methods]
        if experiment.draw == "entropy":
            yield name, partial(_entropies, chosen)
            continue
        part = experiment.draw.replace("-", "_")
        kept = out / "pictures" / f"{name}.json"
        yield name, partial(_picture, pictures[experiment.draw], plan, chosen, part, kept, engine)


def _picture(
    figure: Callable[[Drawn], Any], plan: Plan, jobs: Sequence[Job], part: str, kept: Path, engine: Engine
) -> Any:
    from unclass.report.paper.figures import with_short_titles

    return with_short_titles(figure(look_at(plan, jobs, part, kept, engine)))


def _entropies(jobs: Sequence[Job]) -> Any:
    from unclass.report.figures.comparison import entropies

    paths = {job.method: job.run.predictions for job in jobs}
    models = {method: load_predictions(path) for method, path in paths.items() if path.exists()}
    if not models:
        raise InputError("there is no finished run to draw; run the command again without `no_run`")
    return entropies(models)
