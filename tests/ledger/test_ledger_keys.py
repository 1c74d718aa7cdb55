"""Keys: files that only their owner can read, and that are never replaced."""

import base64
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unclass.errors import InputError
from unclass.ledger.keys import KINDS, PASSWORD, fingerprint, kind_of, new_key, private_key, public_key


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_and_its_public_half_belong_together(kind: str, tmp_path: Path) -> None:
    private, public = new_key(tmp_path / "signing.pem", kind)
    assert kind_of(public_key(public)) == kind
    assert fingerprint(private_key(private).public_key()) == fingerprint(public_key(public))
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_a_key_is_never_replaced(tmp_path: Path) -> None:
    private, public = new_key(tmp_path / "signing.pem")
    before = private.read_bytes()
    with pytest.raises(InputError, match="never replaced"):
        new_key(private)
    private.rename(tmp_path / "other.pem")
    with pytest.raises(InputError, match="never replaced"):
        new_key(private)
    assert not private.exists()
    assert (tmp_path / "other.pem").read_bytes() == before
    assert public.exists()


def test_a_password_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, _ = new_key(tmp_path / "signing.pem", password="open sesame")
    monkeypatch.delenv(PASSWORD, raising=False)
    with pytest.raises(InputError, match=PASSWORD):
        private_key(private)
    monkeypatch.setenv(PASSWORD, "open sesame")
    private_key(private)


def test_other_keys_and_files_are_named(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, generate_private_key

    from unclass.ledger.keys import public_pem

    (tmp_path / "p384.pub").write_bytes(public_pem(generate_private_key(SECP384R1()).public_key()))
    (tmp_path / "notes.txt").write_text("no key")
    with pytest.raises(InputError, match="secp384r1 are not used"):
        public_key(tmp_path / "p384.pub")
    for name in ("notes.txt", "nothing"):
        with pytest.raises(InputError, match=r"is no public key|cannot be read"):
            public_key(tmp_path / name)
    with pytest.raises(InputError, match="unknown kind of key"):
        new_key(tmp_path / "rsa.pem", "rsa")


def test_a_key_of_a_curve_that_nobody_knows_is_no_key(tmp_path: Path) -> None:
    _, public = new_key(tmp_path / "signing.pem")
    body = bytearray(base64.b64decode("".join(public.read_text().splitlines()[1:-1])))
    place = body.index(bytes.fromhex("2a8648ce3d030107"))  # the name of P-256
    body[place + 1] ^= 0x40
    text = base64.encodebytes(bytes(body)).decode()
    public.write_text(f"-----BEGIN PUBLIC KEY-----\n{text}-----END PUBLIC KEY-----\n")
    with pytest.raises(InputError, match="is no public key"):
        public_key(public)


@pytest.mark.parametrize("read", [private_key, public_key])
def test_a_key_is_a_plain_file_of_a_reasonable_size(read: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a pipe or a device"):
        read(Path("/dev/zero"))
    (tmp_path / "large.pem").write_bytes(bytes(2 << 20))
    with pytest.raises(InputError, match="more than the 1 MB"):
        read(tmp_path / "large.pem")


@pytest.mark.parametrize("name", ["/", ".", "..", "folder", "link", "pipe"])
def test_a_key_is_written_to_a_plain_file_or_not_at_all(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("link").symlink_to("elsewhere")
    os.mkfifo("pipe")
    with pytest.raises(InputError):
        new_key(Path(name))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "link", "pipe"]
