"""A run is written whole, done once, by one process at a time, and never taken for another."""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest
from torch import nn

from unclass.comparison.cell import Cell, cells_of, place_of
from unclass.comparison.drive import run_plan
from unclass.comparison.layout import original_path
from unclass.comparison.plan import Plan
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.methods import Method, Needs
from unclass.methods.retrain import Retrain
from unclass.models import load, save, weights_digest
from unclass.records import read_record
from unclass.running import Settings
from unclass.storage import Lock
from unclass.training.engine import Engine

cells = import_module("unclass.comparison.cells")


@pytest.fixture
def plan(digits: ImageData, tmp_path: Path) -> Plan:
    return Plan(
        digits, tmp_path / "out", ["finetune"], [["3"]], model_options={"width": 4}, recipe=Retrain(epochs=1, lr=0.1),
        settings=Settings(batch_size=64),
    )  # fmt: skip


def run_of(plan: Plan, spec: str = "finetune") -> Any:
    return place_of(plan, next(cell for cell in cells_of(plan) if cell.spec == spec))


def test_a_record_is_not_taken_for_another_model(plan: Plan, engine: Engine) -> None:
    first = list(run_plan(plan, engine))
    model = load(run_of(plan).model)
    next(model.parameters()).data.add_(1)
    save(model, run_of(plan).model)
    again = list(run_plan(plan, engine))
    assert [record.weights for record in again] == [record.weights for record in first]
    assert weights_digest(load(run_of(plan).model)) == first[2].weights


@pytest.mark.parametrize("harm", ["gone", "half"])
def test_a_model_that_is_gone_or_damaged_is_made_again(plan: Plan, engine: Engine, harm: str) -> None:
    first = list(run_plan(plan, engine))
    path = run_of(plan).model
    content = path.read_bytes()
    path.unlink()
    if harm == "half":
        path.write_bytes(content[: len(content) // 2])
    assert [record.weights for record in run_plan(plan, engine)] == [record.weights for record in first]
    assert weights_digest(load(path)) == first[2].weights


def test_an_original_that_is_not_its_records_is_trained_again(plan: Plan, engine: Engine) -> None:
    plan = replace(plan, methods=[])
    list(run_plan(plan, engine))
    path = original_path(plan, 0)
    model = load(path)
    digest = weights_digest(model)
    next(model.parameters()).data.add_(1)
    save(model, path)
    list(run_plan(plan, engine))
    assert weights_digest(load(path)) == digest


def test_nothing_of_a_run_appears_unless_all_does_and_its_work_is_not_lost(
    plan: Plan, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):
        context.setattr(cells, "save", killed)
        list(run_plan(plan, engine))
    run = run_of(plan, "retrain")
    assert [path.name for path in run.folder.iterdir() if not path.name.startswith(".")] == ["resume"]
    stepped = []
    real = Engine._step

    def watched(*all_: Any) -> None:
        stepped.append(1)
        real(*all_)

    monkeypatch.setattr(Engine, "_step", watched)
    records = list(run_plan(replace(plan, methods=[]), engine))
    assert stepped == [] and records[1].scores and not run.resume.exists()


def test_what_another_process_works_on_comes_last_and_is_not_done_twice(plan: Plan, engine: Engine) -> None:
    labels = []
    with ExitStack() as other:
        other.enter_context(Lock(run_of(plan, "retrain").folder, folder=True))
        for record in run_plan(plan, engine):
            labels.append(record.label)
            if record.label == "finetune":
                other.close()
    assert labels == ["original", "finetune", "retrain"]


def test_the_claim_of_a_dead_process_is_taken_over(plan: Plan, engine: Engine) -> None:
    folder = run_of(plan).folder
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom unclass.storage import Lock\n"
        "Lock(Path(sys.argv[1]), folder=True).__enter__()\nprint('held', flush=True)\ntime.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        os.kill(holder.pid, signal.SIGKILL)
    assert [record.label for record in run_plan(plan, engine)] == ["original", "retrain", "finetune"]


@dataclass(frozen=True)
class Broken(Method):
    """A method that does not work."""

    needs: ClassVar[Needs] = Needs.FORGET

    def __call__(self, model: nn.Module, data: Any, engine: Engine) -> nn.Module:
        raise ZeroDivisionError("the seventh step")


def test_a_failure_is_told_and_kept_and_the_rest_goes_on(plan: Plan, engine: Engine) -> None:
    broken = replace(plan, methods=[Broken(), "finetune"])
    label = next(spec for spec in broken.chosen if "roken" in spec)
    records = {record.label: record for record in run_plan(broken, engine)}
    assert records["finetune"].scores and records[label].failed == "not run: ZeroDivisionError: the seventh step"
    run = run_of(broken, label)
    assert "the seventh step" in run.failure.read_text() and "Traceback" in run.failure.read_text()
    assert not run.record.exists()  # so the next call tries again


def test_seeds_of_unlearning_are_apart_from_those_of_training(plan: Plan, engine: Engine) -> None:
    plan = replace(plan, methods=["finetune", "logit-mask"], seeds=[0, 1], unlearn_seeds=[1, 7])
    records = list(run_plan(plan, engine))
    found = [(record.label, record.original_seed, record.seed) for record in records]
    assert len(found) == len(set(found)) == 2 * 2 + 2 * 2 * 2
    assert {(one, two) for label, one, two in found if label == "finetune"} == {(0, 1), (0, 7), (1, 1), (1, 7)}
    assert {(one, two) for label, one, two in found if label == "retrain"} == {(0, 0), (1, 1)}
    weights = {record.weights for record in records if record.label == "finetune"}
    assert len(weights) == 4
    assert place_of(plan, Cell("run", 1, "finetune", (3,), 1)).folder.name == "seed1"
    assert place_of(plan, Cell("run", 1, "finetune", (3,), 7)).folder.name == "seed1-7"
    for record in records:
        cell = Cell("run", record.original_seed or 0, record.label, (3,), record.seed)
        assert read_record(place_of(plan, cell).record) == record


def test_a_wrong_original_is_refused_at_once(plan: Plan, engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.safetensors"):
        list(run_plan(replace(plan, originals=[tmp_path / "nothing.safetensors"]), engine))
