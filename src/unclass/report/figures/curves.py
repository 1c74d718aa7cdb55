"""Figures with a line for each model: ROC, relearning, CKA by layer, recalibration."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unclass.audits.result import Audit
from unclass.report.figures.panels import GREEN, axes, grid, needed, present, style


def roc(audit: Audit) -> Figure:
    """ROC of telling D_f from D_ft, a panel for each score."""
    curves = needed(needed(audit.membership, "membership").roc, "membership", "roc")
    shown = present(curves)
    scores = list(dict.fromkeys(score for role in shown for score in curves[role]))
    figure, panels = grid(len(scores), (2.7, 2.7), sharex=True, sharey=True)
    for panel, score in zip(panels, scores, strict=True):
        panel.plot([0, 1], [0, 1], color="#BBBBBB", linewidth=0.8, linestyle=":")
        for role in shown:
            curve = curves[role].get(score)
            if curve:
                panel.plot(curve.fpr, curve.tpr, label=f"{role} ({curve.auc:.2f})", **style(role))
        panel.set_title(score.replace("_", " "), fontsize=9)
        panel.legend(frameon=False, fontsize=7, loc="lower right", title="AUC", title_fontsize=7)
    figure.supxlabel("false positives", fontsize=9)
    figure.supylabel("true positives", fontsize=9)
    return figure


def relearning(audit: Audit) -> Figure:
    """Accuracy on D_ft while the class is learned again: from forget images, and from retain images only."""
    held = needed(audit.relearning, "relearning")
    titles = {"from_forget": "from forget images", "from_retain": "from retain images only"}
    curves = {kind: found for kind in titles if (found := getattr(held, kind))}
    figure, panels = grid(len(curves), (3.6, 2.6), sharey=True)
    for panel, (kind, found) in zip(panels, curves.items(), strict=True):
        lines = {role: np.asarray(found[role], dtype=float).T for role in present(found)}
        for role, (step, accuracy) in lines.items():
            point = {"marker": "o"} if len(step) == 1 else {}  # a model that had nothing to relearn
            panel.plot(step, 100 * accuracy, label=role, **style(role), **point)
        count = held.images.get(kind)
        panel.set_title(titles[kind] + (f" ({count})" if count else ""), fontsize=9)
        panel.set(xlabel="step", ylim=(-2, 102))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("accuracy on D_ft (%)")
    panels[0].legend(frameon=False, fontsize=8)
    return figure


def cka(audit: Audit) -> Figure:
    """Linear CKA with the retrained model, layer by layer; shaded: between retrained models."""
    held = needed(audit.similarity, "similarity")
    values, layers = needed(held.cka, "similarity", "cka"), needed(held.layers, "similarity", "layers")
    figure, chart = axes(3.2, max(5.0, 0.45 * len(layers) + 2))
    for role in present(values):
        chart.plot(range(len(layers)), _numbers(values[role]), marker="o", markersize=3, label=role, **style(role))
    again = [_numbers(values[role]) for role in present(values) if role.startswith("retrained")]
    if len(again) > 1:
        chart.fill_between(range(len(layers)), np.min(again, 0), np.max(again, 0), color=GREEN, alpha=0.15, linewidth=0)
    chart.set_xticks(range(len(layers)), layers, rotation=45, ha="right", fontsize=8)
    chart.set(ylabel="linear CKA with retraining", ylim=(min(0, chart.get_ylim()[0]), 1.03))
    chart.legend(frameon=False, fontsize=8)
    return figure


def recalibration(audit: Audit) -> Figure:
    """Accuracy before (hollow) and after (filled) re-estimating the batch-norm statistics on remaining images."""
    held = needed(audit.recalibration, "recalibration")
    rows = [(role, key, name) for role in present(held) for key, name in (("forget", "D_f"), ("forget_test", "D_ft"))]
    figure, chart = axes(0.32 * len(rows) + 1)
    for place, (role, key, _) in enumerate(rows):
        colour = style(role)["color"]
        both = 100 * _numbers([held[role].before.get(key), held[role].after.get(key)])
        chart.plot(both, [place, place], color=colour, linewidth=2, alpha=0.5, zorder=1)
        chart.scatter(both, [place, place], s=32, c=["white", colour], edgecolors=colour, zorder=2)
    chart.set_yticks(range(len(rows)), [f"{role}, {name}" for role, _, name in rows])
    chart.set(xlabel="accuracy before (hollow) and after (filled), %", xlim=(-3, 103))
    chart.invert_yaxis()
    return figure


def _numbers(values: Sequence[float | None]) -> np.ndarray[Any, Any]:
    return np.asarray([np.nan if value is None else value for value in values], dtype=float)
