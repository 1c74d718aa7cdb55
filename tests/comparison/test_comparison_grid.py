"""Many processes on one folder: every piece once, the same bits as one process, and who dies takes nothing along."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch
from torch import nn

from unclass import compare
from unclass.border.bounds import MOST_JOBS
from unclass.comparison.cell import Cell, cells_of, place_of
from unclass.comparison.drive import drive
from unclass.comparison.executors import CLUSTERS, Here, executor_for, processes
from unclass.comparison.executors.processes import Processes
from unclass.comparison.plan import Plan
from unclass.comparison.steps import steps
from unclass.comparison.worker import Done, Worker
from unclass.data import DataOptions, ImageData
from unclass.errors import InputError
from unclass.methods import Method, Needs
from unclass.methods.retrain import Retrain
from unclass.predictions import load_predictions
from unclass.records import read_record
from unclass.running import Settings
from unclass.training.engine import Engine

SOURCE = ("digits", DataOptions(per_class=40, workers=0))


@pytest.fixture
def plan(digits: ImageData, tmp_path: Path) -> Plan:
    return Plan(
        digits, tmp_path / "out", ["finetune", "logit-mask"], [["3"], ["5"]], model_options={"width": 4},
        recipe=Retrain(epochs=1, lr=0.1), settings=Settings(batch_size=64), unlearn_seeds=[0, 1],
    )  # fmt: skip


def contents(plan: Plan, cells: Sequence[Cell] | None = None) -> dict[str, Any]:
    """What determines that two comparisons are the same: weights, scores and every logit."""
    found: dict[str, Any] = {}
    for cell in cells or cells_of(plan, audited=False):
        if cell.kind == "run":
            run = place_of(plan, cell)
            record = read_record(run.record)
            logits = [one.logits for one in load_predictions(run.predictions).values()]
            found[str(run.folder.relative_to(plan.out))] = (record.weights, record.scores, torch.cat(logits).tolist())
    return found


def done_by(plan: Plan, executor: Any, cells: Sequence[Cell] | None = None) -> list[Done]:
    return list(drive(plan, cells or cells_of(plan, audited=False), executor))


def test_several_processes_give_what_one_gives_to_the_last_bit(plan: Plan, engine: Engine) -> None:
    done_by(plan, Here(Worker(plan, engine, 1)))
    other = replace(plan, out=plan.out.with_name("other"))
    done = done_by(other, Processes(Worker(other, engine, 1, SOURCE), 2))
    assert not any(one.failed for one in done) and len(done) == len(cells_of(plan, audited=False)) == 1 + 2 * 6
    assert contents(other) == contents(plan)


def test_two_comparisons_at_once_on_one_folder_do_every_piece_once(plan: Plan, engine: Engine) -> None:
    executors = [Processes(Worker(plan, engine, 1, SOURCE), 1) for _ in range(2)]
    results: list[list[Done]] = [[], []]
    threads = [
        threading.Thread(target=lambda place=place: results[place].extend(done_by(plan, executors[place])))
        for place in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = [{str(one.cell) + str(one.cell.classes): one.record for one in found} for found in results]
    assert records[0] == records[1]  # seconds and all: each run was done once, and both read its record
    assert not list(plan.out.rglob("*resume")) and not list(plan.out.rglob("failure.txt"))


def names_of_modules(pipe: Connection) -> None:
    pipe.send(list(sys.modules))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each process imports for itself")
def test_processes_are_forked_when_what_they_need_is_imported() -> None:
    here, there = processes._context().Pipe()
    process = processes._context().Process(target=names_of_modules, args=(there,))
    process.start()
    assert {"unclass.comparison.worker", "sklearn.linear_model", "torch._dynamo"} <= set(here.recv())
    process.join()


@dataclass(frozen=True)
class Killed(Method):
    """A method that ends its process, as the system does when memory is over, as often as a file says."""

    notes: str = ""
    needs: ClassVar[Needs] = Needs.FORGET

    def __call__(self, model: nn.Module, data: Any, engine: Engine) -> nn.Module:
        left = int(Path(self.notes).read_text())
        if left:
            Path(self.notes).write_text(str(left - 1))
            os.kill(os.getpid(), signal.SIGKILL)
        return model


@pytest.mark.parametrize("times, ends", [(1, "done"), (9, "its worker died 3 times")])
def test_a_killed_worker_costs_only_its_own_piece(plan: Plan, engine: Engine, times: int, ends: str) -> None:
    notes = plan.out.with_name("notes")
    notes.write_text(str(times))
    plan = replace(plan, methods=[Killed(str(notes)), "logit-mask"], classes=[["3"]], unlearn_seeds=[])
    label = next(spec for spec in plan.chosen if "illed" in spec)
    found = {one.cell.spec: one for one in done_by(plan, Processes(Worker(plan, engine, 1), 1))}
    assert found["logit-mask"].record and found["logit-mask"].record.scores
    killed = found[label]
    assert (killed.record and killed.record.scores) if ends == "done" else killed.failed.startswith(ends)


def test_an_executor_of_ones_own_needs_submit_alone(plan: Plan, engine: Engine) -> None:
    seen: list[Cell] = []

    class Mine(Here):
        def submit(self, cell: Cell) -> Any:
            seen.append(cell)
            return super().submit(cell)

    found = compare(
        "digits", "3", "logit-mask", out=plan.out, model_options={"width": 4}, recipe={"epochs": 1}, audited=False,
        data_options=SOURCE[1], engine=engine, cluster=lambda worker: Mine(worker),
    )  # fmt: skip
    assert [cell.kind for cell in seen] == ["train", "run", "run", "run"] and len(found.rows) == 3


def test_steps_count_to_the_end_and_tell_the_time_left(plan: Plan, engine: Engine) -> None:
    cells = cells_of(plan, audited=False)
    told = list(steps(plan, cells, Here(Worker(plan, engine))))
    assert [step.count for step in told] == list(range(1, len(cells) + 1))
    assert told[-1].seconds_left == 0 and all(step.seconds_left > 0 for step in told[:-1])
    assert str(told[-1]).endswith(f"({len(cells)} of {len(cells)})") and "logit-mask, 5, seed 0" in str(told[-1])


def test_the_time_left_of_audits_is_not_that_of_runs(
    plan: Plan, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where runs are quick, or were kept, the audits to come take as long as the first of them."""
    cells = cells_of(replace(plan, classes=[["3"]], unlearn_seeds=[]))
    done = [Done(cell, seconds=10.0 if cell.kind == "audit" else 0.1) for cell in cells]
    clock = SimpleNamespace(monotonic=iter(range(0, 1000, 11)).__next__)  # one piece after the other
    monkeypatch.setattr("unclass.comparison.steps.drive", lambda *_: iter(done))
    monkeypatch.setattr("unclass.comparison.steps.time", clock)
    told = list(steps(plan, cells, Here(Worker(plan, engine))))
    assert [one.seconds_left > 5 for one in told if one.done.cell.kind == "audit"] == [True, False]


