"""Weights are signed with an identity by sigstore where that is asked for; nobody else reaches a network."""

from pathlib import Path
from typing import Any

import pytest
from model_signing import signing, verifying

from unclass.cli import run
from unclass.errors import InputError
from unclass.ledger.evidence import Evidence
from unclass.ledger.pack import PackOptions, write_pack
from unclass.ledger.sigstore import check_by_sigstore, sigstore_signer
from unclass.ledger.verify import IDENTITY, verify_pack

ANN = ("ann@example.org", "https://login.example.org")


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Sigstore as it is where a network is there: who asks it for what is written down."""
    asked: list[str] = []

    def signer(self: Any, **options: Any) -> Any:
        asked.append("signer")
        self.sign = lambda folder, signature: Path(signature).write_text(f"ann signs {len(list(folder.iterdir()))}")
        return self

    def verifier(self: Any, identity: str, oidc_issuer: str) -> Any:
        def verify(folder: Path, signature: Path) -> None:
            if (identity, oidc_issuer) != ANN or signature.read_text() != "ann signs 1":
                raise ValueError("another identity")

        asked.append("verifier")
        self.verify = verify
        return self

    monkeypatch.setattr(signing.Config, "use_sigstore_signer", signer)
    monkeypatch.setattr(verifying.Config, "use_sigstore_verifier", verifier)
    return asked


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, **options: Any) -> Any:
        raise ConnectionError("no route\nto host")

    monkeypatch.setattr(signing.Config, "use_sigstore_signer", fails)
    monkeypatch.setattr(verifying.Config, "use_sigstore_verifier", fails)


def test_an_identity_signs_only_where_it_is_asked_for(
    evidence: Evidence, key: Path, tmp_path: Path, reached: list[str]
) -> None:
    write_pack(evidence, tmp_path / "without", key, PackOptions())
    assert verify_pack(tmp_path / "without").holds and not reached
    write_pack(evidence, tmp_path / "with", key, PackOptions(sigstore=True))
    assert reached == ["signer"] and (tmp_path / "with" / IDENTITY).is_file()
    assert verify_pack(tmp_path / "with").holds and reached == ["signer"]
    assert verify_pack(tmp_path / "with", identity=ANN).holds and reached == ["signer", "verifier"]


def test_another_identity_or_none_is_found(evidence: Evidence, key: Path, tmp_path: Path, reached: list[str]) -> None:
    write_pack(evidence, tmp_path / "with", key, PackOptions(sigstore=True))
    found = verify_pack(tmp_path / "with", identity=("bob@example.org", ANN[1]))
    assert [str(flaw) for flaw in found.flaws] == [f"{IDENTITY}: does not vouch for the weights (another identity)"]
    write_pack(evidence, tmp_path / "without", key, PackOptions())
    assert "nobody signed" in str(verify_pack(tmp_path / "without", identity=ANN).flaws[0])


def test_the_signature_is_part_of_what_the_key_signs(
    evidence: Evidence, key: Path, tmp_path: Path, reached: list[str]
) -> None:
    write_pack(evidence, tmp_path / "with", key, PackOptions(sigstore=True))
    (tmp_path / "with" / IDENTITY).unlink()
    assert f"{IDENTITY}: missing" in map(str, verify_pack(tmp_path / "with").flaws)


def test_where_it_cannot_be_reached_one_line_says_so(unreachable: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^sigstore could not be asked to sign \(ConnectionError: no route to host\)"):
        sigstore_signer()
    with pytest.raises(InputError, match="could not be asked to verify"):
        check_by_sigstore(tmp_path, tmp_path / IDENTITY, *ANN)


def test_erase_refuses_before_any_work(
    unreachable: None, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["erase", "R-1", "--sigstore", "--signing-key", str(key), "--ledger", str(tmp_path / "none.ledger")])
    assert code == 2 and "leave --sigstore out" in capsys.readouterr().err


def test_an_identity_without_its_provider_is_refused(pack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(pack), "--identity", "ann@example.org"]) == 2
    assert "give both --identity and --identity-provider" in capsys.readouterr().err
