"""The bench: what it extrapolates, counts and compares, checked by hand; its timings only for consistency."""

import json
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from unclass.benchmark import measure
from unclass.benchmark.entrants import AUTHORS, SHIFT, Entrant, by_epochs, retrain_name
from unclass.benchmark.figure import growth_figure
from unclass.benchmark.growth import class_growth, exponent, repeated, retain_growth
from unclass.benchmark.machine import Memory, gemm_peak, peak_memory
from unclass.benchmark.promises import bars
from unclass.benchmark.result import Bench, ClassCurve, Curve, Growth, Point, RetainCurve, Row, Stem, Subject
from unclass.benchmark.table import bench_notes, bench_table
from unclass.benchmark.timing import Conditions, Cost, Run, Stopwatch, interleave, spread
from unclass.cli import run
from unclass.data import ImageData, Split
from unclass.errors import InputError
from unclass.methods import BENCH, METHODS, Method
from unclass.methods.boundary_shrink import BoundaryShrink
from unclass.methods.configure import configure
from unclass.models import Classifier, save, weights_digest
from unclass.models.cut import Work
from unclass.progress import silent
from unclass.running import Settings
from unclass.training.engine import Engine

ROW_NAMES = [SHIFT, "boundary-shrink@paper", AUTHORS, "boundary-expanding", retrain_name(8), retrain_name(30)]
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the high-water mark")


