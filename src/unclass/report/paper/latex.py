"""The paper's tables as LaTeX with booktabs, the printed numbers in grey."""

import re
from collections.abc import Sequence

from unclass.report.paper.experiment import Experiment
from unclass.report.paper.summary import Case
from unclass.report.paper.table import Cell, Number, across, grid, noise_band, printed, reasons, show

ESCAPED = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
SETS = {
    "D_rt": r"$\mathcal{D}_{rt}$",
    "D_ft": r"$\mathcal{D}_{ft}$",
    "D_r": r"$\mathcal{D}_r$",
    "D_f": r"$\mathcal{D}_f$",
}
LINE = r"\\"


def latex(experiment: Experiment, case: Case, made_by: str) -> str:
    """Return a table environment. It needs the packages booktabs, graphicx and xcolor."""
    table = grid(experiment, case)
    if experiment.across:
        head = ["", *(_stacked(method) for method, _, _ in table.lines)]
        body = [[_word(name), *cells] for name, cells in across(table, _ours, _paper, text)]
    else:
        head = ["method", *(_word(column) for column in table.columns)]
        body = [
            [text(method), *(_cell(cell, why if place == 0 else None) for place, cell in enumerate(cells))]
            for method, why, cells in table.lines
        ]
    title = re.sub(r"^Table \d+[^:]*: ", "", experiment.title)  # LaTeX counts tables itself
    caption = f"{title}, forgetting {case.forgotten}; the paper's numbers in grey. {noise_band(case)}"
    return "\n".join(
        [
            f"% Made by: {made_by}. Needs booktabs, graphicx and xcolor.",
            r"\begin{table*}[t]",
            r"\centering",
            rf"\caption{{{_word(' '.join([caption, *reasons(table)]))}}}",
            r"\smallskip",
            r"\resizebox{\textwidth}{!}{%",
            rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            r"\toprule",
            _line(head),
            r"\midrule",
            *(_line(line) for line in body),
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table*}",
            "",
        ]
    )


def text(value: str) -> str:
    """Return text as LaTeX shows it."""
    escaped = "".join(ESCAPED.get(character, character) for character in value)
    return escaped.replace("–", "--").replace("±", r"$\pm$").replace("×", r"$\times$")


def _word(value: str) -> str:
    """Return text in which the four sets are in the paper's letters."""
    result = text(value)
    for name, symbol in SETS.items():
        result = result.replace(text(name), symbol)
    return result


def _stacked(method: str) -> str:
    """Return a name in several short lines, for a narrow column."""
    return rf"\shortstack[r]{{{text(method).replace('-', '-' + LINE).replace('@', LINE + '@')}}}"


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} {LINE}"


def _cell(cell: Cell, why: str | None) -> str:
    ours = _ours(cell.ours) if cell.ours else "not run" if why else ""
    return ours if cell.paper is None else f"{ours} {_paper(cell.paper)}".strip()


def _ours(number: Number) -> str:
    return text(show(number))


def _paper(value: float) -> str:
    return rf"\textcolor{{gray}}{{{printed(value)}}}"
