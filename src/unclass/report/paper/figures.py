"""The paper's bar charts with its own numbers beside ours."""

from typing import Any

from matplotlib.figure import Figure

from unclass.comparison.plan import REFERENCE
from unclass.errors import InputError
from unclass.report.figures.comparison import attack_success, times
from unclass.report.figures.panels import GREEN, ORANGE, axes, style
from unclass.report.paper.drawn import Drawn
from unclass.report.paper.experiment import Experiment
from unclass.report.paper.summary import Case, PaperRow
from unclass.report.paper.table import printed, printed_numbers


def attack_success_beside(experiment: Experiment, case: Case) -> Figure:
    """Attack success rates against the retrained line with its noise band, and the paper's numbers as diamonds."""
    rows = chosen(experiment, case)
    figure = attack_success(rows)
    chart = figure.axes[0]
    retrained = next((row for row in rows if row.method == REFERENCE and row.runs > 1), None)
    if retrained and (bounds := retrained.range.get("attack_success_rate")):
        chart.axvspan(100 * bounds[0], 100 * bounds[-1], color=GREEN, alpha=0.15, linewidth=0)
    shown = [row.method for row in rows if row.method != REFERENCE and row.scores.get("attack_success_rate")]
    for place, method in enumerate(shown):
        value = printed_numbers(experiment, method).get("ASR")
        if value is not None:
            chart.scatter([value], [place], marker="D", s=28, color=ORANGE, zorder=3, label="paper")
    _legend_once(chart)
    return figure


def times_beside(experiment: Experiment, case: Case) -> Figure:
    """Seconds on a logarithmic axis; beside each method its speed-up and the paper's."""
    rows = chosen(experiment, case)
    figure = times(rows)
    chart = figure.axes[0]
    names = []
    for row in [row for row in rows if row.seconds]:
        paper = printed_numbers(experiment, row.method)
        said = [f"{printed(paper['speed-up'])}×"] if "speed-up" in paper else []
        said += [f"{printed(paper['seconds'])} s"] if "seconds" in paper else []
        speed = f"{row.speed_up:,.3g}×" if row.speed_up else ""
        beside = f" (paper: {', '.join(said)})" if said else ""
        names.append(f"{row.method}\n{speed}{beside}" if row.method != REFERENCE else REFERENCE)
    chart.set_yticks(range(len(names)), names, fontsize=8)
    return figure


def recalibration_curves(drawn: Drawn) -> Figure:
    """Accuracy on D_f against the number of unlabelled remaining images that gave the statistics of batch norm."""
    curves = {role: curve for role, curve in (drawn.recalibration or {}).items() if curve}
    if not curves:
        raise InputError("no model here has batch norm; leave this figure out")
    figure, chart = axes(3.4, 6.0)
    for place, (role, curve) in enumerate(curves.items()):
        counts, accuracies = zip(*curve, strict=True)
        looks = dict(style(role)) if role in ("original", "retrained") else {}
        chart.plot(  # later lines are thinner: those that lie on others do not hide them
            range(len(counts)), [100 * value for value in accuracies], marker="o", markersize=max(3, 10 - 1.5 * place),
            label=role, **{**looks, "linewidth": max(1.0, 5 - place)},
        )  # fmt: skip
    longest = max(curves.values(), key=len)
    chart.set_xticks(range(len(longest)), ["as it is", *(f"{count:,.0f}" for count, _ in longest[1:])])
    chart.set(xlabel="unlabelled images of D_r", ylabel="accuracy on D_f (%)", ylim=(-3, 103))
    chart.legend(frameon=False, fontsize=8)
    return figure


def with_short_titles(figure: Figure) -> Figure:
    """Break the names over narrow panels, so that they do not run into each other."""
    for panel in figure.axes:
        panel.set_title(panel.get_title().replace("boundary-", "boundary-\n").replace("@", "\n@"), fontsize=7)
    return figure


def chosen(experiment: Experiment, case: Case) -> list[PaperRow]:
    """Return the rows that an experiment shows, in its order, as far as they ran."""
    found = {row.method: row for row in case.done()}
    return [found[method] for method in experiment.methods if method in found]


def _legend_once(chart: Any) -> None:
    handles, labels = chart.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    if unique:
        chart.legend(unique.values(), unique.keys(), frameon=False, loc="lower right")