@pytest.fixture(scope="module", autouse=True)
def quick_peak() -> Iterator[None]:
    """Measuring the peak takes seconds: here it is a round number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "gemm_peak", lambda precision, device: 1e11)
        yield


@pytest.fixture(scope="module")
def result(trained: Classifier, digits: ImageData, split: Split) -> Bench:
    before = weights_digest(trained)
    settings = Settings(batch_size=16)
    found = measure.measure_methods(
        trained, digits, split, Engine(precision="float32"), settings, repeats=1, grow=False
    )
    assert weights_digest(trained) == before
    return found


def entrant(split: Split, **changes: Any) -> Entrant:
    return replace(Entrant("a method", BoundaryShrink(), split, 100, 10, Cost(0, 0)), **changes)


def test_every_method_and_both_retrainings_have_a_row(result: Bench) -> None:
    assert [row.method for row in result.rows] == ROW_NAMES
    for row in result.rows:
        assert 0 < row.spread[0] <= row.seconds <= row.spread[1]
        assert row.passes > 1 and row.share_of_peak > 0
        assert row.peak_memory_gb > row.memory_increase_gb >= 0


def test_a_notebook_shows_a_line_for_each_method_and_unknown_ones_are_named(result: Bench) -> None:
    shown = result._repr_html_()
    assert shown.count("<tr>") == 1 + len(result.rows) and f"<td>{result.rows[0].seconds:.3g}</td>" in shown
    with pytest.raises(InputError, match="unknown method 'fastest' of the bench"):
        result.row("fastest")


def test_the_authors_row_adds_the_search_of_each_further_epoch(result: Bench) -> None:
    row = result.row(AUTHORS)
    assert row.epochs == 10
    assert row.repeated_search_seconds == pytest.approx(9 * row.before_training_seconds)
    assert row.seconds == pytest.approx(row.seconds_with_one_search + row.repeated_search_seconds)
    assert "search added 9 times, as the released code repeats it" in row.note


def test_the_paper_row_searches_once(result: Bench) -> None:
    row = result.row("boundary-shrink@paper")
    assert row.repeated_search_seconds == 0
    assert row.seconds == row.seconds_with_one_search


def test_ratios_are_those_of_the_seconds(result: Bench) -> None:
    seconds = {row.method: row.seconds for row in result.rows}
    for row in result.rows:
        assert row.times_faster_than_authors * row.seconds == pytest.approx(seconds[AUTHORS])
        assert row.times_faster_than_retrain * row.seconds == pytest.approx(seconds[retrain_name(8)])


def test_operations_of_the_search_and_of_training_are_what_the_method_does(result: Bench) -> None:
    """In forward passes: a search is three and the gradient of the images, a training step one and two backward."""
    passes = {row.method: row.passes for row in result.rows}
    search, epoch = 4, 3
    assert passes["boundary-shrink@paper"] == pytest.approx(search + 10 * epoch, rel=0.05)
    assert passes[AUTHORS] == pytest.approx(10 * (search + epoch), rel=0.05)
    assert passes[retrain_name(30)] == pytest.approx(30 * epoch, rel=0.05)


def test_boundary_shift_is_measured_whole(result: Bench) -> None:
    row = result.rows[0]
    assert row.method == SHIFT and row.measured_epochs == row.epochs and row.note == ""


def test_there_are_no_bars_for_digits(result: Bench) -> None:
    assert result.bars == ()


def test_a_whole_run_is_extrapolated_as_by_hand(split: Split) -> None:
    """Search 2 s; one epoch on a quarter of the images 3 s; ten epochs; searched once, or in every epoch."""
    cost = Cost(before=2.0, training=3.0)
    assert entrant(split, share=0.25).whole(cost) == 2 + 10 * 4 * 3
    assert entrant(split, searches=10).whole(cost) == 10 * 2 + 10 * 3
    assert entrant(split, measured_epochs=10).whole(cost) == 2 + 3


def test_a_row_says_what_was_not_measured(split: Split) -> None:
    assert entrant(split, share=0.25).note() == "1 of 10 epochs measured, on 25 of 100 images"
    assert entrant(split, measured_epochs=10).note() == ""


def test_retraining_of_thirty_epochs_stands_once(split: Split) -> None:
    assert [each.epochs for each in by_epochs(entrant(split, epochs=12))] == [12, 30]
    assert [each.epochs for each in by_epochs(entrant(split, epochs=30))] == [30]


def test_a_stopwatch_parts_training_from_what_came_before() -> None:
    times = iter([5.0, 7.0, 11.0])
    watch = Stopwatch(lambda: next(times))
    watch.start(nn.Identity())
    for step in (1, 2):
        watch.after_step(step, nn.Identity(), torch.zeros(1))
    assert watch.cost(whole=20.0) == Cost(before=14.0, training=6.0)


def test_runs_take_turns() -> None:
    done: list[str] = []
    runs = {name: lambda name=name: done.append(name) or len(done) for name in "ab"}  # type: ignore[misc, func-returns-value]
    assert interleave(runs, 2, silent, "") == {"a": [1, 3], "b": [2, 4]}
    assert done == ["a", "b", "a", "b"]


def test_the_spread_is_median_least_and_most() -> None:
    assert spread([3.0, 1.0, 8.0]) == (3.0, (1.0, 8.0))


def test_operations_of_a_convolution_are_those_counted_by_hand() -> None:
    layer, x = nn.Conv2d(3, 5, 3, padding=1), torch.rand(2, 3, 8, 8, requires_grad=True)
    forward = 2 * (2 * 8 * 8) * 5 * (3 * 3 * 3)
    with Work() as counter:
        y = layer(x)
        assert counter.operations == forward
        y.sum().backward()
    assert counter.operations == 3 * forward


def test_gradients_of_images_can_be_counted() -> None:
    layer, x = nn.Linear(4, 6), torch.rand(2, 4, requires_grad=True)
    with Work() as counter:
        torch.autograd.grad(F.cross_entropy(layer(x), torch.tensor([0, 1])), x)
    assert counter.operations == 2 * (2 * 2 * 4 * 6)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_peak_is_positive(precision: str) -> None:
    assert gemm_peak(precision, sizes=(64, 128), seconds=0.01) > 0


@linux
def test_peak_memory_is_that_of_the_block_alone() -> None:
    with peak_memory() as large:
        torch.ones(20_000_000)
    with peak_memory() as small:
        torch.ones(1000)
    assert large.increase > 75e6
    assert small.increase < 20e6


def test_the_exponent_is_the_slope_of_the_logarithms() -> None:
    assert exponent([(n, 3.0 * n**2) for n in (1, 10, 50)]) == pytest.approx(2)


def test_images_are_repeated_where_there_are_too_few(split: Split) -> None:
    count = len(split.forget)
    more = repeated(split.forget, count + 2)
    assert more.places.tolist() == [*split.forget.places.tolist(), *split.forget.places[:2].tolist()]


@linux
def test_a_shadow_neuron_does_not_copy_a_large_head() -> None:
    found = class_growth(
        Conditions(Engine(precision="float32"), Settings(), repeats=1), ["boundary-expanding"], (100_000,)
    )
    with peak_memory() as copied:
        nn.Linear(128, 100_001)
    assert copied.increase > 0.9e6 * found.head_mb
    assert found.extra_heads["boundary-expanding"] < 0.5


class InStep(Conditions):
    """Takes a second, and another for each hundred images that stay."""

    def time(self, model: nn.Module, split: Split, method: Method) -> Run:
        return Run(Cost(before=1.0, training=len(split.retain) / 100), Memory(before=0))


def test_growth_with_the_images_that_stay_is_the_time_of_tenfold_over_that_of_one(trained: Any, split: Split) -> None:
    found = retain_growth(trained, split, configure(SHIFT), InStep(Engine(precision="float32"), Settings(), repeats=1))
    few, many = found.points
    assert many.size == 10 * few.size == 10 * len(split.retain)
    assert found.ratio == pytest.approx((1 + many.size / 100) / (1 + few.size / 100)) and found.noise == 0


def row(method: str, seconds: float) -> Row:
    numbers = {one.name: 1 for one in fields(Row)} | {"spread": (seconds, seconds), "note": "", "peak_memory_gb": 1.5}
    return Row(**(numbers | {"method": method, "seconds": seconds}))  # type: ignore[arg-type]


def points(*methods: str) -> tuple[Point, ...]:
    return tuple(Point(size, method, 1.0, (0.9, 1.2)) for method in methods for size in (10, 100))


def growth(ratio: float = 1.0, noise: float = 0.0) -> Growth:
    flat = Curve(points(SHIFT), 0.0)
    classes = ClassCurve(points(SHIFT, "another"), 51.2, {SHIFT: 0.1})
    return Growth(flat, RetainCurve(points(SHIFT), 0.0, ratio, noise), classes, flat)


def cifar(shift: float, grown: Growth | None = None) -> Bench:
    rows = tuple(row(*one) for one in {SHIFT: shift, AUTHORS: 200.0, retrain_name(30): 3000.0}.items())
    stem, hardware = Stem(1.0, (1.0, 1.0), "layer", 1.0, 0.59), {"processor": "", "cores": 2, "threads": 1, "load": 0.0}
    return Bench(
        "cifar10", Subject("all-cnn", 1), ("deer",), {}, "float32", hardware, 1, 1.0, rows, {}, True, stem, grown
    )


def test_bars_hold_at_their_limits_and_not_beyond() -> None:
    assert [bar.holds for bar in bars(cifar(10.0))] == [True, True, True, False]
    assert [bar.holds for bar in bars(cifar(10.1))] == [False, False, True, False]


@pytest.mark.parametrize(("ratio", "noise", "holds"), [(1.09, 0.0, True), (1.2, 0.0, False), (1.2, 0.3, True)])
def test_time_is_flat_within_a_tenth_or_the_noise(ratio: float, noise: float, holds: bool) -> None:
    assert bars(cifar(10.0, growth(ratio, noise)))[-1].holds is holds


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


def test_what_is_timed_is_what_the_methods_declare() -> None:
    declared = [(name, preset) for name, kind in METHODS.items() for preset in kind.bench_presets]
    assert sorted(BENCH) == sorted(f"{name}@{preset}" if preset else name for name, preset in declared)
    assert BENCH[0] == SHIFT and all(set(METHODS[name].presets) >= {preset} - {""} for name, preset in declared)


def test_the_table_has_every_row_and_its_notes_name_the_hardware(result: Bench) -> None:
    assert bench_table(result).row_count == len(ROW_NAMES)
    notes = "\n".join(bench_notes(result))
    assert result.hardware["processor"] in notes and "1 of 30 epochs measured" in notes


@pytest.mark.parametrize(("load", "share", "busy"), [(0.1, 1.0, False), (7.0, 1.0, True), (0.1, 0.5, True)])
def test_a_busy_machine_is_named(result: Bench, load: float, share: float, busy: bool) -> None:
    hardware = {**result.hardware, "cores": 2, "load": load}
    notes = bench_notes(replace(result, hardware=hardware, processor_share=share))
    assert any("times are not to be relied on" in note for note in notes) is busy


def test_too_few_repeats_are_refused(trained: Classifier, digits: ImageData, split: Split, engine: Engine) -> None:
    with pytest.raises(InputError, match="at least 1"):
        measure.measure_methods(trained, digits, split, engine, Settings(), repeats=0)


def test_the_command_prints_json_alone_and_writes_it(
    trained: Classifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = save(trained, tmp_path / "model.safetensors"), tmp_path / "out"
    small = ["--per-class", "20", "--workers", "0", "--repeats", "1", "--no-grow", "--retrain-images", "64"]
    state = torch.get_rng_state()
    assert run(["bench", "digits", "--original", str(model), "--out", str(out), *small, "--json"]) == 0
    assert torch.equal(torch.get_rng_state(), state)
    printed = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in printed["rows"]] == ROW_NAMES
    assert all(row["seconds"] > 0 for row in printed["rows"])
    assert {"rows", "peak", "growth", "bars", "hardware"} <= printed.keys()
    assert printed["model"]["weights"] == "model.safetensors"
    assert "on 64 of 180 images" in printed["rows"][-1]["note"]
    assert json.loads((out / "bench.json").read_text()) == printed
