from typing import Any

import pytest

from unclass.comparison.rows import Row, Spread, by_class, over_classes, summarise
from unclass.metrics import SCORES, Evaluation
from unclass.records import Cost, Record


def record(label: str, seed: int = 0, seconds: float | None = 1.0, value: float | None = 0.5, **more: Any) -> Record:
    cost = None if seconds is None else Cost(seconds, 10 * seed, 100 * seed)
    scores = None if value is None else Evaluation(**dict.fromkeys(SCORES, value))
    return Record(**{"kind": "compare", "label": label, "seed": seed, "forget_classes": ("deer",), "cost": cost,
                     "scores": scores, **more})  # fmt: skip


def test_rows_come_in_order_of_first_appearance() -> None:
    rows = summarise([record("original"), record("retrain"), record("b"), record("a"), record("retrain", 1)])
    assert [row.method for row in rows] == ["original", "retrain", "b", "a"]
    assert [row.runs for row in rows] == [1, 2, 1, 1]


def test_mean_and_spread_by_hand() -> None:
    (row,) = summarise([record("x", seed, seconds=seed + 1.0, value=v) for seed, v in enumerate((0.1, 0.2, 0.6))])
    for key in SCORES:  # squared distances from 0.3: 0.04, 0.01, 0.09, by n − 1 = 2
        found = row.scores[key]
        assert found is not None and (found.mean, found.spread) == pytest.approx((0.3, (0.14 / 2) ** 0.5))
    assert row.seconds == Spread(2.0, 1.0)
    assert (row.steps, row.retain_images_read) == (10, 100)


def test_a_single_run_has_no_spread() -> None:
    (row,) = summarise([record("x")])
    assert row.scores["accuracy_forget"] == Spread(0.5, 0.0)


def test_a_run_whose_own_retraining_was_not_timed_is_compared_with_that_of_other_seeds() -> None:
    retrained = [record("retrain", 0, None), record("retrain", 1, 4.0), record("retrain", 2, 8.0)]
    other = record("retrain", 3, 100.0, forget_classes=("cat",))
    rows = summarise([*retrained, other, record("a", 0, 2.0)])
    assert rows[1].speed_up == pytest.approx(3.0)


def test_speed_up_is_the_geometric_mean_over_matching_runs() -> None:
    rows = summarise(
        [
            record("retrain", 0, seconds=8.0),
            record("retrain", 1, seconds=10.0),
            record("x", 0, seconds=1.0),
            record("x", 1, seconds=5.0),
        ]
    )
    assert rows[1].speed_up == pytest.approx((8.0 * 2.0) ** 0.5)
    assert rows[0].speed_up == pytest.approx(1.0)


def test_runs_match_by_forgotten_class_too() -> None:
    cat = {"forget_classes": ("cat",)}
    rows = summarise(
        [record("retrain", seconds=4.0), record("retrain", seconds=9.0, **cat), record("x", seconds=1.0, **cat)]
    )
    assert rows[1].speed_up == pytest.approx(9.0)


def test_the_original_has_figures_but_no_time() -> None:
    row = summarise([record("original", seconds=None), record("retrain")])[0]
    assert row.seconds is row.speed_up is row.steps is row.retain_images_read is None
    assert row.scores["accuracy_retain"] == Spread(0.5, 0.0)


def test_failed_runs_are_counted_and_left_out_of_means() -> None:
    rows = summarise([record("x", 0, value=0.4), record("x", 1, seconds=None, value=None)])
    assert (rows[0].runs, rows[0].failed) == (1, 1)
    assert rows[0].scores["accuracy_retain"] == Spread(0.4, 0.0)
    (row,) = summarise([record("y", seconds=None, value=None)])
    assert (row.runs, row.failed, row.scores["accuracy_forget"], row.speed_up) == (0, 1, None, None)


def test_a_row_comes_back_from_json_also_where_a_score_was_not_known_yet() -> None:
    (row,) = summarise([record("x", 1), record("x", 2)])
    content = row.as_dict()
    assert Row.read(content) == row
    del content["attack_success_rate"]
    assert Row.read(content).scores["attack_success_rate"] is None


def test_each_class_has_its_own_table_and_the_mean_weighs_classes_alike() -> None:
    deer = [record("x", seed, value=value) for seed, value in enumerate((0.1, 0.3))]
    cat = [record("x", value=0.8, forget_classes=("cat",))]
    tables = by_class([*deer, *cat])
    assert {name: rows[0].runs for name, rows in tables.items()} == {"deer": 2, "cat": 1}
    (row,) = over_classes([*deer, *cat])
    found = row.scores["accuracy_forget"]
    assert found is not None and found.mean == pytest.approx(0.5)  # of 0.2 and 0.8, not of three runs
    assert found.spread == pytest.approx((2 * 0.3**2) ** 0.5) and (row.classes, row.runs) == (2, 3)


def test_a_single_class_is_its_own_mean() -> None:
    records = [record("retrain"), record("x", value=0.1), record("x", 1, value=0.3)]
    assert over_classes(records) == by_class(records)["deer"] == summarise(records)


def test_deviation_between_originals_and_between_unlearning_seeds_are_apart() -> None:
    values = {(0, 0): 0.1, (0, 1): 0.3, (1, 0): 0.6, (1, 1): 0.8}
    (row,) = summarise([record("x", own, value=v, original_seed=one) for (one, own), v in values.items()])
    found = row.scores["accuracy_forget"]
    assert found is not None and found.mean == pytest.approx(0.45)
    assert found.spread == pytest.approx((2 * 0.25**2) ** 0.5) and found.within == pytest.approx(0.02**0.5)


def test_speed_up_looks_for_the_retraining_of_the_same_original() -> None:
    retrained = [record("retrain", 0, 4.0, original_seed=0), record("retrain", 1, 8.0, original_seed=1)]
    rows = summarise([*retrained, record("x", 0, 1.0, original_seed=1)])
    assert rows[1].speed_up == pytest.approx(8.0)
