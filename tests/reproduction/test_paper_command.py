"""The whole command at scale smoke, on made-up pictures in CIFAR-10's layout."""

import json
import os
import pickle
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unclass.cli import run
from unclass.comparison.layout import original_path
from unclass.data import DataOptions
from unclass.errors import InputError
from unclass.methods.amnesiac.recorder import UpdateRecorder
from unclass.reproduction.experiment import find, read_experiment, read_setup
from unclass.reproduction.schedule import list_jobs, load, make_plans, time_left, why_not

pytestmark = pytest.mark.long  # a small paper from end to end

cells, originals, recording = (
    import_module(f"unclass.comparison.{name}") for name in ("cells", "originals", "recording")
)
NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
RECIPE, NETWORK = {"epochs": 1}, {"width": 0.1}
FIGURES = ("attack-success", "time", "decision-space", "entropy", "recalibration")


def write_cifar(folder: Path) -> Path:
    """Ten classes, each a colour with noise: ten training and four test images of each."""
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    colours = random.integers(0, 256, (10, 3))
    for name, each in [*((f"data_batch_{number}", 2) for number in range(1, 6)), ("test_batch", 4)]:
        labels = [label for label in range(10) for _ in range(each)]
        pixels = colours[labels][:, :, None] + random.normal(0, 40, (len(labels), 3, 1024))
        content = {b"data": pixels.clip(0, 255).astype(np.uint8).reshape(len(labels), 3072), b"labels": labels}
        (folder / name).write_bytes(pickle.dumps(content, protocol=2))
    meta = {b"label_names": [name.encode() for name in NAMES]}
    (folder / "batches.meta").write_bytes(pickle.dumps(meta, protocol=2))
    return folder


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cifar(tmp_path_factory.mktemp("data") / "cifar-10-batches-py")


