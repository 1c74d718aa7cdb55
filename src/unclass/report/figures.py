"""The paper's figures, drawn from records and predictions alone. Every function returns a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unclass.predictions import Predictions

# Okabe and Ito's palette: told apart by colour-blind readers too.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#8C8C8C"
SET_NAMES = {"retain": "D_r", "forget": "D_f", "test": "test"}


def attack_success(rows: Sequence[dict[str, Any]]) -> Figure:
    """Attack success rate of each method against the retrained model's line (the paper's Fig. 3)."""
    shown = [row for row in rows if row["attack_success_rate"] and row["method"] != "retrain"]
    figure, axes = _axes(0.42 * len(shown) + 1.2)
    values = [100 * row["attack_success_rate"]["mean"] for row in shown]
    spread = [100 * row["attack_success_rate"]["spread"] for row in shown]
    colours = [GREY if row["method"] == "original" else BLUE for row in shown]
    axes.barh([row["method"] for row in shown], values, xerr=spread, color=colours, height=0.6)
    for row in rows:
        if row["method"] == "retrain" and row["attack_success_rate"]:
            line = 100 * row["attack_success_rate"]["mean"]
            axes.axvline(line, color=GREEN, linewidth=2, label=f"retrained: {line:.1f} %")
            axes.legend(frameon=False, loc="lower right")
    axes.set(xlabel="attack success rate on D_f (%)", xlim=(-2, 100))
    axes.invert_yaxis()
    return figure


def times(rows: Sequence[dict[str, Any]]) -> Figure:
    """Seconds of each method, on a logarithmic axis (the paper's Fig. 4)."""
    shown = [row for row in rows if row["seconds"]]
    figure, axes = _axes(0.42 * len(shown) + 1.2)
    values = [row["seconds"]["mean"] for row in shown]
    colours = [GREEN if row["method"] == "retrain" else BLUE for row in shown]
    bars = axes.barh([row["method"] for row in shown], values, color=colours, height=0.6)
    axes.bar_label(bars, [f" {value:.3g} s" for value in values])
    axes.set(xlabel="seconds", xscale="log")
    if values:
        axes.set_xlim(min(values) / 2, max(values) * 4)
    axes.invert_yaxis()
    return figure


def entropies(models: Mapping[str, Mapping[str, Predictions]]) -> Figure:
    """Entropy of the outputs on D_r, D_f and the test images, a panel for each model (the paper's Fig. 6)."""
    columns = min(3, len(models))
    lines = -(-len(models) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.3 * lines + 0.4), layout="constrained")
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    most = max(float(np.log(next(iter(sets.values())).logits.shape[1])) for sets in models.values())
    bins = np.linspace(0, most, 41)
    for axes, (name, sets) in zip(grid.flat, models.items(), strict=False):
        for (key, label), colour in zip(SET_NAMES.items(), (BLUE, ORANGE, GREY), strict=True):
            values = np.concatenate([sets[part].entropy.numpy() for part in _parts(key)])
            weights = np.full(len(values), 1 / len(values))
            axes.hist(values, bins, weights=weights, histtype="step", color=colour, label=label, linewidth=1.4)
        axes.set_title(name, fontsize=9)
        axes.set_yscale("log")
    for axes in list(grid.flat)[len(models) :]:
        axes.remove()
    figure.supxlabel("entropy of the output (nats)", fontsize=9)
    figure.supylabel("share of images", fontsize=9)
    grid[0, 0].legend(frameon=False, fontsize=8)
    return figure


def _parts(key: str) -> tuple[str, ...]:
    return ("retain_test", "forget_test") if key == "test" else (key,)


def _axes(height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(7, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
