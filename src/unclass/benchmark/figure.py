"""The figure of a bench: how the time grows."""

import math
from collections.abc import Sequence
from itertools import cycle
from typing import Any

from matplotlib.figure import Figure

from unclass.benchmark.result import Growth, Point
from unclass.errors import InputError
from unclass.report.figures.panels import BLUE, GREEN, GREY, ORANGE, PURPLE, grid

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, GREY)


def growth_figure(growth: Growth | None) -> Figure:
    """Seconds (median, least to most) against |D_f|, |D_r|, the number of classes and the size of the model."""
    if not growth:
        raise InputError("the bench has no growth; run it with `grow`")
    titles = {
        f"images to forget, |D_f|: exponent {growth.forget_images.exponent:.2f}": growth.forget_images.points,
        f"images that stay, |D_r|: exponent {growth.retain_images.exponent:.2f}": growth.retain_images.points,
        "classes": growth.classes.points,
        f"operations of a forward pass: exponent {growth.model.exponent:.2f}": growth.model.points,
    }
    figure, panels = grid(len(titles), (3.4, 2.6))
    for panel, (title, points) in zip(panels, titles.items(), strict=True):
        lines = _by_method(points)
        for colour, (method, own) in zip(cycle(COLOURS), lines.items(), strict=False):
            _line(panel, method, own, colour)
        _frame(panel, points)
        panel.set_title(title, fontsize=9)
        if len(lines) > 1:
            panel.legend(frameon=False, fontsize=7)
    return figure


def _frame(panel: Any, points: Sequence[Point]) -> None:
    """Logarithmic axes over whole decades of seconds, so that flat looks flat; a tick at every size."""
    least, most = min(point.spread[0] for point in points), max(point.spread[1] for point in points)
    panel.set(xscale="log", yscale="log", ylabel="seconds")
    panel.set_ylim(10 ** math.floor(math.log10(least)), 10 ** math.ceil(math.log10(most)))
    sizes = sorted({point.size for point in points})
    panel.set_xticks(sizes, [f"{size:,}" if size < 1e6 else f"{size / 1e6:,.0f} M" for size in sizes], fontsize=8)
    panel.minorticks_off()
    panel.spines[["top", "right"]].set_visible(False)


def _by_method(points: Sequence[Point]) -> dict[str, list[Point]]:
    lines: dict[str, list[Point]] = {}
    for point in points:
        lines.setdefault(point.method, []).append(point)
    return lines


def _line(panel: Any, method: str, points: Sequence[Point], colour: str) -> None:
    seconds = [point.seconds for point in points]
    below = [point.seconds - point.spread[0] for point in points]
    above = [point.spread[1] - point.seconds for point in points]
    sizes = [point.size for point in points]
    panel.errorbar(sizes, seconds, yerr=[below, above], marker="o", markersize=4, label=method, color=colour)
