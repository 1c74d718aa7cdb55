"""Which figures a folder holds the figures' data of: an audit's, a comparison's, or both."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from unclass.audits.result import Audit
from unclass.border.offline import in_one_line
from unclass.comparison.believing import read_run
from unclass.comparison.layout import RUNS, Run, cases_in, predictions_of, records_in
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.comparison.rows import over_classes
from unclass.errors import InputError
from unclass.predictions import load_predictions
from unclass.report.figures import comparison as draw

Drawing = tuple[str, Callable[[], Any]]


def drawings(folder: Path) -> Iterator[Drawing]:
    """Yield each figure's name and what draws it: from an audit, from the records of a comparison, or both."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give the `out` of unclass audit, compare or demo")
    for path in sorted(folder.rglob("audit.json")):
        where = "-".join(path.parent.relative_to(folder).parts)
        audit = Audit.read(path)
        for name, drawing in draw.AUDIT_FIGURES.items():
            yield (f"{where}-" if where else "") + name, partial(_drawn, path, drawing, audit)
    if (folder / RUNS).is_dir():
        yield from comparison_drawings(folder)


def comparison_drawings(folder: Path) -> Iterator[Drawing]:
    """Yield the figures of a comparison: attack success, times, and the entropies of each case."""
    found = over_classes(read_run(Run(path.parent)) for path in records_in(folder))
    found.sort(key=lambda row: {ORIGINAL: 0, REFERENCE: 1}.get(row.method, 2))
    if not found:
        return
    yield "methods-attack-success", partial(_drawn, folder, draw.attack_success, found)
    yield "methods-time", partial(_drawn, folder, draw.times, found)
    for name, case in cases_in(folder):
        paths = {row.method: predictions_of(case, row.method) for row in found}
        models = {method: load_predictions(path) for method, path in paths.items() if path is not None}
        if models:
            yield f"methods-entropy-{name}", partial(_drawn, folder, draw.entropies, models)


def _drawn(path: Path, draw: Callable[[Any], Any], content: Any) -> Any:
    """Return the figure of what was read from a file, whose parts need not fit together if it was edited."""
    with in_one_line(str(path), "make it again", "drawn"):
        return draw(content)
