"""A result says its own digest, and an edit that does not compute it anew is found."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from unclass.audits.result import Audit, Verdict
from unclass.metrics import Evaluation
from unclass.records import Record, read_record
from unclass.storage import Changed, check_own_digest, is_as_written, json_digest, read_json, with_digest, write_json

CONTENT: dict[str, Any] = {"b": [1.5, None, True], "a": {"2": "ü\udc80", "10": 1e-9}, "scores": {"accuracy": 0.5}}


def test_the_digest_is_sha256_of_json_with_sorted_keys_and_no_spaces() -> None:
    assert json_digest({"b": 1, "a": [2.5, "x"]}) == hashlib.sha256(b'{"a":[2.5,"x"],"b":1}').hexdigest()
    assert json_digest({1: 0, 10: 0, 2: 0}) == json_digest({"1": 0, "10": 0, "2": 0})


def test_what_was_written_is_as_written_when_read(tmp_path: Path) -> None:
    assert is_as_written(read_json(write_json(tmp_path / "a.json", with_digest(CONTENT))))


@pytest.mark.parametrize("where", [("b", 0), ("b", 2), ("a", "10"), ("scores", "accuracy")])
def test_any_changed_value_is_found(where: tuple[Any, Any]) -> None:
    content = json.loads(json.dumps(with_digest(CONTENT)))
    content[where[0]][where[1]] = 0.75
    with pytest.raises(Changed, match=r"r\.json was changed after it was written"):
        check_own_digest(content, "r.json")


def test_keys_that_come_or_go_are_found() -> None:
    content = with_digest(CONTENT)
    assert not is_as_written({**content, "more": 1})
    assert not is_as_written({key: value for key, value in content.items() if key != "a"})


def test_content_without_a_digest_passes_unless_one_is_needed() -> None:
    check_own_digest(CONTENT, "r.json")
    with pytest.raises(Changed, match="says no sha256 of its own"):
        check_own_digest(CONTENT, "r.json", needed=True)


@pytest.mark.parametrize("kind", ["record", "audit"])
def test_an_edited_record_or_audit_does_not_open(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"{kind}.json"
    if kind == "record":
        Record("forget", scores=Evaluation(0.9, 0.0, 0.8, 0.0, 0.1)).write(path)
        edit, read = lambda content: content["scores"].update(accuracy_retain=1.0), read_record
    else:
        Audit(Verdict("failed", "Failed: 3 is not gone.")).save(path)
        edit, read = lambda content: content["verdict"].update(status="passed"), Audit.read  # type: ignore[assignment]
    read(path)
    content = read_json(path)
    edit(content)
    write_json(path, content)
    with pytest.raises(Changed, match=f"{kind}.json was changed after it was written"):
        read(path)
