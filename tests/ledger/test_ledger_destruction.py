"""Weights are taken out of a pack by whoever signed it, and the pack still verifies."""

import shutil
from pathlib import Path

import pytest

from unclass.ledger.destruction import has_weights, signer_of, take_out_weights
from unclass.ledger.envelope import Untrue
from unclass.ledger.keys import fingerprint, new_key, private_key
from unclass.ledger.pack_files import pack_files, write_zip
from unclass.ledger.verify import REMOVED, verify_pack

AT = "2026-03-01T10:00:00Z"
WEIGHTS = b"weights without 3"


@pytest.fixture(params=["folder", "zip"])
def either(request: pytest.FixtureRequest, pack: Path) -> Path:
    """A pack, as a folder or as a single file."""
    if request.param == "folder":
        return pack
    write_zip(pack, pack.with_suffix(".zip"))
    shutil.rmtree(pack)
    return pack.with_suffix(".zip")


def bytes_of(pack: Path) -> bytes:
    files = pack_files(pack)
    return b"".join(files.read(name) for name in files.names())


def test_the_weights_are_gone_and_the_rest_is_as_it_was(either: Path, key: Path) -> None:
    files = pack_files(either)
    before = {name: files.read(name) for name in files.names() if not name.startswith("model/")}
    assert has_weights(either) and WEIGHTS in bytes_of(either)
    take_out_weights(either, private_key(key), "ann", AT)
    assert not has_weights(either) and WEIGHTS not in bytes_of(either)
    after = pack_files(either)
    assert {name: after.read(name) for name in before} == before
    assert verify_pack(either, key.with_suffix(".pub")).holds


def test_a_pack_without_weights_and_without_that_word_does_not_hold(either: Path, key: Path) -> None:
    take_out_weights(either, private_key(key), "ann", AT)
    folder = either if either.is_dir() else either.with_suffix("")
    if either.is_file():
        shutil.unpack_archive(either, folder)
    (folder / REMOVED).unlink()
    assert not verify_pack(folder, key.with_suffix(".pub")).holds


def test_another_key_takes_nothing_out(either: Path, key: Path, tmp_path: Path) -> None:
    other = private_key(new_key(tmp_path / "other.pem")[0])
    assert signer_of(either) == fingerprint(private_key(key).public_key()) != fingerprint(other.public_key())
    with pytest.raises(Untrue, match="signed with another key"):
        take_out_weights(either, other, "eve", AT)
    assert has_weights(either) and verify_pack(either, key.with_suffix(".pub")).holds


def test_done_twice_it_still_holds(either: Path, key: Path) -> None:
    for _ in range(2):
        take_out_weights(either, private_key(key), "ann", AT)
    assert verify_pack(either, key.with_suffix(".pub")).holds
