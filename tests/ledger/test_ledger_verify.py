"""Verifying: every changed byte is found, and named by file."""

import json
import random
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.ledger.envelope import seal, statement
from unclass.ledger.evidence import Evidence
from unclass.ledger.keys import new_key, private_key
from unclass.ledger.pack import PackOptions, write_pack
from unclass.ledger.pack_files import PackFiles, write_zip
from unclass.ledger.verify import ENVELOPE, verify_pack

FILES = (
    "audit.json", "forget.json", "letter.txt", "manifest.json", "model.sig", "model/unlearned.safetensors",
    "regulator.html", "report.html", "signer.pub", ENVELOPE,
)  # fmt: skip


@pytest.fixture
def public(key: Path) -> Path:
    return key.with_suffix(".pub")


def _flaws(pack: Path, public: Path | None) -> list[str]:
    return [flaw.file for flaw in verify_pack(pack, public).flaws]


def _flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place % len(content)] ^= 1 << place % 8
    file.write_bytes(content)


@pytest.mark.parametrize("zipped", [False, True])
def test_a_pack_as_it_was_made_holds(pack: Path, public: Path, tmp_path: Path, zipped: bool) -> None:
    path = write_zip(pack, tmp_path / "pack.zip") if zipped else pack
    found = verify_pack(path, public)
    assert found.holds, found.flaws
    assert found.manifest["request"]["id"] == "R-1"
    assert verify_pack(path).signer == found.signer


@pytest.mark.parametrize("name", FILES)
def test_any_changed_byte_is_found_and_its_file_named(pack: Path, public: Path, name: str) -> None:
    assert sorted(PackFiles(pack).names()) == sorted(FILES)
    before, size = (pack / name).read_bytes(), (pack / name).stat().st_size
    draw = random.Random(name)
    for place in (0, size - 1, *(draw.randrange(size) for _ in range(6))):
        _flip(pack / name, place)
        assert name in _flaws(pack, public), place
        (pack / name).write_bytes(before)
    (pack / name).write_bytes(before + b"\n")
    assert name in _flaws(pack, public)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(pack: Path, public: Path, name: str) -> None:
    (pack / name).unlink()
    assert name in _flaws(pack, public)


def test_what_was_added_is_named(pack: Path, public: Path) -> None:
    (pack / "more.txt").write_text("also true")
    (pack / "model" / ".hidden").write_text("")
    (pack / "link").symlink_to(pack / "audit.json")
    (pack / "empty").mkdir()
    assert sorted(_flaws(pack, public)) == ["empty", "link", "model/.hidden", "more.txt"]


def test_another_key_is_found(pack: Path, tmp_path: Path) -> None:
    for kind in ("ec-p256", "ed25519"):
        _, other = new_key(tmp_path / f"{kind}.pem", kind)
        assert _flaws(pack, other) == [ENVELOPE]


def test_an_edited_verdict_is_found_even_where_its_digest_was_mended(pack: Path, public: Path, key: Path) -> None:
    audit = json.loads((pack / "audit.json").read_text())
    audit["verdict"]["status"] = "undecided"
    (pack / "audit.json").write_text(json.dumps(audit))
    assert _flaws(pack, public) == ["audit.json", "audit.json"]
    # whoever holds the key could sign again; then the files still have to agree with each other
    manifest = json.loads((pack / "manifest.json").read_text())
    (pack / ENVELOPE).unlink()
    files = PackFiles(pack)
    signed = statement({name: files.digest(name) for name in files.names()}, manifest)
    (pack / ENVELOPE).write_bytes(seal(signed, private_key(key)))
    assert [str(flaw) for flaw in verify_pack(pack, public).flaws] == [
        "audit.json: says something else than what was signed"
    ]


def test_a_swapped_model_is_found(pack: Path, public: Path, evidence: Evidence, key: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    other.write_bytes(b"weights that still know 3")
    assert _flaws(pack, public) == []
    assert verify_pack(pack, public, model=evidence.unlearned_file).holds
    assert [flaw.file for flaw in verify_pack(pack, public, model=other).flaws] == [str(other)]
    shutil.copy(other, pack / "model" / "unlearned.safetensors")
    assert "model/unlearned.safetensors" in _flaws(pack, public)
    write_pack(replace(evidence, unlearned_file=other), pack, key, PackOptions())  # signed, but of another model
    assert _flaws(pack, public) == ["model/unlearned.safetensors"]


def test_files_of_another_pack_are_found(pack: Path, public: Path, evidence: Evidence, key: Path) -> None:
    other = pack.with_name("other")
    write_pack(replace(evidence, operator="bob"), other, key, PackOptions())
    for name in ("manifest.json", "signer.pub", "model.sig"):
        shutil.copy(other / name, pack / name)
    assert set(_flaws(pack, public)) == {"manifest.json", "model.sig"}


def _flip_one(path: Path, draw: random.Random) -> None:
    _flip(path, draw.randrange(path.stat().st_size))


def _append(path: Path, draw: random.Random) -> None:
    path.write_bytes(path.read_bytes() + b"PK")


@pytest.mark.parametrize("change", [_flip_one, _append])
def test_a_zip_is_checked_byte_by_byte(
    pack: Path, public: Path, tmp_path: Path, change: Callable[[Path, random.Random], None]
) -> None:
    path = write_zip(pack, tmp_path / "pack.zip")
    before, draw = path.read_bytes(), random.Random(0)
    for _ in range(25):
        change(path, draw)
        try:
            assert _flaws(path, public)
        except InputError as error:
            assert "no zip" in str(error)
        path.write_bytes(before)


def test_names_that_lead_out_of_a_zip_write_nothing(pack: Path, public: Path, tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "pack.zip"
    write_zip(pack, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model/../../escaped", b"x")
    assert "model/../../escaped" in _flaws(path, public)
    assert not list(tmp_path.parent.rglob("escaped"))


def test_what_is_no_pack_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no pack"):
        verify_pack(tmp_path / "nothing")
    (tmp_path / "text.zip").write_text("no zip")
    assert "no zip" in str(verify_pack(tmp_path / "text.zip").flaws[0])
    (tmp_path / "folder").mkdir()
    assert not verify_pack(tmp_path / "folder").holds


DEEP = "[" * 100_000


@pytest.mark.parametrize("name", ["audit.json", "manifest.json", ENVELOPE])
@pytest.mark.parametrize("content", [DEEP, "[]", "null", '{"payload": 3}', ""])
def test_whatever_lies_in_a_pack_is_a_flaw_and_no_accident(pack: Path, public: Path, name: str, content: str) -> None:
    (pack / name).write_text(content)
    assert name in _flaws(pack, public)


@pytest.mark.parametrize("predicate", [{}, [], "x", {"models": 3}, {"models": {"unlearned": {"sha256": 1}}}])
def test_a_signed_statement_of_something_else_is_no_evidence(pack: Path, key: Path, predicate: object) -> None:
    content = statement({"letter.txt": PackFiles(pack).digest("letter.txt")}, {"x": 1})
    (pack / ENVELOPE).write_bytes(seal({**content, "predicate": predicate}, private_key(key)))
    assert _flaws(pack, None) == [ENVELOPE]


def test_a_zip_that_cannot_be_read_or_is_squeezed_was_changed(pack: Path, public: Path, tmp_path: Path) -> None:
    path = write_zip(pack, tmp_path / "pack.zip")
    content = path.read_bytes()
    path.write_bytes(content[:-30])
    assert _flaws(path, public) == ["pack.zip"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in PackFiles(pack).names():
            archive.write(pack / name, name)
    assert not verify_pack(path, public).holds
