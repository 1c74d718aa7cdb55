"""The figures of a comparison; those of an audit have their own tests."""

from io import BytesIO

import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from unclass.comparison.rows import Row, Spread
from unclass.predictions import Predictions
from unclass.report.figures.comparison import attack_success, entropies, times
from unclass.report.figures.panels import GREEN


def row(method: str, rate: float | None, seconds: float | None) -> Row:
    scores = {"attack_success_rate": None if rate is None else Spread(rate, 0.05)}
    return Row(method, 1, 0, scores, None if seconds is None else Spread(seconds, 0.0))


ROWS = [
    row("original", 0.8, None),
    row("retrain", 0.25, 30.0),
    row("finetune", 0.4, 3.0),
    row("boundary-shrink", 0.1, 0.5),
    row("wild", None, None),
]


def names(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_attack_success_has_a_bar_for_each_model_but_the_reference() -> None:
    figure = attack_success(ROWS)
    assert isinstance(figure, Figure)
    assert [bar.get_width() for bar in figure.axes[0].patches] == pytest.approx([80, 40, 10])
    assert names(figure) == ["original", "finetune", "boundary-shrink"]


def test_attack_success_draws_the_retrained_line() -> None:
    axes = attack_success(ROWS).axes[0]
    line = next(line for line in axes.lines if to_hex(line.get_color()) == to_hex(GREEN))
    assert list(line.get_xdata()) == pytest.approx([25, 25])
    legend = axes.get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == ["retrained: 25.0 %"]


def test_attack_success_does_without_a_retrained_model() -> None:
    axes = attack_success([ROWS[0], ROWS[2]]).axes[0]
    assert len(axes.patches) == 2 and axes.get_legend() is None


def test_times_has_a_bar_for_each_timed_method_on_a_logarithmic_axis() -> None:
    figure = times(ROWS)
    axes = figure.axes[0]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([30, 3, 0.5])
    assert axes.get_xscale() == "log"
    assert names(figure) == ["retrain", "finetune", "boundary-shrink"]
    assert [text.get_text().strip() for text in axes.texts] == ["30 s", "3 s", "0.5 s"]


def test_figures_can_be_drawn_when_everything_failed() -> None:
    for figure in (times([ROWS[-1]]), attack_success([ROWS[-1]])):
        figure.savefig(BytesIO(), format="png")
        assert len(figure.axes[0].patches) == 0


@pytest.mark.parametrize("count", [1, 2, 4])
def test_entropies_has_a_panel_for_each_model_with_three_curves(count: int) -> None:
    torch.manual_seed(0)
    sets = {
        name: Predictions(3 * torch.randn(9, 5), torch.zeros(9, dtype=torch.long))
        for name in ("retain", "forget", "retain_test", "forget_test")
    }
    figure = entropies({f"model {i}": sets for i in range(count)})
    assert [axes.get_title() for axes in figure.axes] == [f"model {i}" for i in range(count)]
    legend = figure.axes[0].get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == ["D_r", "D_f", "test"]
    for axes in figure.axes:
        assert [curve.get_data().values.sum() for curve in axes.patches] == pytest.approx([1, 1, 1])
