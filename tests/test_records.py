import json
import sys
from pathlib import Path

import pytest
import torch

import unclass
from unclass.errors import InputError
from unclass.records import SCHEMA, command, environment, read_record, write_record


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    content = {"seed": 3, "figures": {"accuracy_retain": 0.1 + 0.2}, "names": ["é", "n000001"], "cost": None}
    found = read_record(write_record(tmp_path / "deep" / "record.json", content))
    assert {key: found[key] for key in content} == content
    assert found["schema"] == SCHEMA


def test_a_record_holds_versions_and_hardware(tmp_path: Path) -> None:
    found = read_record(write_record(tmp_path / "record.json", {}))
    assert torch.__version__.startswith(found["versions"]["torch"])
    assert found["versions"]["unclass"] == unclass.__version__
    assert found["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["hardware"]["cores"] >= 1 and found["hardware"]["memory_gb"] >= 0 and found["hardware"]["processor"]
    assert environment().keys() == {"versions", "hardware"}


def test_what_is_not_a_number_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        write_record(tmp_path / "record.json", {"loss": float("nan")})
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


def test_a_missing_record_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a record"):
        read_record(tmp_path / "none.json")


def test_the_command_leaves_out_the_folder_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/unclass", "forget", "m.safetensors", "--class", "3"])
    assert command() == "unclass forget m.safetensors --class 3"
