"""An evidence pack: what it holds, what it leaves out, and that other programs can check it."""

import base64
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from unclass.ledger.evidence import Evidence
from unclass.ledger.keys import PASSWORD, new_key
from unclass.ledger.pack import PackOptions, write_pack
from unclass.ledger.redact import without_paths
from unclass.ledger.verify import ENVELOPE, verify_pack


def _all_text(pack: Path) -> str:
    return "".join(file.read_text(errors="replace") for file in pack.rglob("*") if file.is_file())


def test_a_pack_holds_what_an_auditor_asks_for(pack: Path, evidence: Evidence) -> None:
    manifest = json.loads((pack / "manifest.json").read_text())
    assert manifest["models"]["original"]["sha256"] == evidence.original.sha256
    assert manifest["models"]["unlearned"]["sha256"] == evidence.unlearned.sha256
    assert manifest["models"]["unlearned"]["card"]["forgotten"] == ["3"]
    assert manifest["request"]["ground"] == "GDPR Art. 17(1)(b)"
    assert manifest["verdict"] == evidence.audit["verdict"]
    assert {"forget", "audit", "original", "unlearned"} <= manifest["chain"].keys()
    page = (pack / "regulator.html").read_text()
    for heading in ("What was done", "On which copies", "What is left to do", "Threat model", "Residual risk"):
        assert heading in page
    assert "R-1" in (pack / "letter.txt").read_text()


def test_a_pack_of_single_images_names_only_the_attacks_that_were_tried(
    evidence: Evidence, key: Path, tmp_path: Path
) -> None:
    asked = replace(evidence.request, classes=(), images=("3", "17"))
    record = {**evidence.record, "forget_list": {"count": 2, "digest": "ab" * 32}}
    write_pack(replace(evidence, request=asked, record=record), tmp_path / "images", key, PackOptions())
    tried = json.loads((tmp_path / "images" / "manifest.json").read_text())["threat_model"]["attacks tried"]
    assert tried.startswith("black-box membership inference") and "white-box" not in tried
    letter = (tmp_path / "images" / "letter.txt").read_text()
    assert "so that it gives up what it had learned from 2 images.\n" in letter


def test_the_original_model_is_in_no_pack(pack: Path) -> None:
    assert "weights of the original" not in _all_text(pack)


def test_there_are_pictures_only_if_asked_for(pack: Path, evidence: Evidence, key: Path, tmp_path: Path) -> None:
    assert "data:image/png" not in _all_text(pack)
    write_pack(evidence, tmp_path / "with", key, PackOptions(pictures=True))
    assert "data:image/png" in (tmp_path / "with" / "audit.json").read_text()


def test_redacted_there_are_no_private_paths(pack: Path, evidence: Evidence, key: Path, tmp_path: Path) -> None:
    assert "jane" in _all_text(pack)
    write_pack(evidence, tmp_path / "redacted", key, PackOptions(redact=True))
    assert "jane" not in _all_text(tmp_path / "redacted")
    assert verify_pack(tmp_path / "redacted", key.with_suffix(".pub")).holds


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("/home/jane doe/model.pt", "…/model.pt"),
        ("forget ~/a b/m.pt --data folder:/srv/x/photos --class 3", "forget …/m.pt --data folder:…/photos --class 3"),
        (r"C:\Users\jane\m.pt", "…/m.pt"),
        ("csv:lists/jane/all.csv", "csv:…/all.csv"),
        ("https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v1"),
        ("cat/dog", "cat/dog"),
        ("3 is gone: 0.0 % of D_f", "3 is gone: 0.0 % of D_f"),
    ],
)  # fmt: skip
def test_of_a_path_the_last_part_is_left(given: str, left: str) -> None:
    assert without_paths({"text": [given]}) == {"text": [left]}


def test_names_are_text_in_every_page(evidence: Evidence, key: Path, tmp_path: Path) -> None:
    nasty = "</script><img src=x onerror=alert(1)>"
    request = replace(evidence.request, classes=(nasty,), ground=nasty)
    write_pack(replace(evidence, request=request), tmp_path / "nasty", key, PackOptions())
    assert nasty not in (tmp_path / "nasty" / "regulator.html").read_text()


def test_the_statement_is_in_toto_and_the_envelope_dsse(pack: Path, key: Path) -> None:
    from google.protobuf.json_format import ParseDict
    from in_toto_attestation.v1.statement import Statement
    from in_toto_attestation.v1.statement_pb2 import Statement as Message

    envelope = json.loads((pack / ENVELOPE).read_text())
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    payload = json.loads(base64.b64decode(envelope["payload"]))
    Statement.copy_from_pb(ParseDict(payload, Message())).validate()
    names = {subject["name"] for subject in payload["subject"]}
    assert names == {file.relative_to(pack).as_posix() for file in pack.rglob("*") if file.is_file()} - {ENVELOPE}


def test_openssf_model_signing_checks_the_weights(pack: Path, key: Path) -> None:
    def check() -> int:
        command = [sys.executable, "-m", "model_signing", "verify", "key", str(pack / "model")]
        given = ["--signature", str(pack / "model.sig"), "--public_key", str(key.with_suffix(".pub"))]
        return subprocess.run([*command, *given], capture_output=True).returncode

    assert check() == 0
    (pack / "model" / "unlearned.safetensors").write_bytes(b"weights with 3 again")
    assert check() != 0


def test_ed25519_signs_the_statement_and_no_weights(evidence: Evidence, tmp_path: Path) -> None:
    private, public = new_key(tmp_path / "ed.pem", "ed25519")
    manifest = write_pack(evidence, tmp_path / "pack", private, PackOptions())
    assert manifest["signer"]["weights_signed"] is False
    assert not (tmp_path / "pack" / "model.sig").exists()
    assert verify_pack(tmp_path / "pack", public).holds
    (tmp_path / "pack" / "model" / "unlearned.safetensors").write_bytes(b"swapped")
    assert not verify_pack(tmp_path / "pack", public).holds


def test_a_key_with_a_password_signs_both(evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, public = new_key(tmp_path / "locked.pem", password="open sesame")
    monkeypatch.setenv(PASSWORD, "open sesame")
    write_pack(evidence, tmp_path / "pack", private, PackOptions())
    monkeypatch.delenv(PASSWORD)
    assert verify_pack(tmp_path / "pack", public).holds
