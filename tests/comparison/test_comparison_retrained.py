"""Retrained models that a researcher has are taken, each for the classes that its card says it never saw."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unclass.comparison.audits import audit_runs
from unclass.comparison.drive import run_plan
from unclass.comparison.plan import REFERENCE, Plan
from unclass.comparison.retrained import matched
from unclass.comparison.run import compare, compared, make_plan
from unclass.data import DataOptions, ImageData
from unclass.errors import InputError
from unclass.models import Classifier, save, weights_digest
from unclass.records import Cost, Record
from unclass.training.engine import Engine


def _without(model: Classifier, *names: str) -> Classifier:
    return Classifier(model.network, replace(model.card, forgotten=names))


@pytest.fixture
def given(trained: Classifier, tmp_path: Path) -> Path:
    """A checkpoint whose card says that it never saw class 3."""
    return save(_without(trained, "3"), tmp_path / "without-3.safetensors")


@pytest.fixture
def plan(digits: ImageData, trained: Classifier, tmp_path: Path, given: Path) -> Plan:
    original = save(trained, tmp_path / "original.safetensors")
    return Plan(digits, tmp_path / "out", ["logit-mask"], [["3"]], originals=[original], retrained=[given])


def test_a_given_model_is_the_reference_and_nothing_is_retrained(
    plan: Plan, engine: Engine, trained: Classifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unclass.methods.retrain.Retrain.__call__", _never)
    records = list(run_plan(plan, engine))
    assert [record.label for record in records] == ["original", REFERENCE, "logit-mask"]
    assert records[1].weights == weights_digest(trained) and records[1].scores == records[0].scores
    assert [record.weights for record in run_plan(plan, engine)] == [record.weights for record in records]
    assert {role for audit in audit_runs(plan, engine) for role in audit.models} == {
        "original", "unlearned", "retrained",
    }  # fmt: skip


def _never(*_: Any) -> None:
    raise AssertionError("nothing was to be retrained")


def test_models_go_to_the_classes_of_their_cards_in_the_order_of_seeds(
    plan: Plan, trained: Classifier, tmp_path: Path
) -> None:
    other = save(_without(trained, "7"), tmp_path / "without-7.safetensors")
    second = save(_without(trained, "3"), tmp_path / "again-without-3.safetensors")
    both = replace(
        plan, classes=[["3"], ["7"]], seeds=[0, 1], originals=list(plan.originals) * 2,
        retrained=[plan.retrained[0], other, second],
    )  # fmt: skip
    assert matched(both) == {(3,): [plan.retrained[0], second], (7,): [other]}


def test_a_model_of_a_class_that_the_original_had_forgotten_before_counts_it_out(
    plan: Plan, trained: Classifier, tmp_path: Path
) -> None:
    original = save(_without(trained, "5"), tmp_path / "without-5.safetensors")
    both = save(_without(trained, "3", "5"), tmp_path / "without-3-and-5.safetensors")
    assert matched(replace(plan, originals=[original], retrained=[both])) == {(3,): [both]}


def test_what_it_cost_is_read_from_the_record_beside_it(plan: Plan, engine: Engine, given: Path) -> None:
    Record("forget", method=REFERENCE, cost=Cost(12.5, 30, 900)).write(given.with_suffix(".json"))
    assert list(run_plan(plan, engine))[1].cost == Cost(12.5, 30, 900)


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ((), r"card a model of all classes, no retraining of this plan, which forgets 3; leave it out"),
        (("4",), r"card a model without 4, no retraining of this plan, which forgets 3; leave it out"),
    ],
)
def test_a_model_without_other_classes_is_refused_before_anything_runs(
    plan: Plan, engine: Engine, trained: Classifier, tmp_path: Path, names: tuple[str, ...], why: str
) -> None:
    other = save(_without(trained, *names), tmp_path / "other.safetensors")
    with pytest.raises(InputError, match=why):
        compared(replace(plan, retrained=[other]), engine)
    assert not plan.out.exists()


def test_a_model_that_a_method_made_is_no_reference(plan: Plan, given: Path) -> None:
    Record("forget", method="delete").write(given.with_suffix(".json"))
    with pytest.raises(InputError, match=r"without-3\.safetensors was made by delete"):
        matched(plan)


def test_more_models_than_seeds_are_refused(plan: Plan) -> None:
    with pytest.raises(InputError, match="2 retrained without 3 for 1 seeds; give one for each"):
        matched(replace(plan, retrained=list(plan.retrained) * 2))


def test_another_reference_than_the_one_of_an_earlier_call_is_refused(
    plan: Plan, engine: Engine, trained: Classifier, tmp_path: Path
) -> None:
    list(run_plan(replace(plan, methods=[]), engine))
    weights = {key: value * 1.01 for key, value in trained.network.state_dict().items() if value.is_floating_point()}
    other = _without(trained, "3")
    other.network.load_state_dict(weights, strict=False)
    with pytest.raises(InputError, match="other settings"):
        list(run_plan(replace(plan, methods=[], retrained=[save(other, tmp_path / "b.safetensors")]), engine))


@pytest.mark.parametrize("name", ["originals", "retrained"])
def test_what_is_no_path_is_told_in_one_line(name: str, given: Path) -> None:
    chosen: dict[str, Any] = {name: [given, 1]}
    with pytest.raises(InputError, match=f"`{name}` holds 1; give paths of checkpoints"):
        compare("digits", "3", "delete", **chosen)


def test_one_path_need_not_stand_in_a_list(given: Path) -> None:
    assert make_plan({"data": "digits", "classes": "3", "retrained": str(given)}, DataOptions()).retrained == [given]
