"""Taking weights out of a pack when they must go, so that the pack still verifies.

The unlearned model of one erasure still knows what a later one took away. When it is destroyed, a second statement,
signed with the same key, says which file was taken out, when and by whom; the first one stays as it is.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unclass.ledger.envelope import DESTRUCTION, Untrue, seal, statement, unseal
from unclass.ledger.files import destroy
from unclass.ledger.keys import fingerprint
from unclass.ledger.pack_files import PackFiles, pack_files, write_zip
from unclass.ledger.verify import ENVELOPE, REMOVED, WEIGHTS

REASON = "destroyed: a later erasure took away what these weights still knew"


def signer_of(path: Path) -> str:
    """Return the fingerprint of the key that a pack was signed with."""
    content = json.loads(pack_files(path).read("manifest.json"))
    return str(content["signer"]["fingerprint"])


def has_weights(path: Path) -> bool:
    """Whether a pack still holds its weights."""
    return any(name.startswith(f"{WEIGHTS}/") for name in pack_files(path).names())


def take_out_weights(path: Path, key: Any, operator: str, at: str) -> None:
    """Destroy the weights in a pack and leave a signed statement of that."""
    files = pack_files(path)
    if fingerprint(key.public_key()) != signer_of(path):
        raise Untrue("was signed with another key")
    signed = {one["name"]: one["digest"]["sha256"] for one in unseal(files.read(ENVELOPE), key.public_key())["subject"]}
    gone = {name: digest for name, digest in signed.items() if name.startswith(f"{WEIGHTS}/")}
    said: Mapping[str, Any] = {"at": at, "operator": operator, "why": REASON, "pack": files.digest(ENVELOPE)}
    sealed = seal(statement(gone, said, DESTRUCTION), key)
    if path.is_dir():
        (path / REMOVED).write_bytes(sealed)  # first: a pack that says it and still has them holds as well
        destroy(path / WEIGHTS)
        return
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        _unzip(files, Path(scratch))
        (Path(scratch) / REMOVED).write_bytes(sealed)
        shutil.rmtree(Path(scratch) / WEIGHTS, ignore_errors=True)
        write_zip(Path(scratch), path)


def _unzip(files: PackFiles, folder: Path) -> None:
    for name in files.names():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(files.read(name))