def test_what_cannot_be_is_refused_in_one_line(plan: Plan, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker(plan, engine)
    with pytest.raises(InputError, match=r"unknown cluster 'slrum'.*did you mean slurm"):
        executor_for(worker, 1, "slrum", {})
    for count in (0, MOST_JOBS + 1):
        with pytest.raises(InputError, match=f"{count} `jobs` are not allowed; use 1 to 1,024"):
            executor_for(worker, count, None, {})
    with pytest.raises(InputError, match="takes no such option"):
        executor_for(worker, 1, "ray", {"partition": "gpu"})
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="torchrun runs inside"):
        executor_for(worker, 2, None, {})


def slurm(worker: Worker, cluster: str) -> Any:
    pytest.importorskip("submitit", reason="submitit is not installed")
    return CLUSTERS["slurm"](worker, cluster=cluster, array=2)


def ray(worker: Worker) -> Any:
    found = pytest.importorskip("ray", reason="ray is not installed")
    try:
        found.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    except Exception as error:  # ray gives itself half a minute, which a busy machine may not have
        found.shutdown()
        if "timed out" not in str(error):
            raise
        pytest.skip("ray did not start in time")
    return CLUSTERS["ray"](worker)


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(lambda worker: slurm(worker, "debug"), id="submitit-debug"),
        pytest.param(lambda worker: slurm(worker, "local"), id="submitit-local", marks=pytest.mark.long),
        pytest.param(ray, id="ray", marks=pytest.mark.long),
    ],
)
def test_a_scheduler_gives_what_one_process_gives_to_the_last_bit(
    plan: Plan, engine: Engine, place: Callable[[Worker], Any], request: pytest.FixtureRequest
) -> None:
    plan = replace(plan, classes=[["3"]], methods=["finetune"], unlearn_seeds=[])
    cells = [cell for cell in cells_of(plan, audited=False) if cell.kind == "train" or cell.spec == "finetune"]
    done_by(plan, Here(Worker(plan, engine, 1)), cells)
    other = replace(plan, out=plan.out.with_name("other"))
    try:
        done = done_by(other, place(Worker(other, engine, 1, SOURCE)), cells)
    finally:
        if request.node.callspec.id == "ray":
            import ray as library

            library.shutdown()
    assert not any(one.failed for one in done), [one.failed for one in done]
    assert len(done) == 2 and contents(other, cells) == contents(plan, cells)


