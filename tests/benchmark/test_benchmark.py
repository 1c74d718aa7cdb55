"""The bench: what it extrapolates, counts and compares, checked by hand; its timings only for consistency."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from unclass.benchmark import measure
from unclass.benchmark.entrants import AUTHORS, SHIFT, retrain_name
from unclass.benchmark.result import Bench
from unclass.benchmark.table import bench_notes, bench_table
from unclass.cli import run
from unclass.data import ImageData, Split
from unclass.errors import InputError
from unclass.models import Classifier, save, weights_digest
from unclass.models.cut import Work
from unclass.running import Settings
from unclass.training.engine import Engine

ROW_NAMES = [SHIFT, "boundary-shrink@paper", AUTHORS, "boundary-expanding", retrain_name(8), retrain_name(30)]


@pytest.fixture(scope="module")
def result(trained: Classifier, digits: ImageData, split: Split) -> Bench:
    before = weights_digest(trained)
    settings = Settings(batch_size=16)
    found = measure.measure_methods(
        trained, digits, split, Engine(precision="float32"), settings, repeats=1, grow=False
    )
    assert weights_digest(trained) == before
    return found


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
    with pytest.raises(InputError, match="`repeats` is 0; use 1 to"):
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
