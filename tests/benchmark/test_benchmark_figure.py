"""The figure of growth, and the bench as it is saved."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from benches import cifar, growth

from unclass.benchmark.entrants import SHIFT
from unclass.benchmark.figure import growth_figure
from unclass.benchmark.promises import bars
from unclass.errors import InputError


def test_the_growth_figure_has_a_panel_for_each_quantity_and_names_methods_where_there_are_several() -> None:
    figure = growth_figure(growth())
    assert len(figure.axes) == 4
    assert [axes.get_legend() is not None for axes in figure.axes] == [False, False, True, False]
    with pytest.raises(InputError, match="`grow`"):
        growth_figure(None)


def test_a_saved_bench_is_json_with_whether_each_promise_holds_and_the_figure(tmp_path: Path) -> None:
    found = cifar(10.0, growth())
    saved = replace(found, bars=bars(found)).save(tmp_path)
    assert [path.name for path in saved.written] == ["bench.json", "growth.png"]
    written = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert written == saved.as_dict() and "written" not in written
    assert [bar["holds"] for bar in written["bars"]] == [True, True, True, False, True]
    assert written["growth"]["classes"]["extra_heads"] == {SHIFT: 0.1}
