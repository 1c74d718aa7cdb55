"""The figures for a paper, drawn from records, predictions and audits alone. Every function returns a figure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unclass.audits.result import Audit
from unclass.comparison.plan import ORIGINAL, REFERENCE
from unclass.comparison.rows import Row, Spread
from unclass.predictions import Predictions
from unclass.report.figures.classes import confusion, flows, per_class
from unclass.report.figures.curves import cka, recalibration, relearning, roc
from unclass.report.figures.images import attention_grid, decision_space
from unclass.report.figures.panels import BLUE, GREEN, GREY, ORANGE, SET_NAMES, axes, grid, needed, present

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


def attack_success(rows: Sequence[Row]) -> Figure:
    """Attack success rate of each method against the retrained model's line (the paper's Fig. 3)."""
    rates = {row.method: rate for row in rows if (rate := row.scores.get("attack_success_rate"))}
    reference = rates.pop(REFERENCE, None)
    figure, bars = axes(0.42 * len(rates) + 1.2)
    values, spread = [100 * rate.mean for rate in rates.values()], [100 * rate.spread for rate in rates.values()]
    colours = [GREY if method == ORIGINAL else BLUE for method in rates]
    bars.barh(list(rates), values, xerr=spread, color=colours, height=0.6)
    if reference is not None:
        line = 100 * reference.mean
        bars.axvline(line, color=GREEN, linewidth=2, label=f"retrained: {line:.1f} %")
        bars.legend(frameon=False, loc="lower right")
    bars.set(xlabel="attack success rate on D_f (%)", xlim=(-2, 100))
    bars.invert_yaxis()
    return figure


def times(rows: Sequence[Row]) -> Figure:
    """Seconds of each method, on a logarithmic axis (the paper's Fig. 4)."""
    seconds = {row.method: row.seconds.mean for row in rows if row.seconds}
    figure, chart = axes(0.42 * len(seconds) + 1.2)
    values = list(seconds.values())
    colours = [GREEN if method == REFERENCE else BLUE for method in seconds]
    bars = chart.barh(list(seconds), values, color=colours, height=0.6)
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
    shares: dict[str, dict[str, Sequence[float]]] = {}
    for name, sets in models.items():
        shares[name] = {}
        for key in SET_NAMES:
            held = [sets[part].entropy.numpy() for part in _parts(key) if part in sets]
            if held:  # there may be no test images
                values = np.concatenate(held)
                shares[name][key] = tuple(np.histogram(values, edges)[0] / len(values))
    return _distributions(edges, shares)


def entropy_shares(audit: Audit) -> Figure:
    """Draw the same from the distributions that an audit keeps."""
    held = needed(audit.entropy, "entropy")
    shares = needed(held.shares, "entropy", "shares")
    return _distributions(np.asarray(held.edges), {role: shares[role] for role in present(shares)})


def model_attack_success(audit: Audit) -> Figure:
    """Attack success rate of each model of an audit against the retrained line, with the noise between retrainings."""
    known = needed(needed(audit.membership, "membership").asr, "membership", "asr")
    rates = {role: rate for role in present(known) if (rate := known[role]) is not None}
    names = {"retrained": REFERENCE}
    rows = [
        Row(names.get(role, role), 1, 0, {"attack_success_rate": Spread(rate, 0.0)})
        for role, rate in rates.items()
        if not role.startswith("retrained-")
    ]
    figure = attack_success(rows)
    again = [rate for role, rate in rates.items() if role.startswith("retrained")]
    if len(again) > 1:
        figure.axes[0].axvspan(100 * min(again), 100 * max(again), color=GREEN, alpha=0.15, linewidth=0)
    return figure


def _distributions(edges: np.ndarray[Any, Any], shares: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
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
AUDIT_FIGURES: dict[str, Callable[[Audit], Figure]] = {
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