@pytest.fixture(scope="module")
def out(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper") / "out"
    assert command(root, folder) == 0
    return folder


def command(root: Path, out: Path, *more: str, what: str = "cifar10") -> int:
    always = ["--root", str(root), "--out", str(out), "--precision", "float32", "--workers", "0"]
    small = [f"--set=epochs={RECIPE['epochs']}", f"--model-set=width={NETWORK['width']}"]
    return run(["paper", what, *always, *small, *more])


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of all training and unlearning that really ran."""
    done: list[str] = []
    for place, name in ((cells, "unlearn"), (originals, "train_model")):
        real = getattr(place, name)

        def watched(*all_: Any, real: Any = real, name: str = name) -> Any:
            done.append(name)
            return real(*all_)

        monkeypatch.setattr(place, name, watched)
    yield done


def test_every_table_figure_record_and_the_report_are_written(out: Path) -> None:
    for name in ("table1", "table2", "table3"):
        for kind in ("md", "tex", "csv"):
            assert (out / "tables" / f"{name}.{kind}").stat().st_size > 200
    for name in FIGURES:
        assert (out / "figures" / f"{name}-deer.png").read_bytes().startswith(b"\x89PNG")
        assert (out / "figures" / f"{name}-deer.pdf").read_bytes().startswith(b"%PDF")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png") == len(FIGURES)
    assert "99.97" in page and "<script" not in page and "http:" not in page and "https:" not in page
    assert len(list(out.glob("runs/4-deer/*/seed*/record.json"))) == 2 * 16


def test_attention_maps_are_drawn_only_with_pictures(root: Path, out: Path, tmp_path: Path) -> None:
    assert not [file for file in out.rglob("*") if "attention" in file.name]
    assert "pictures of the erased class, which were not asked for" in (out / "report.html").read_text(encoding="utf-8")
    copy = Path(shutil.copytree(out, tmp_path / "copy"))
    assert command(root, copy, "--no-run", "--with-pictures", what="cifar10/attention") == 0
    assert (copy / "figures" / "attention-deer.png").read_bytes().startswith(b"\x89PNG")
    assert (copy / "pictures" / "attention-deer.json").is_file()


def test_every_method_ran_and_the_costs_of_amnesiac_and_fisher_are_there(out: Path) -> None:
    case = json.loads((out / "summary.json").read_text(encoding="utf-8"))["cases"][0]
    rows = {row["method"]: row for row in case["rows"]}
    assert all(row["runs"] == 2 and not row["failed"] for row in rows.values())
    recorded = sum(file.stat().st_size for file in out.glob("updates/amnesiac/seed0/*.safetensors"))
    assert rows["amnesiac"]["updates"]["bytes"] == recorded > 0
    assert rows["amnesiac"]["updates"]["recording_seconds"] > 0
    assert rows["fisher"]["sample"] == 512 and rows["fisher"]["seconds"]["mean"] > 0


def test_a_summary_holds_no_path_of_this_machine(out: Path) -> None:
    assert str(out.parent) not in (out / "summary.json").read_text(encoding="utf-8")


def test_a_second_run_does_nothing_but_write_the_same_again(out: Path, root: Path, ran: list[str]) -> None:
    kept = {path: path.read_bytes() for path in [*out.glob("tables/*"), out / "summary.json"]}
    pictures = {path: path.stat().st_mtime_ns for path in out.glob("pictures/*")}
    assert command(root, out) == 0
    assert ran == []
    assert {path: path.read_bytes() for path in kept} == kept
    assert {path: path.stat().st_mtime_ns for path in pictures} == pictures


def test_a_run_that_was_edited_or_swapped_is_in_no_table(root: Path, out: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(out, tmp_path / "copy"))
    runs = copy / "runs" / "4-deer"
    record = runs / "finetune" / "seed0" / "record.json"
    content = json.loads(record.read_text(encoding="utf-8"))
    content["cost"]["seconds"] /= 100
    record.write_text(json.dumps(content), encoding="utf-8")
    shutil.copy(runs / "retrain" / "seed0" / "model.safetensors", runs / "boundary-shrink" / "seed0")
    assert command(root, copy, "--no-run", what="cifar10/table1") == 0
    case = json.loads((copy / "summary.json").read_text(encoding="utf-8"))["cases"][0]
    done = {row["method"]: row["runs"] for row in case["rows"]}
    assert (done["finetune"], done["boundary-shrink"], done["boundary-expanding"]) == (1, 1, 2)


def test_what_is_left_is_estimated_from_what_is_done(out: Path, root: Path) -> None:
    _, _, plans, jobs = opened(out, root)
    assert time_left(plans, jobs) == (0, 0)
    took = jobs[1].seconds()
    assert (jobs[1].method, jobs[0].method) == ("retrain", "original")
    _, _, new_plans, new_jobs = opened(out.parent / "nothing", root)
    assert time_left(new_plans, new_jobs) == (0, 2 + 2 * 15)  # two originals, fifteen methods on two seeds
    both = [*(job for job in jobs if job.seed == 0), *(job for job in new_jobs if job.seed == 1)]
    seconds, unknown = time_left([new_plans[1]], both)
    assert unknown == 0 and seconds >= 2 * took


def opened(out: Path, root: Path) -> Any:
    setup = read_setup(find("cifar10")[0], "smoke")
    experiments = [read_experiment(file) for file in find("cifar10")[1]]
    data = load(setup, DataOptions(root))
    plans = make_plans(setup, experiments, data, out, recipe=RECIPE, model_options=NETWORK)
    return setup, experiments, plans, list_jobs(setup, experiments, plans)


SETUP = """
title = "Mine"
data = "cifar10"
model = "all-cnn"
[scale.smoke]
runs = [{ class = "deer", seeds = [0, 1] }, { class = "cat", seeds = [1] }]
seeds_of = { amnesiac = [1] }
without = { fisher = "too slow" }
"""
TABLE = 'title = "T"\ndraw = "table"\ncolumns = ["D_r"]\nmethods = ["retrain", "amnesiac", "fisher", "logit-mask"]\n'


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "setup.toml").write_text(SETUP, encoding="utf-8")
    (folder / "table.toml").write_text(TABLE, encoding="utf-8")
    return folder


def test_ones_own_experiment_with_other_seeds_for_each_class(mine: Path, root: Path, tmp_path: Path) -> None:
    assert command(root, tmp_path / "out", what=str(mine)) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    cases = {case["class"]: {row["method"]: row for row in case["rows"]} for case in summary["cases"]}
    assert {name: case["retrain"]["seeds"] for name, case in cases.items()} == {"deer": [0, 1], "cat": [1]}
    assert cases["deer"]["amnesiac"]["seeds"] == cases["cat"]["amnesiac"]["seeds"] == [1]
    assert cases["deer"]["fisher"]["why_not"] == "not run: too slow"
    assert not (tmp_path / "out" / "updates" / "seed0").exists()


def test_amnesiac_without_updates_says_so_and_the_rest_goes_on(
    mine: Path, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise InputError("no space left")

    monkeypatch.setattr(recording, "require_space", full)
    assert command(root, tmp_path / "out", what=str(mine)) == 0
    table = (tmp_path / "out" / "tables" / "table.md").read_text(encoding="utf-8")
    assert "amnesiac: not run: no recorded updates of this model and class." in table
    assert (tmp_path / "out" / "runs" / "3-cat" / "logit-mask" / "seed1" / "record.json").exists()


def test_no_run_writes_what_is_done_and_trains_nothing(mine: Path, root: Path, tmp_path: Path, ran: list[str]) -> None:
    assert command(root, tmp_path / "out", "--no-run", what=str(mine)) == 0
    assert ran == [] and (tmp_path / "out" / "report.html").exists()


def test_originals_are_given_one_for_each_seed(
    mine: Path, out: Path, root: Path, tmp_path: Path, ran: list[str]
) -> None:
    _, _, plans, _ = opened(out, root)
    given = [str(original_path(plan, plan.seeds[0])) for plan in plans]
    assert command(root, tmp_path / "out", "--original", given[0], what=str(mine)) == 2
    assert ran == []
    more = ["--original", given[0], "--original", given[1]]
    assert command(root, tmp_path / "out", *more, what=str(mine)) == 0
    assert "train_model" not in ran
    assert "amnesiac: not run: no recorded updates" in (tmp_path / "out/tables/table.md").read_text(encoding="utf-8")


def test_faces_ask_for_pretrained_weights_unless_at_scale_smoke(root: Path, tmp_path: Path) -> None:
    setup = read_setup(find("faces")[0], "fair")
    data = load(read_setup(find("cifar10")[0], "smoke"), DataOptions(root))
    with pytest.raises(InputError, match="`set` start=FILE"):
        make_plans(setup, [], data, tmp_path, recipe={}, model_options={})
    assert not read_setup(find("faces")[0], "smoke").pretrained
    assert why_not("fisher", setup, 1) == "on seed 0 alone" and not why_not("fisher", setup, 0)


def test_the_list_and_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["paper", "--list"]) == 0
    assert "cifar10/table1: Table 1" in capsys.readouterr().out
    assert run(["paper", "cifar11"]) == 2
    assert "cifar10" in capsys.readouterr().err


def test_recording_is_timed_for_each_step(tmp_path: Path) -> None:
    from unclass.methods.amnesiac.timed_recorder import TimedRecorder, recorded_bytes

    recorder = TimedRecorder(tmp_path, [0])
    assert isinstance(recorder, UpdateRecorder) and recorder.seconds_each() == 0
    recorder.seconds, recorder.steps = 6.0, 3
    assert recorder.seconds_each() == 2.0
    (tmp_path / "1.safetensors").write_bytes(b"12345")
    assert recorded_bytes(tmp_path) == (1, 5)


@pytest.mark.real
@pytest.mark.skipif("UNCLASS_CIFAR10" not in os.environ, reason="UNCLASS_CIFAR10 names no folder with CIFAR-10")
def test_smoke_on_the_real_pictures(tmp_path: Path) -> None:
    where = ["--root", os.environ["UNCLASS_CIFAR10"], "--out", str(tmp_path / "out")]
    assert run(["paper", "cifar10", *where, "--precision", "float32", "--workers", "0"]) == 0
