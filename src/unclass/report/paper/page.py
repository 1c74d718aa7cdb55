"""The page of a reproduction: the paper's tables and figures beside ours, in one HTML file that needs nothing else."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader

from unclass.report.paper.blocks import provenance
from unclass.report.paper.experiment import Experiment
from unclass.report.paper.summary import Case, Summary
from unclass.report.paper.table import grid, markdown, noise_band, reasons
from unclass.storage import write_atomically


@dataclass(frozen=True)
class ShownTable:
    """A table as text, and the notes below it."""

    forgotten: str
    head: list[str]
    lines: list[list[str]]
    notes: str


@dataclass(frozen=True)
class Section:
    """An experiment with what is shown of it; `pictures` are the names and contents of PNG files."""

    experiment: Experiment
    tables: list[ShownTable]
    pictures: list[tuple[str, str]]
    missing: str | None


def write_page(
    summary: Summary, pictures: Mapping[str, Sequence[Path]], missing: Mapping[str, str], path: Path
) -> Path:
    """Write the page; `pictures` are the PNG files of each figure by experiment, `missing` why one is not there."""
    sections = [
        Section(
            one,
            [_table(one, case) for case in summary.cases] if one.draw == "table" else [],
            [(file.stem, _embedded(file)) for file in pictures.get(one.name, [])],
            missing.get(one.name),
        )
        for one in sorted(summary.experiments, key=lambda one: (one.draw != "table", one.name))
    ]
    environment = Environment(loader=PackageLoader("unclass.report", "templates"), autoescape=True)
    text = environment.get_template("paper.html").render(
        summary=summary, sections=sections, provenance=provenance(summary).replace("`", "")
    )
    return write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"))


def _table(experiment: Experiment, case: Case) -> ShownTable:
    head, _, *lines = [_cells(line) for line in markdown(experiment, case).splitlines()]
    notes = " ".join([noise_band(case), *reasons(grid(experiment, case))])
    return ShownTable(case.forgotten, head, lines, notes)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line[1:-1].split("|")]


def _embedded(file: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(file.read_bytes()).decode()