def test_a_job_whose_time_is_over_is_submitted_again_as_it_was(plan: Plan, engine: Engine) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed")
    from unclass.comparison.executors.slurm import Requeued

    work = Requeued(Worker(plan, engine))
    cell = Cell("train", 0)
    again = work.checkpoint(cell)
    assert again.function is work and again.args == (cell,)


def test_a_thousandth_of_a_grid_costs_little_beside_the_work(plan: Plan, engine: Engine) -> None:
    """What a piece costs besides the worker's own work; docs/scale.md has the measured figure."""
    plan = replace(plan, methods=["logit-mask"], unlearn_seeds=list(range(20)))
    cells = cells_of(plan, audited=False)
    worker, working = Worker(plan, engine), 0.0

    def work(cell: Cell) -> Done:
        nonlocal working
        began = time.process_time()
        try:
            return worker(cell)
        finally:
            working += time.process_time() - began

    began = time.process_time()  # the processor's time: others may keep the machine busy
    assert len(list(drive(plan, cells, Here(work)))) == len(cells)  # type: ignore[arg-type]
    assert (time.process_time() - began - working) / len(cells) < 0.05


def test_the_command_shares_its_work_between_processes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from unclass.cli import run

    monkeypatch.chdir(tmp_path)
    Path("plan.toml").write_text(
        'data = "digits"\nclasses = ["3", "5"]\nmethods = ["logit-mask", { method = "finetune", '
        "options = { epochs = 1 } }]\nmodel_options = { width = 4 }\nrecipe = { epochs = 1 }\naudited = false\n"
        'out = "mine"\n[data_options]\nper_class = 40\nworkers = 0\n[engine]\nprecision = "float32"\n'
    )
    assert run(["compare", "--plan", "plan.toml", "--jobs", "2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer["tables"]) == [
        "Forgetting 3 of digits", "Forgetting 5 of digits", "Mean over 2 classes of digits",
    ]  # fmt: skip
    assert answer["rows"] == answer["tables"]["Mean over 2 classes of digits"]
    assert all(row["classes"] == 2 and row["runs"] == 2 for row in answer["rows"])
    text = (tmp_path / "mine" / "table.md").read_text()
    assert text.count("## ") == 3 and "n = 2 classes" in text
    assert (tmp_path / "mine" / "table.tex").read_text().count(r"\begin{table}") == 3
    assert (tmp_path / "mine" / "table.csv").read_text().count("\n") == 1 + 2 * 4
