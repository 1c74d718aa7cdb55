"""The figures for a paper, drawn from records, predictions and audits alone. Every function returns a figure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unclass.comparison.plan import REFERENCE
from unclass.predictions import Predictions
from unclass.report.figures.classes import confusion, flows, per_class
from unclass.report.figures.curves import cka, recalibration, relearning, roc
from unclass.report.figures.images import attention_grid, decision_space
from unclass.report.figures.panels import BLUE, GREEN, GREY, ORANGE, SET_NAMES, axes, grid, part, present

__all__ = [
    "AUDIT_FIGURES",
    "attack_success",
    "attention_grid",
    "cka",
    "confusion",
    "decision_space",
    "entropies",
    "entropy_shares",
    "flows",
    "model_attack_success",
    "per_class",
    "recalibration",
    "relearning",
    "roc",
    "times",
]


def attack_success(rows: Sequence[dict[str, Any]]) -> Figure:
    """Attack success rate of each method against the retrained model's line (the paper's Fig. 3)."""
    shown = [row for row in rows if row["attack_success_rate"] and row["method"] != REFERENCE]
    figure, bars = axes(0.42 * len(shown) + 1.2)
    values = [100 * row["attack_success_rate"]["mean"] for row in shown]
    spread = [100 * row["attack_success_rate"]["spread"] for row in shown]
    colours = [GREY if row["method"] == "original" else BLUE for row in shown]
    bars.barh([row["method"] for row in shown], values, xerr=spread, color=colours, height=0.6)
    for row in rows:
        if row["method"] == REFERENCE and row["attack_success_rate"]:
            line = 100 * row["attack_success_rate"]["mean"]
            bars.axvline(line, color=GREEN, linewidth=2, label=f"retrained: {line:.1f} %")
            bars.legend(frameon=False, loc="lower right")
    bars.set(xlabel="attack success rate on D_f (%)", xlim=(-2, 100))
    bars.invert_yaxis()
    return figure


def times(rows: Sequence[dict[str, Any]]) -> Figure:
    """Seconds of each method, on a logarithmic axis (the paper's Fig. 4)."""
    shown = [row for row in rows if row["seconds"]]
    figure, chart = axes(0.42 * len(shown) + 1.2)
    values = [row["seconds"]["mean"] for row in shown]
    colours = [GREEN if row["method"] == REFERENCE else BLUE for row in shown]
    bars = chart.barh([row["method"] for row in shown], values, color=colours, height=0.6)
    chart.bar_label(bars, [f" {value:.3g} s" for value in values])
    chart.set(xlabel="seconds")
    if values:
        chart.set(xscale="log", xlim=(min(values) / 2, max(values) * 4))
    chart.invert_yaxis()
    return figure


def entropies(models: Mapping[str, Mapping[str, Predictions]]) -> Figure:
    """Entropy of the outputs on D_r, D_f and the test images, a panel for each model (the paper's Fig. 6)."""
    most = max(float(np.log(next(iter(sets.values())).logits.shape[1])) for sets in models.values())
    edges = np.linspace(0, most, 41)
    shares: dict[str, dict[str, Any]] = {}
    for name, sets in models.items():
        shares[name] = {}
        for key in SET_NAMES:
            values = np.concatenate([sets[part].entropy.numpy() for part in _parts(key)])
            shares[name][key] = np.histogram(values, edges)[0] / len(values)
    return _distributions(edges, shares)


def entropy_shares(audit: Mapping[str, Any]) -> Figure:
    """Draw the same from the distributions that an audit keeps."""
    shares = part(audit, "entropy", "shares")
    return _distributions(np.asarray(audit["entropy"]["edges"]), {role: shares[role] for role in present(shares)})


def model_attack_success(audit: Mapping[str, Any]) -> Figure:
    """Attack success rate of each model of an audit against the retrained line, with the noise between retrainings."""
    rates = part(audit, "membership", "asr")
    names = {"retrained": REFERENCE}
    rows = [
        {"method": names.get(role, role), "attack_success_rate": {"mean": rates[role], "spread": 0.0}}
        for role in present(rates)
        if not role.startswith("retrained-")
    ]
    figure = attack_success(rows)
    again = [rates[role] for role in present(rates) if role.startswith("retrained")]
    if len(again) > 1:
        figure.axes[0].axvspan(100 * min(again), 100 * max(again), color=GREEN, alpha=0.15, linewidth=0)
    return figure


def _distributions(edges: np.ndarray[Any, Any], shares: Mapping[str, Mapping[str, Any]]) -> Figure:
    figure, panels = grid(len(shares), (3.4, 2.3), sharex=True, sharey=True)
    for panel, (name, sets) in zip(panels, shares.items(), strict=True):
        for (key, label), colour in zip(SET_NAMES.items(), (BLUE, ORANGE, GREY), strict=True):
            if sets.get(key) is not None:
                panel.stairs(sets[key], edges, color=colour, label=label, linewidth=1.4)
        panel.set_title(name, fontsize=9)
        panel.set_yscale("log")
    figure.supxlabel("entropy of the output (nats)", fontsize=9)
    figure.supylabel("share of images", fontsize=9)
    panels[0].legend(frameon=False, fontsize=8)
    return figure


def _parts(key: str) -> tuple[str, ...]:
    return ("retain_test", "forget_test") if key == "test" else (key,)


# Each figure of an audit, by the name of its file.
AUDIT_FIGURES: dict[str, Callable[[Mapping[str, Any]], Figure]] = {
    "attack-success": model_attack_success,
    "attention": attention_grid,
    "cka": cka,
    "confusion": confusion,
    "decision-space": decision_space,
    "entropy": entropy_shares,
    "flows": flows,
    "per-class": per_class,
    "recalibration": recalibration,
    "relearning": relearning,
    "roc": roc,
}
