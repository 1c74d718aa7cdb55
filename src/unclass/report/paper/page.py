"""The page of a reproduction: the paper's tables and figures beside ours, in one HTML file that needs nothing else."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader

from unclass.report.paper.blocks import provenance
from unclass.report.paper.table import grid, markdown, noise_band, reasons
from unclass.storage import write_atomically


def write_page(
    summary: Mapping[str, Any],
    pictures: Mapping[str, Sequence[Path]],
    missing: Mapping[str, str],
    path: Path,
) -> Path:
    """Write the page; `pictures` are the PNG files of each figure by experiment, `missing` why one is not there."""
    parts = [
        {
            **experiment,
            "tables": [_table(experiment, case) for case in summary["cases"]] if experiment["draw"] == "table" else [],
            "pictures": [{"name": file.stem, "uri": _embedded(file)} for file in pictures.get(experiment["name"], [])],
            "missing": missing.get(experiment["name"]),
        }
        for experiment in sorted(summary["experiments"], key=lambda one: (one["draw"] != "table", one["name"]))
    ]
    environment = Environment(loader=PackageLoader("unclass.report", "templates"), autoescape=True)
    text = environment.get_template("paper.html").render(
        summary=summary, parts=parts, provenance=provenance(summary).replace("`", "")
    )
    return write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"))


def _table(experiment: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    head, _, *lines = [_cells(line) for line in markdown(experiment, case).splitlines()]
    notes = " ".join([noise_band(case), *reasons(grid(experiment, case))])
    return {"class": case["class"], "head": head, "lines": lines, "notes": notes}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line[1:-1].split("|")]


def _embedded(file: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(file.read_bytes()).decode()
