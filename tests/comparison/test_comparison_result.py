import csv
import io
from pathlib import Path

import pytest

import unclass
from unclass.comparison import Comparison
from unclass.data import ImageData
from unclass.methods.negative_gradient import NegativeGradient
from unclass.metrics import Evaluation
from unclass.records import Cost, Record
from unclass.training.engine import Engine


def record(label: str, seed: int, accuracy: float, seconds: float = 2.0) -> Record:
    scores = Evaluation(accuracy, accuracy, accuracy, accuracy, accuracy)
    return Record("compare", label, ("deer",), seed=seed, scores=scores, cost=Cost(seconds, 1))


@pytest.fixture
def found() -> Comparison:
    records = (record("retrain", 0, 0.5, 8.0), record("finetune", 0, 0.25), record("finetune", 1, 0.75))
    return Comparison("cifar10", records, ())


def test_rows_are_the_means_of_the_records(found: Comparison) -> None:
    assert [row.method for row in found.rows] == ["retrain", "finetune"]
    spread = found.rows[1].scores["accuracy_forget"]
    assert spread is not None and spread.mean == 0.5


def test_it_shows_itself_in_a_line_a_table_and_a_notebook(found: Comparison) -> None:
    assert repr(found) == "<Comparison: Forgetting deer of cifar10, 2 methods, 2 seeds, 0 audits>"
    assert "| finetune | 50.0 ± 35.4 |" in found.to_markdown()
    assert r"finetune & 50.0 $\pm$ 35.4" in found.to_latex()
    assert "<td>finetune</td>" in found._repr_html_()


def test_every_run_is_a_line_of_csv_and_of_pandas(found: Comparison) -> None:
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [(line["method"], line["seed"], line["D_f"]) for line in lines] == [
        ("retrain", "0", "0.5"), ("finetune", "0", "0.25"), ("finetune", "1", "0.75"),
    ]  # fmt: skip
    frame = pytest.importorskip("pandas") and found.to_pandas()
    assert frame.groupby("method")["D_f"].mean().to_dict() == {"retrain": 0.5, "finetune": 0.5}


def test_compare_takes_method_objects_and_one_class_as_it_is(digits: ImageData, engine: Engine, tmp_path: Path) -> None:
    found = unclass.compare(
        digits, 3, [NegativeGradient(epochs=1), "logit-mask"], model_options={"width": 4}, recipe={"epochs": 1},
        out=str(tmp_path), audited=False, engine=engine,
    )  # fmt: skip
    assert [row.method for row in found.rows] == ["original", "retrain", "negative-gradient(epochs=1)", "logit-mask"]
    assert found.report.is_file() and found.table.read_text().count("\n") == 6
    again = unclass.compare(
        digits, "3", [NegativeGradient(epochs=1), "logit-mask"], model_options={"width": 4}, recipe={"epochs": 1},
        out=tmp_path, audited=False, engine=engine,
    )  # fmt: skip
    assert again.records == found.records
