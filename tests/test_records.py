import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import unclass
from unclass.audits import Audit, Verdict
from unclass.audits.result import Check
from unclass.comparison import Row, Spread
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.metrics import Evaluation
from unclass.models import Card
from unclass.predictions import Predictions
from unclass.records import SCHEMA, Cost, Record, command, environment, read_record

OLD: dict[str, Any] = {
    "schema": "unclass-record-1",
    "versions": {"torch": "2.13.0"},
    "hardware": {"cores": 2, "threads": 1},
    "command": "unclass forget m.safetensors",
    "kind": "forget",
    "data": {
        "name": "digits", "classes": ["0", "1"], "train": {"count": 4, "digest": "a"},
        "test": {"count": 2, "digest": "b"}, "split_seed": 0,
    },
    "forget_classes": ["1"],
    "counts": {"retain": 2},
    "original": {"weights": "c", "card": {"architecture": "small-cnn"}},
    "method": "finetune", "options": {"epochs": 1}, "seed": 3, "batch_size": 64, "precision": "float32",
    "cost": {"seconds": 1.5, "steps": 4, "retain_images_read": 8},
    "figures": {"accuracy_retain": 0.75, "attack_success_rate": 0.5},
}  # fmt: skip


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    record = Record(
        "forget", "finetune", ("é", "n000001"), seed=3, scores=Evaluation(accuracy_retain=0.1 + 0.2), cost=Cost(1.0, 2)
    )
    path = record.write(tmp_path / "deep" / "record.json")
    assert read_record(path) == record
    assert json.loads(path.read_text())["schema"] == SCHEMA


def test_a_record_of_the_version_before_opens(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text(json.dumps(OLD))
    found = read_record(tmp_path / "record.json")
    assert found.scores == Evaluation(accuracy_retain=0.75, attack_success_rate=0.5)
    assert found.data is not None and found.data.details == {"split_seed": 0} and found.data.train.count == 4
    assert found.cost == Cost(1.5, 4, 8) and found.seed == 3 and found.forget_classes == ("1",)
    assert found.environment is not None and found.environment.hardware["threads"] == 1


def test_a_training_record_of_the_version_before_opens(tmp_path: Path) -> None:
    figures = {"accuracy_test": 0.9, "images_per_second": 200.0}
    content = {**OLD, "kind": "train", "recipe": {"epochs": 2}, "figures": figures}
    (tmp_path / "model.json").write_text(json.dumps(content))
    found = read_record(tmp_path / "model.json")
    assert (found.accuracy_test, found.images_per_second, found.options) == (0.9, 200.0, {"epochs": 2})
    assert found.scores is None


def test_a_record_of_a_later_version_opens_without_what_is_not_known_yet(tmp_path: Path) -> None:
    record = Record("forget", scores=Evaluation(accuracy_forget=0.5))
    content = record.as_dict() | {"later": [1]}
    content["scores"]["a_new_metric"] = 0.5
    (tmp_path / "record.json").write_text(json.dumps(content))
    assert read_record(tmp_path / "record.json") == record


def test_the_environment_holds_versions_and_hardware() -> None:
    found = environment()
    assert torch.__version__.startswith(found.versions["torch"])
    assert found.versions["unclass"] == unclass.__version__
    assert found.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found.hardware["cores"] >= 1 and found.hardware["processor"]


def test_what_is_not_a_number_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        Record("forget", findings={"loss": float("nan")}).write(tmp_path / "record.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe"])
def test_a_broken_record_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "record.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"record\.json is not a record"):
        read_record(path)


@pytest.mark.parametrize("content", [{"schema": "other-2"}, {}, [], 3, None])
def test_a_record_of_another_schema_is_refused(tmp_path: Path, content: object) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"record\.json"):
        read_record(path)


@pytest.mark.parametrize("field, value", [("seed", "3"), ("cost", []), ("cost", {"seconds": "x"}), ("data", 1)])
def test_a_field_of_the_wrong_type_is_named(tmp_path: Path, field: str, value: object) -> None:
    (tmp_path / "record.json").write_text(json.dumps(Record("forget", seed=1).as_dict() | {field: value}))
    with pytest.raises(InputError, match=rf"record\.json.*{field}"):
        read_record(tmp_path / "record.json")


def test_a_missing_record_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a record"):
        read_record(tmp_path / "none.json")


def test_a_record_says_in_a_line_what_came_out() -> None:
    record = Record("forget", "finetune", ("deer",), cost=Cost(2.0, 1), scores=Evaluation(accuracy_forget=0.25))
    assert str(record) == "finetune of deer, seed 0, 2.0 s: D_f 25.0 %"
    assert str(replace(record, scores=None, failed="the loss is not finite")).endswith("the loss is not finite")


def test_it_is_short_as_text_and_a_table_in_a_notebook() -> None:
    record = Record("forget", "finetune", ("<b>",), scores=Evaluation(accuracy_forget=0.25))
    assert repr(record) == "<Record of forget: finetune of <b>, seed 0: D_f 25.0 %>"
    shown = record._repr_html_()
    assert "<b>" not in shown and "&lt;b&gt;" in shown and "<td>25.0 %</td>" in shown
    assert "no scores" in replace(record, scores=None)._repr_html_()


def test_the_command_leaves_out_the_folder_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/unclass", "forget", "m.safetensors", "--class", "3"])
    assert command() == "unclass forget m.safetensors --class 3"


def test_results_say_what_they_are_in_a_line(digits: ImageData) -> None:
    check = Check("own-logit", "own logit", "privacy", "?", "lower", "failed", threshold=0.8, values={"unlearned": 0.9})
    names = tuple(f"n{index:06}" for index in range(200))
    for shown, said in (
        (Record("train", "original", accuracy_test=0.875), "<Record of train: original, seed 0: 87.5 % of the test"),
        (Evaluation(accuracy_forget=0.5), "Evaluation(accuracy_retain=None, accuracy_forget=0.5"),
        (
            Verdict("failed", "Failed: deer is not gone.", why=("x" * 500,)),
            "<Verdict failed: Failed: deer is not",
        ),
        (check, "<Check own-logit: failed, 0.900, at most 0.800>"),
        (Audit(Verdict("passed", "Passed.")), "<Audit of nothing in no data: passed>"),
        (Row("finetune", 2, 0, {"accuracy_retain": Spread(0.5, 0.1)}), "<Row of finetune, n = 2: D_r 50.0 %>"),
        (
            Card("all-cnn", names, (3, 64, 64), forgotten=names[:1]),
            "<Card of all-cnn: 200 classes, without n000000, pictures of 3 × 64 × 64>",
        ),
        (digits, "<ImageData digits: 10 classes, 400 training and 450 test images>"),
        (digits.test, "<ImageSet of 450 images>"),
        (Predictions(torch.zeros(7, 3), torch.zeros(7)), "<Predictions of 7 images, 3 classes>"),
    ):
        assert repr(shown).startswith(said) and len(repr(shown)) < 160
