"""Figures by class: accuracies, confusion, and where the forget images go."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from unclass.audits.result import Audit
from unclass.report.figures.images import plain
from unclass.report.figures.panels import BLUE, ORANGE, axes, grid, needed, present, style

SHADES = LinearSegmentedColormap.from_list("shares", ["#FFFFFF", BLUE, "#00365F"])
MOST_TEXT = 15


def per_class(audit: Audit, most: int = 20) -> Figure:
    """Accuracy of each class on test images, nearest to the forgotten one first; at most so many classes."""
    entries = needed(needed(audit.utility, "utility").per_class, "utility", "per_class")[:most]
    shown = [role for role in present(entries[0].accuracy) if not role.startswith("retrained-")]
    figure, chart = axes(0.36 * len(entries) + 1.2)
    for place, role in enumerate(shown):
        values = [100 * (entry.accuracy.get(role) or 0) for entry in entries]
        offsets = np.arange(len(entries)) + 0.24 * (place - (len(shown) - 1) / 2)
        chart.barh(offsets, values, height=0.22, color=style(role)["color"], label=role)
    chart.set_yticks(range(len(entries)), [plain(entry.name) for entry in entries])
    chart.set(xlabel="accuracy on test images (%)", xlim=(0, 100))
    chart.invert_yaxis()
    chart.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(shown))
    return figure


def confusion(audit: Audit) -> Figure:
    """Confusion on test images in shares of each true class, a panel for each model."""
    counts = needed(needed(audit.utility, "utility").confusion, "utility", "confusion")
    shown = [role for role in present(counts) if not role.startswith("retrained-")]
    figure, panels = grid(len(shown), (3.6, 3.5))
    names, forgotten = audit.subject.classes, audit.subject.forget_classes
    for panel, role in zip(panels, shown, strict=True):
        matrix = np.asarray(counts[role], dtype=float)
        _matrix(panel, matrix / np.maximum(matrix.sum(1, keepdims=True), 1), names, names, forgotten)
        panel.set_title(role, fontsize=9)
        panel.set_xlabel("predicted", fontsize=8)
    panels[0].set_ylabel("true", fontsize=8)
    return figure


def flows(audit: Audit) -> Figure:
    """Where the forget images go: the share of D_f that each model predicts as each class."""
    shares = needed(audit.flows, "flows")
    names = audit.subject.classes
    figure, chart = axes(0.4 * len(present(shares)) + 1.3, max(5.0, 0.5 * min(len(names), 30) + 1.5))
    matrix = np.asarray([shares[role] for role in present(shares)], dtype=float)
    _matrix(chart, matrix, present(shares), names, audit.subject.forget_classes)
    return figure


def _matrix(
    panel: Any, shares: np.ndarray[Any, Any], rows: Sequence[str], columns: Sequence[str], forgotten: Sequence[str]
) -> None:
    panel.imshow(shares, cmap=SHADES, vmin=0, vmax=1, aspect="auto")
    every = -(-len(columns) // 30)
    panel.set_xticks(range(0, len(columns), every), [plain(name, 14) for name in columns[::every]], fontsize=7)
    panel.tick_params(axis="x", rotation=90, length=0)
    step = -(-len(rows) // 30)
    panel.set_yticks(range(0, len(rows), step), [plain(name, 14) for name in rows[::step]], fontsize=7)
    panel.tick_params(axis="y", length=0)
    going = {plain(name, 14) for name in forgotten}
    for label in [*panel.get_xticklabels(), *panel.get_yticklabels()]:
        label.set_color(ORANGE if label.get_text() in going else "black")
    if len(columns) <= MOST_TEXT:
        for (row, column), share in np.ndenumerate(shares):
            if share >= 0.005:
                colour = "white" if share > 0.4 else "black"
                panel.text(column, row, f"{100 * share:.0f}", ha="center", va="center", fontsize=6, color=colour)
