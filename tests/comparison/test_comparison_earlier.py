"""A folder of version 0.1.0: it still opens, and is never written over."""

import hashlib
import json
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from unclass import Comparison, doctor, evaluate, forget, read_record
from unclass.cli import run as run_command
from unclass.comparison.drive import run_plan
from unclass.comparison.plan import Plan
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.methods.amnesiac.recorder import check_updates
from unclass.methods.retrain import Retrain
from unclass.models import Classifier, load, weights_digest
from unclass.running import Settings
from unclass.training.engine import Engine

WRITTEN = Path(__file__).with_name("version_0_1_0")  # by `unclass compare` and `unclass forget` of that version


@pytest.fixture
def plan(digits: ImageData, tmp_path: Path) -> Plan:
    """A plan whose folder lies there as version 0.1.0 left it."""
    plan = Plan(
        digits, tmp_path / "out", ["random-labels"], [["3"]],
        model_options={"width": 4}, recipe=Retrain(epochs=1, lr=0.1), settings=Settings(batch_size=64),
    )  # fmt: skip
    list(run_plan(plan, Engine(precision="float32")))
    digest = names_and_bytes(load(plan.out / "originals" / "seed0.safetensors"))
    for path in plan.out.rglob("*.json"):
        path.write_text(json.dumps(as_before(json.loads(path.read_text(encoding="utf-8")), digest)), encoding="utf-8")
    return plan


def names_and_bytes(model: nn.Module) -> str:
    digest = hashlib.sha256()
    for name, tensor in model.state_dict().items():
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()


def as_before(record: dict[str, Any], digest: str) -> dict[str, Any]:
    """Return a record as version 0.1.0 wrote it."""
    known = ("batch_size", "cost", "counts", "forget_classes", "identity", "label", "method", "options", "precision")
    kept = {key: record[key] for key in (*known, "seed") if key in record}
    data = record["data"]
    kept |= {"data": {**data.pop("details"), **data}, **record["environment"], "schema": "unclass-record-1"}
    if record["kind"] == "train":
        return {**kept, "kind": "train", "recipe": kept.pop("options"), "weights": digest}
    card = {key: value for key, value in record["original"]["card"].items() if key != "forgotten_images"}
    return {**kept, "figures": record["scores"], "original": {"weights": digest, "card": card}}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_is_not_written_over_and_it_is_said_what_to_do(plan: Plan, engine: Engine) -> None:
    before = contents(plan.out)
    with pytest.raises(InputError, match=r"comparison of version 0\.1\.0.*can still be read.*choose another `out`"):
        list(run_plan(plan, engine))
    assert contents(plan.out) == before


def test_an_original_of_it_is_enough_for_the_refusal(plan: Plan, engine: Engine) -> None:
    shutil.rmtree(plan.out / "runs")
    with pytest.raises(InputError, match=r"version 0\.1\.0"):
        list(run_plan(plan, engine))


def test_its_records_models_and_figures_still_open(plan: Plan, tmp_path: Path) -> None:
    run = plan.out / "runs" / "3-3" / "random-labels" / "seed0"
    record = read_record(run / "record.json")
    assert record.method == "random-labels" and record.scores is not None and record.data is not None
    scores = evaluate(run / "model.safetensors", plan.data, "3", engine=Engine(precision="float32"))
    assert scores.accuracy_forget == pytest.approx(record.scores.accuracy_forget)
    assert run_command(["figures", str(plan.out), "--out", str(tmp_path / "figures")]) == 0
    assert list((tmp_path / "figures").glob("*.png"))


def test_updates_recorded_by_it_are_those_of_their_model(recorded: tuple[Classifier, Path], tmp_path: Path) -> None:
    model, folder = recorded
    content = json.loads((folder / "updates.json").read_text(encoding="utf-8"))
    assert content["weights"] == weights_digest(model) != names_and_bytes(model)
    for digest, fits in ((names_and_bytes(model), True), ("0" * 64, False)):
        (tmp_path / "updates.json").write_text(json.dumps(content | {"weights": digest}), encoding="utf-8")
        with nullcontext() if fits else pytest.raises(InputError, match="recorded for another model"):
            check_updates(tmp_path, model, content["classes"])


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """What version 0.1.0 itself wrote, of digits with a small CNN of width 4."""
    return Path(shutil.copytree(WRITTEN, tmp_path / "written"))


def test_a_folder_that_it_wrote_opens_as_a_comparison(written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(written)
    found = Comparison.read(written / "comparison")
    assert repr(found) == "<Comparison: Forgetting 3 of digits, 3 methods, 1 seed, 0 audits>"
    assert [row.method for row in found.rows] == ["original", "retrain", "logit-mask"]
    shown = [line.replace(" ", "").split("|")[1:5] for line in found.to_markdown().splitlines() if "logit-mask" in line]
    assert shown == [["logit-mask", "94.4", "0.0", "91.1"]]  # as its own table said
    page = written.parent / "page.html"
    assert run_command(["report", str(written / "comparison"), "--out", str(page)]) == 0
    assert "logit-mask" in page.read_text(encoding="utf-8") and "3 methods" in capsys.readouterr().out
    assert contents(written) == before


def test_its_models_are_worked_with_and_have_the_scores_of_its_records(written: Path) -> None:
    record = read_record(written / "forgotten.json")
    assert record.environment is not None and record.environment.versions["unclass"] == "0.1.0"
    assert record.scores is not None and record.cost is not None and record.cost.seconds > 0
    model, engine = written / "forgotten.safetensors", Engine(precision="float32")
    again = evaluate(model, "digits", 7, engine=engine)
    assert again.as_dict() == pytest.approx(record.scores.as_dict(), abs=0.005)
    assert load(model).card.forgotten == ("7",)
    assert {finding.status for finding in doctor(model, "digits", 4, engine=engine)} <= {"good", "doubtful"}
    more = forget(model, "digits", 4, "random-labels", engine=engine, epochs=1)
    assert more.card.forgotten == ("4", "7")


def test_a_folder_without_a_comparison_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="holds no comparison"):
        Comparison.read(tmp_path)
    assert run_command(["report", str(tmp_path), "--out", str(tmp_path / "page.html")]) == 2
    assert "holds no comparison; give the --out of" in capsys.readouterr().err
