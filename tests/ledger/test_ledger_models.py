"""Models by content: versions, which is in service, and going back."""

from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.ledger.files import content_digest, destroy, keep, kept_at
from unclass.ledger.models import Version, in_service, model_named, register, roll_back, take, versions_of
from unclass.ledger.store import Ledger

CARD = {"classes": ["a", "b", "c"], "forgotten": []}


def _next(ledger: Ledger, path: Path, content: bytes) -> Version:
    path.write_bytes(content)
    return register(ledger, path, CARD, {"data": "digits"}, name="digits", operator="ann")


def test_a_model_is_kept_by_content_whatever_becomes_of_the_file(ledger: Ledger, tmp_path: Path) -> None:
    version = _next(ledger, tmp_path / "model.safetensors", b"one")
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    take(ledger, "digits", None, tmp_path / "out.safetensors")
    assert (tmp_path / "out.safetensors").read_bytes() == b"one"
    assert version.file(ledger).read_bytes() == b"one"


def test_the_same_content_is_one_version(ledger: Ledger, tmp_path: Path) -> None:
    first = _next(ledger, tmp_path / "model.safetensors", b"one")
    assert _next(ledger, tmp_path / "copy.safetensors", b"one").number == first.number == 1
    assert _next(ledger, tmp_path / "model.safetensors", b"two").number == 2


def test_a_model_is_found_by_name_or_by_a_file_like_one_of_its_versions(ledger: Ledger, tmp_path: Path) -> None:
    _next(ledger, tmp_path / "model.safetensors", b"one")
    (tmp_path / "elsewhere").write_bytes(b"one")
    (tmp_path / "stranger").write_bytes(b"two")
    assert model_named(ledger.database, "digits") == model_named(ledger.database, str(tmp_path / "elsewhere"))
    with pytest.raises(InputError, match="knows no model with the content"):
        model_named(ledger.database, str(tmp_path / "stranger"))


def test_rollback_goes_to_any_version_that_is_held(ledger: Ledger, tmp_path: Path) -> None:
    for content in (b"one", b"two", b"three"):
        _next(ledger, tmp_path / "model.safetensors", content)
    assert roll_back(ledger, "digits", None, "ann")[0].number == 2
    assert roll_back(ledger, "digits", 3, "ann")[0].number == 3
    assert roll_back(ledger, "digits", 1, "ann")[0].number == 1
    assert in_service(ledger.database, "digits").number == 1
    for to, message in ((1, "in service already"), (4, "no version 4"), (None, "none before")):
        with pytest.raises(InputError, match=message):
            roll_back(ledger, "digits", to, "ann")


def test_a_version_that_was_lost_or_changed_is_not_put_into_service(ledger: Ledger, tmp_path: Path) -> None:
    first = _next(ledger, tmp_path / "model.safetensors", b"one")
    _next(ledger, tmp_path / "model.safetensors", b"two")
    kept = kept_at(ledger.folder, first.sha256, first.ending)
    kept.write_bytes(b"on3")
    with pytest.raises(InputError, match="is not what version 1"):
        roll_back(ledger, "digits", 1, "ann")
    destroy(kept)
    with pytest.raises(InputError, match="missing"):
        roll_back(ledger, "digits", 1, "ann")
    assert [version.number for version in versions_of(ledger.database, "digits")] == [1, 2]
    assert in_service(ledger.database, "digits").number == 2


def test_a_folder_is_kept_as_one_model(tmp_path: Path) -> None:
    source = tmp_path / "vit"
    (source / "sub").mkdir(parents=True)
    (source / "config.json").write_text("{}")
    (source / "sub" / "weights").write_bytes(b"w")
    digest, ending = keep(tmp_path / "files", source)
    kept = kept_at(tmp_path / "files", digest, ending)
    assert content_digest(kept) == digest
    (kept / "config.json").write_text("{ }")
    assert content_digest(kept) != digest
    assert keep(tmp_path / "files", source)[0] == digest == content_digest(kept)
    destroy(kept)
    assert not kept.exists()


@pytest.mark.parametrize("name", ["", "../x", "a b", "x" * 65])
def test_names_are_plain(ledger: Ledger, tmp_path: Path, name: str) -> None:
    (tmp_path / "model").write_bytes(b"one")
    with pytest.raises(InputError, match="cannot be a model's name"):
        register(ledger, tmp_path / "model", CARD, {}, name=name, operator="ann")
