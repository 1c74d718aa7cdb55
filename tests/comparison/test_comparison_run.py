from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from unclass.audits import Audit, Verdict
from unclass.audits.evidence import Provenance
from unclass.audits.provenance import models_section
from unclass.audits.result import Subject
from unclass.comparison.audits import audit_runs
from unclass.comparison.drive import run_plan as compare
from unclass.comparison.layout import run_of
from unclass.comparison.plan import Plan, choose
from unclass.data import ImageData, Split
from unclass.errors import InputError
from unclass.methods.negative_gradient import NegativeGradient
from unclass.methods.retrain import Retrain
from unclass.metrics import Evaluation
from unclass.models import Classifier, load, save
from unclass.predictions import load_predictions
from unclass.running import Settings
from unclass.training.engine import Engine

cells, originals, audits_module = (
    import_module(f"unclass.comparison.{name}") for name in ("cells", "originals", "audits")
)
QUICK = Retrain(epochs=1, lr=0.1)


@pytest.fixture
def plan(digits: ImageData, tmp_path: Path) -> Plan:
    return Plan(
        digits,
        tmp_path / "out",
        ["finetune", "amnesiac"],
        [["3"]],
        model_options={"width": 4},
        recipe=QUICK,
        settings=Settings(batch_size=64),
    )


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of all training and unlearning that really ran."""
    done: list[str] = []
    unlearn, train_model = cells.unlearn, originals.train_model

    def watched_unlearn(model: Any, split: Any, method: Any, *rest: Any) -> Any:
        done.append(type(method).__name__)
        return unlearn(model, split, method, *rest)

    def watched_train(*all_: Any) -> Any:
        done.append("original")
        return train_model(*all_)

    monkeypatch.setattr(cells, "unlearn", watched_unlearn)
    monkeypatch.setattr(originals, "train_model", watched_train)
    yield done


def test_every_run_leaves_its_record_model_and_predictions(plan: Plan, engine: Engine) -> None:
    records = list(compare(plan, engine))
    assert [record.label for record in records] == ["original", "retrain", "finetune", "amnesiac"]
    split = plan.splits()[0]
    for record in records:
        run = run_of(plan, split, record.label, 0)
        assert Evaluation.of(load_predictions(run.predictions)) == record.scores
        assert record.failed is None and record.forget_classes == ("3",)
        if record.label == "original":
            assert record.cost is None and not run.model.exists()
        else:
            assert load(run.model).card.forgotten == ("3",)
            assert record.cost is not None and record.cost.seconds > 0
    assert not list(plan.out.rglob("*resume*"))


def test_a_second_call_runs_nothing_and_returns_equal_records(plan: Plan, engine: Engine, runs: list[str]) -> None:
    first = list(compare(plan, engine))
    assert runs == ["original", "Retrain", "Finetune", "Amnesiac"]
    runs.clear()
    assert list(compare(plan, engine)) == first
    assert runs == []


def test_more_methods_classes_and_seeds_run_only_what_is_new(plan: Plan, engine: Engine, runs: list[str]) -> None:
    plan = replace(plan, methods=["finetune"])
    list(compare(plan, engine))
    runs.clear()
    more = replace(plan, methods=["finetune", "negative-gradient"], classes=[["3"], ["5"]], seeds=[0, 1])
    records = list(compare(more, engine))
    assert len(records) == 2 * 2 * 4
    assert runs.count("original") == 1 and runs.count("Retrain") == runs.count("Finetune") == 3
    assert len({(r.label, r.seed, *r.forget_classes) for r in records}) == 16


def test_a_killed_comparison_goes_on(
    plan: Plan, engine: Engine, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = cells.unlearn

    def killed(model: Any, split: Any, method: Any, *rest: Any) -> Any:
        if type(method).__name__ == "Finetune":
            raise KeyboardInterrupt
        return watched(model, split, method, *rest)

    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):
        context.setattr(cells, "unlearn", killed)
        list(compare(plan, engine))
    assert runs == ["original", "Retrain"]
    runs.clear()
    records = list(compare(plan, engine))
    assert runs == ["Finetune", "Amnesiac"]
    assert all(record.scores for record in records)


@pytest.mark.parametrize(
    "change",
    [
        {"recipe": Retrain(epochs=2, lr=0.1)},
        {"model_options": {"width": 2}},
        {"settings": Settings(batch_size=32)},
    ],
)
def test_other_settings_in_the_same_folder_are_refused(plan: Plan, engine: Engine, change: dict[str, Any]) -> None:
    plan = replace(plan, methods=[])
    list(compare(plan, engine))
    with pytest.raises(InputError, match="other settings; choose another `out` or delete it"):
        list(compare(replace(plan, **change), engine))


def test_another_precision_in_the_same_folder_is_refused(plan: Plan, engine: Engine) -> None:
    list(compare(replace(plan, methods=[]), engine))
    with pytest.raises(InputError, match="other settings"):
        list(compare(replace(plan, methods=[]), Engine(precision="bfloat16")))


def test_a_diverging_method_is_recorded_as_failed_and_the_rest_goes_on(
    plan: Plan, engine: Engine, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(NegativeGradient.presets, "wild", {"epochs": 20, "lr": 1e20})
    wild = replace(plan, methods=["negative-gradient@wild", "finetune"])
    records = {record.label: record for record in compare(wild, engine)}
    failed = records["negative-gradient@wild"]
    assert "not finite" in (failed.failed or "") and failed.scores is failed.cost is None
    assert not run_of(wild, wild.splits()[0], "negative-gradient@wild", 0).model.exists()
    assert records["finetune"].scores
    runs.clear()
    assert {record.label: record for record in compare(wild, engine)} == records
    assert runs == []


def test_the_retrained_model_repeats_the_originals_recipe(plan: Plan, engine: Engine) -> None:
    records = {record.label: record for record in compare(replace(plan, methods=[]), engine)}
    assert Retrain(**records["retrain"].options) == QUICK


def test_a_preset_of_retrain_is_not_replaced_by_the_originals_recipe(
    plan: Plan, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(Retrain.presets, "short", {"epochs": 0})
    records = {record.label: record for record in compare(replace(plan, methods=["retrain@short"]), engine)}
    assert Retrain(**records["retrain@short"].options) == Retrain(epochs=0)
    assert Retrain(**records["retrain"].options) == QUICK


def test_a_method_named_twice_runs_and_counts_once(plan: Plan, engine: Engine) -> None:
    twice = replace(plan, methods=["original", "finetune", "retrain", "finetune"])
    assert [record.label for record in compare(twice, engine)] == ["original", "retrain", "finetune"]


def test_given_originals_are_taken_instead_of_training(
    plan: Plan, engine: Engine, trained: Classifier, runs: list[str], tmp_path: Path
) -> None:
    path = save(trained, tmp_path / "given.safetensors")
    given = replace(plan, methods=["negative-gradient"], originals=[path])
    records = list(compare(given, engine))
    assert "original" not in runs
    assert Retrain(**records[1].options) == Retrain(epochs=8, lr=0.1)


def test_a_method_without_its_recorded_updates_is_refused_before_anything_runs(
    plan: Plan, engine: Engine, trained: Classifier, runs: list[str], tmp_path: Path
) -> None:
    path = save(trained, tmp_path / "given.safetensors")
    with pytest.raises(InputError, match=r"amnesiac cannot run.*leave amnesiac out of `methods`"):
        list(compare(replace(plan, originals=[path]), engine))
    assert runs == []


def test_a_class_that_came_later_says_how_a_comparison_records_its_updates(plan: Plan, engine: Engine) -> None:
    list(compare(plan, engine))
    with pytest.raises(
        InputError, match=r"not \[5\].*does so in another `out`, given all its classes at once; or leave"
    ):
        list(compare(replace(plan, classes=[["5"]]), engine))


def test_a_plan_is_checked_when_it_is_made(plan: Plan) -> None:
    with pytest.raises(InputError, match="did you mean finetune"):
        replace(plan, methods=["finetun"])
    with pytest.raises(InputError, match="did you mean authors"):
        replace(plan, methods=["boundary-shrink@author"])
    with pytest.raises(InputError, match="1 originals for 2 seeds"):
        replace(plan, seeds=[0, 1], originals=[Path("one.safetensors")])


def test_an_original_of_other_classes_is_refused(
    plan: Plan, engine: Engine, trained: Classifier, tmp_path: Path
) -> None:
    card = replace(trained.card, classes=tuple("abcdefghij"))
    path = save(Classifier(trained.network, card), tmp_path / "letters.safetensors")
    with pytest.raises(InputError, match=r"letters\.safetensors has 10 classes"):
        list(compare(replace(plan, methods=[], originals=[path]), engine))


def test_folders_of_classes_are_told_apart_and_safe(plan: Plan, digits: ImageData) -> None:
    odd = replace(plan, data=replace(digits, classes=("a/b", "a b", "..", *digits.classes[3:])))
    folders = [run_of(odd, Split.of(odd.data, [name]), "finetune", 0).folder for name in ("a/b", "a b", "..")]
    assert len(set(folders)) == 3
    assert {folder.relative_to(odd.out / "runs").parts[1:] for folder in folders} == {("finetune", "seed0")}
    assert choose("original", "digits") is None


def test_an_audit_is_kept_as_long_as_it_is_of_the_same_models(
    plan: Plan, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, audits = replace(plan, methods=["logit-mask"]), []
    list(compare(plan, engine))

    def watched(unlearned: Any, original: Any, data: Any, classes: Any, retrained: Any, **more: Any) -> Audit:
        audits.append(more["about"]["unlearned"]["method"])
        models = {"unlearned": unlearned, "original": original, "retrained": retrained[0]}
        subject = Subject(data.name, forget_classes=tuple(data.classes[index] for index in classes))
        return Audit(
            Verdict("undecided", "Undecided."), models=models_section(models, more["about"]), subject=subject,
            provenance=Provenance(seed=more["seed"], data=data.describe()),
        )  # fmt: skip

    monkeypatch.setattr(audits_module, "audit", watched)
    first = list(audit_runs(plan, engine))
    assert list(audit_runs(plan, engine)) == first and audits == ["logit-mask"]
    path = run_of(plan, plan.splits()[0], "logit-mask", 0).model
    model = load(path)
    model.card = replace(model.card, forgotten=("5",))  # the same weights that say something else of themselves
    save(model, path)
    assert list(audit_runs(plan, engine)) != first and audits == ["logit-mask"] * 2
    next(model.parameters()).data.add_(1)
    save(model, path)
    list(audit_runs(plan, engine))
    assert audits == ["logit-mask"] * 3
