"""The figure of a bench: how the time of boundary-shift grows."""

import math
from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from unclass.errors import InputError
from unclass.report.figures.panels import BLUE, GREEN, ORANGE, grid

TITLES = {
    "forget_images": "images to forget, |D_f|",
    "retain_images": "images that stay, |D_r|",
    "classes": "classes",
    "model": "operations of a forward pass",
}
COLOURS = {"boundary-shift": BLUE, "boundary-expanding": ORANGE, "random-labels": GREEN}


def growth_figure(growth: Mapping[str, Any] | None) -> Figure:
    """Seconds (median, least to most) against |D_f|, |D_r|, the number of classes and the size of the model."""
    if not growth:
        raise InputError("the bench has no growth; run it with `grow`")
    figure, panels = grid(len(TITLES), (3.4, 2.6))
    for panel, (key, title) in zip(panels, TITLES.items(), strict=True):
        for method, points in _by_method(growth[key]["points"]).items():
            _line(panel, method, points)
        _frame(panel, growth[key]["points"])
        fitted = growth[key].get("exponent")
        panel.set_title(title + ("" if fitted is None else f": exponent {fitted:.2f}"), fontsize=9)
    panels[list(TITLES).index("classes")].legend(frameon=False, fontsize=7)
    return figure


def _frame(panel: Any, points: list[dict[str, Any]]) -> None:
    """Logarithmic axes over whole decades of seconds, so that flat looks flat; a tick at every size."""
    least, most = min(point["spread"][0] for point in points), max(point["spread"][1] for point in points)
    panel.set(xscale="log", yscale="log", ylabel="seconds")
    panel.set_ylim(10 ** math.floor(math.log10(least)), 10 ** math.ceil(math.log10(most)))
    sizes = sorted({point["size"] for point in points})
    panel.set_xticks(sizes, [f"{size:,}" if size < 1e6 else f"{size / 1e6:,.0f} M" for size in sizes], fontsize=8)
    panel.minorticks_off()
    panel.spines[["top", "right"]].set_visible(False)


def _by_method(points: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    lines: dict[str, list[dict[str, Any]]] = {}
    for point in points:
        lines.setdefault(point.get("method", "boundary-shift"), []).append(point)
    return lines


def _line(panel: Any, method: str, points: list[dict[str, Any]]) -> None:
    seconds = [point["seconds"] for point in points]
    below = [point["seconds"] - point["spread"][0] for point in points]
    above = [point["spread"][1] - point["seconds"] for point in points]
    sizes = [point["size"] for point in points]
    panel.errorbar(sizes, seconds, yerr=[below, above], marker="o", markersize=4, label=method, color=COLOURS[method])
