"""A result of an earlier call is believed only if the digests of everything it speaks of agree, its own included."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import unclass
from unclass.audits.provenance import models_section
from unclass.audits.result import Audit, Provenance, Subject, Verdict
from unclass.comparison.audits import audit_runs
from unclass.comparison.believing import read_run
from unclass.comparison.cell import cells_of, place_of
from unclass.comparison.drive import run_plan
from unclass.comparison.layout import Run, original_path
from unclass.comparison.leaderboard import board_of
from unclass.comparison.plan import Plan
from unclass.data import ImageData
from unclass.methods.retrain import Retrain
from unclass.records import read_record
from unclass.report.drawings import comparison_drawings
from unclass.running import Settings
from unclass.storage import Changed, read_json, with_digest, write_json
from unclass.training.engine import Engine

audits_module = import_module("unclass.comparison.audits")


@pytest.fixture(scope="module")
def carried_out(digits: ImageData, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    plan = Plan(
        digits, tmp_path_factory.mktemp("once") / "out", ["finetune", "random-labels"], [["3"]],
        model_options={"width": 4}, recipe=Retrain(epochs=1, lr=0.1), settings=Settings(batch_size=64),
    )  # fmt: skip
    list(run_plan(plan, Engine(precision="float32")))
    return plan


@pytest.fixture
def plan(carried_out: Plan, tmp_path: Path) -> Plan:
    """A plan that was carried out, in a folder to change at will."""
    return replace(carried_out, out=Path(shutil.copytree(carried_out.out, tmp_path / "out")))


@pytest.fixture
def done(plan: Plan, engine: Engine) -> dict[str, Any]:
    return {record.label: record for record in run_plan(plan, engine)}


def place(plan: Plan, spec: str = "finetune") -> Run:
    return place_of(plan, next(cell for cell in cells_of(plan) if cell.spec == spec))


def edit(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    content = read_json(path)
    change(content)
    write_json(path, content)


EDITS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "score": lambda content: content["scores"].update(accuracy_forget=0.123),
    "seconds": lambda content: content["cost"].update(seconds=0.001),
    "weights": lambda content: content.update(weights="0" * 64),
    "written": lambda content: content["written"].update(sha256={}),
    "added": lambda content: content.update(remarks=["all is well"]),
    "no digest": lambda content: content.pop("sha256"),
    "other digest": lambda content: content.update(sha256="0" * 64),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_record_is_made_again(
    what: str, plan: Plan, engine: Engine, done: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    edit(place(plan).record, EDITS[what])
    again = {record.label: record for record in run_plan(plan, engine)}
    assert again["finetune"].scores == done["finetune"].scores
    assert again["finetune"].weights == done["finetune"].weights
    assert again["random-labels"] == done["random-labels"]  # the others are taken as they are
    assert read_run(place(plan), vouched=True) == again["finetune"]
    assert len([one for one in caplog.messages if str(place(plan).record) in one]) == 1


@pytest.mark.parametrize("name", ["model", "predictions"])
@pytest.mark.parametrize("source", ["retrain", None])
def test_a_swapped_file_loses_its_row(
    name: str, source: str | None, plan: Plan, engine: Engine, done: dict[str, Any]
) -> None:
    file: Path = getattr(place(plan), name)
    before = file.read_bytes()
    if source is None:
        file.unlink()
    else:
        shutil.copy(getattr(place(plan, source), name), file)
    list(run_plan(plan, engine))
    assert file.read_bytes() == before


def test_a_card_that_says_something_else_is_made_again(plan: Plan, engine: Engine, done: dict[str, Any]) -> None:
    file = place(plan).model
    before = file.read_bytes()
    model = unclass.load(file)
    model.card = unclass.Card(**{**model.card.as_dict(), "forgotten": ("7",)})
    unclass.save(model, file)
    list(run_plan(plan, engine))
    assert file.read_bytes() == before


@pytest.mark.parametrize("what", ["edited", "gone", "other model"])
def test_an_original_is_believed_by_its_record_only(
    what: str, plan: Plan, engine: Engine, done: dict[str, Any]
) -> None:
    path = original_path(plan, 0)
    before, record = path.read_bytes(), path.with_suffix(".json")
    if what == "edited":
        edit(record, lambda content: content["cost"].update(seconds=9))
    elif what == "gone":
        record.unlink()
    else:
        model = unclass.load(path)
        next(model.parameters()).data.add_(1)
        unclass.save(model, path)
    list(run_plan(plan, engine))
    assert path.read_bytes() == before and read_record(record, vouched=True).written["sha256"]


def test_an_edited_verdict_is_not_printed(plan: Plan, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def fails(unlearned: Any, original: Any, data: Any, classes: Any, retrained: Any, **more: Any) -> Audit:
        models = {"unlearned": unlearned, "original": original, "retrained": retrained[0]}
        made.append(more["about"]["unlearned"]["method"])
        return Audit(
            Verdict("failed", "Failed: 3 is not gone."), models=models_section(models, more["about"]),
            subject=Subject(data.name, forget_classes=tuple(data.classes[index] for index in classes)),
            provenance=Provenance(seed=more["seed"], data=data.describe()),
        )  # fmt: skip

    monkeypatch.setattr(audits_module, "audit", fails)
    first = list(audit_runs(plan, engine))
    assert list(audit_runs(plan, engine)) == first and len(made) == 2
    edit(place(plan).audit, lambda content: content["verdict"].update(status="passed", sentence="Passed: gone."))
    assert [one.verdict.status for one in audit_runs(plan, engine)] == ["failed", "failed"] and len(made) == 3
    edit(place(plan).audit, lambda content: content.pop("sha256"))
    assert list(audit_runs(plan, engine)) == first and len(made) == 4


def test_tables_and_figures_of_a_folder_refuse_what_was_changed(plan: Plan, done: dict[str, Any]) -> None:
    kept = place(plan).record.read_bytes()
    edit(place(plan).record, EDITS["score"])
    for reader in (board_of, lambda folder: list(comparison_drawings(folder))):
        with pytest.raises(Changed, match=r"record\.json was changed"):
            reader(plan.out)
    place(plan).record.write_bytes(kept)
    shutil.copy(place(plan, "retrain").model, place(plan).model)
    with pytest.raises(Changed, match=r"model\.safetensors was changed"):
        board_of(plan.out)


def test_records_without_digests_still_open_and_are_of_no_use_to_go_on_with(plan: Plan, done: dict[str, Any]) -> None:
    def older(content: dict[str, Any]) -> None:
        content.pop("sha256")
        content.pop("written")

    edit(place(plan).record, older)
    assert read_run(place(plan)).scores == done["finetune"].scores
    with pytest.raises(Changed, match="earlier versions"):
        read_run(place(plan), vouched=True)


def test_who_computes_the_digest_anew_is_found_by_a_signature_only(plan: Plan, done: dict[str, Any]) -> None:
    content = read_json(place(plan).record)
    content["scores"]["accuracy_forget"] = 0.0
    write_json(place(plan).record, with_digest(content))
    assert read_run(place(plan), vouched=True).scores.accuracy_forget == 0.0  # type: ignore[union-attr]


def test_forget_and_train_say_the_digest_of_what_they_wrote(digits: ImageData, tmp_path: Path) -> None:
    first = unclass.train(digits, "small-cnn", model_options={"width": 4}, epochs=1, out=tmp_path / "a.safetensors")
    unclass.forget(tmp_path / "a.safetensors", digits, "3", "random-labels", out=tmp_path / "b.safetensors")
    for name in ("a", "b"):
        record = read_record(tmp_path / f"{name}.json", vouched=True)
        assert record.written["sha256"] == {
            f"{name}.safetensors": unclass.storage.sha256(tmp_path / f"{name}.safetensors")
        }
    assert read_record(tmp_path / "b.json").before is not None and first.card.forgotten == ()
