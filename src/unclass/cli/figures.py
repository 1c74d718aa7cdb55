"""unclass figures."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unclass.audits.result import Audit
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.comparison.rows import summarise
from unclass.errors import InputError
from unclass.predictions import load_predictions
from unclass.records import read_record
from unclass.storage import write_atomically

FORMATS = ("png", "svg", "pdf")
Drawing = tuple[str, Callable[[], Any]]


def figures(
    folder: Annotated[Path, typer.Argument(help="Folder of an audit or of a comparison.", show_default=False)],
    format_: Annotated[str, typer.Option("--format", help=f"Of {', '.join(FORMATS)}, with commas between.")] = "png",
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to; DIR/figures if not given.", show_default=False)
    ] = None,
    json_: o.Json = False,
) -> None:
    """Draw every figure of an audit or a comparison for a paper.

    Example: unclass figures unclass-demo --format png,pdf
    """
    formats = _formats(format_)
    out = out or folder / "figures"
    written, skipped = [], {}
    for name, draw in _drawings(folder):
        try:
            figure = draw()
        except InputError as error:
            skipped[name] = str(error)
            note(f"{name}: {error}")
            continue
        for kind in formats:
            save = partial(figure.savefig, dpi=200, format=kind)
            written.append(str(write_atomically(out / f"{name}.{kind}", save)))
    if not written:
        raise InputError(f"{folder} has nothing to draw; give the --out of unclass audit, compare or demo")
    if json_:
        give_json({"figures": written, "skipped": skipped})
        return
    for path in written:
        say(path)


def _formats(text: str) -> list[str]:
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    wrong = [name for name in names if name not in FORMATS]
    if wrong or not names:
        raise InputError(f"format {', '.join(wrong) or text!r} is unknown; choose from: {', '.join(FORMATS)}")
    return names


def _drawings(folder: Path) -> Iterator[Drawing]:
    """Yield each figure's name and what draws it: from an audit, from the records of a comparison, or both."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give the --out of unclass audit, compare or demo")
    audits = sorted(folder.rglob("audit.json"))
    for path in audits:
        where = "-".join(path.parent.relative_to(folder).parts)
        yield from _of_audit(path, f"{where}-" if where else "")
    if (folder / "runs").is_dir():
        yield from comparison_drawings(folder / "runs")


def _of_audit(path: Path, prefix: str) -> Iterator[Drawing]:
    from unclass.report.figures import comparison as draw  # matplotlib takes a second to import: not for --help

    audit = Audit.read(path).as_dict()
    for name, drawing in draw.AUDIT_FIGURES.items():
        yield prefix + name, partial(drawing, audit)


def comparison_drawings(runs: Path) -> Iterator[Drawing]:
    """Yield the figures of a comparison: attack success, times, and the entropies of each case."""
    from unclass.report.figures import comparison as draw

    paths = sorted(runs.glob("*/*/*/record.json"))
    found = [(path, read_record(path)) for path in paths]
    rows = summarise(record for _, record in found)
    rows.sort(key=lambda row: {"original": 0, "retrain": 1}.get(row["method"], 2))
    if not rows:
        return
    yield "methods-attack-success", partial(draw.attack_success, rows)
    yield "methods-time", partial(draw.times, rows)
    for case in sorted({path.parents[2] for path in paths}):
        models = {}
        for row in rows:
            predictions = sorted(case.glob(f"{row['method']}/seed*/predictions.safetensors"))
            if predictions:
                models[row["method"]] = load_predictions(predictions[0])
        if models:
            yield f"methods-entropy-{case.name}", partial(draw.entropies, models)
