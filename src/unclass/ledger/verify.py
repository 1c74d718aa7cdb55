"""Verifying an evidence pack: is every byte what was signed, by whom, and does it speak of one and the same erasure?"""

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unclass.errors import InputError
from unclass.ledger.envelope import DESTRUCTION, Untrue, check_weights, unseal
from unclass.ledger.files import content_digest
from unclass.ledger.keys import fingerprint, public_key, public_key_from
from unclass.ledger.pack_files import NoZip, PackFiles, is_plain, pack_files
from unclass.ledger.sigstore import check_by_sigstore

ENVELOPE, PUBLIC, MANIFEST = "statement.dsse.json", "signer.pub", "manifest.json"
AUDIT, WEIGHTS, SIGNATURE, REMOVED = "audit.json", "model", "model.sig", "removed.dsse.json"
IDENTITY = "model.sigstore.json"


@dataclass(frozen=True)
class Flaw:
    """What is wrong, and with which file."""

    file: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


@dataclass(frozen=True)
class Verification:
    """What was found: nothing wrong, or which files are not what was signed."""

    flaws: tuple[Flaw, ...]
    manifest: Mapping[str, Any]
    signer: str

    @property
    def holds(self) -> bool:
        return not self.flaws


def verify_pack(
    path: Path, key: Path | None = None, model: Path | None = None, identity: tuple[str, str] | None = None
) -> Verification:
    """Check a pack against a public key: the one given, else the one in the pack, which vouches only for itself.

    With `model`, also whether that file is the unlearned model of the pack; with `identity`, a name and who vouches for
    it, whether that signed the weights by sigstore, which is asked over the network.
    """
    try:
        files = pack_files(path)
    except NoZip as error:
        return Verification((Flaw(path.name, str(error)),), {}, "")
    trusted = None if key is None else public_key(key)
    try:
        signer = public_key_from(files.read(PUBLIC), PUBLIC)
    except (OSError, InputError):
        signer = None
    judge = signer if trusted is None else trusted
    if judge is None:
        return Verification((Flaw(PUBLIC, "missing, or no public key"),), {}, "")
    try:
        sealed = unseal(files.read(ENVELOPE), judge)
    except OSError:
        return Verification((Flaw(ENVELOPE, "missing: nothing vouches for the pack"),), {}, fingerprint(judge))
    except Untrue as error:
        return Verification((Flaw(ENVELOPE, str(error)),), {}, fingerprint(judge))
    if not _is_erasure(sealed["predicate"]):
        return Verification((Flaw(ENVELOPE, "is signed, but says nothing of an erasure"),), {}, fingerprint(judge))
    removed, flaws = _removed(files, sealed, judge)
    flaws += [*_whole(files, path), *_changed(files, sealed, removed), *_unlike(files, sealed["predicate"])]
    if not flaws and not removed:
        flaws += [*_other_weights(files, sealed["predicate"]), *_unsigned_weights(files, sealed["predicate"])]
    if identity is not None and not removed:
        flaws += _other_identity(files, *identity)
    if model is not None and content_digest(model) != sealed["predicate"]["models"]["unlearned"]["sha256"]:
        flaws.append(Flaw(str(model), "is not the unlearned model of this pack"))
    return Verification(tuple(flaws), sealed["predicate"], fingerprint(judge))


def _is_erasure(predicate: Any) -> bool:
    """Whether what was signed has the parts of an erasure that are looked at here."""
    try:
        texts = [predicate["models"]["unlearned"]["sha256"], predicate["verdict"]["sentence"]]
        texts += [predicate["request"]["id"], predicate["request"]["asks_for"]]
        return all(isinstance(one, str) for one in texts) and "weights_signed" in predicate["signer"]
    except (KeyError, TypeError):
        return False


def _whole(files: PackFiles, path: Path) -> Iterator[Flaw]:
    if flaw := files.flaw():
        yield Flaw(path.name, flaw)


def _removed(files: PackFiles, sealed: Mapping[str, Any], judge: Any) -> tuple[set[str], list[Flaw]]:
    """Return the files that the signer has taken out of the pack since, by a statement of its own."""
    if REMOVED not in files.names():
        return set(), []
    try:
        said = unseal(files.read(REMOVED), judge, DESTRUCTION)
    except (OSError, Untrue) as error:
        return set(), [Flaw(REMOVED, str(error))]
    if said["predicate"].get("pack") != files.digest(ENVELOPE):
        return set(), [Flaw(REMOVED, "speaks of another pack")]
    return {one["name"] for one in said["subject"] if one in sealed["subject"]}, []


def _changed(files: PackFiles, sealed: Mapping[str, Any], removed: set[str]) -> Iterator[Flaw]:
    """Compare what lies in the pack with what was signed."""
    signed = {one["name"]: one["digest"]["sha256"] for one in sealed["subject"]}
    there = set(files.names())
    for name in sorted(there - signed.keys() - {ENVELOPE, REMOVED}):
        yield Flaw(name, "is no part of what was signed")
    for name, digest in signed.items():
        if name not in there and name in removed:
            continue
        if name not in there or not is_plain(name):
            yield Flaw(name, "missing")
            continue
        try:
            found = files.digest(name)
        except OSError as error:
            yield Flaw(name, str(error))
            continue
        if found != digest:
            yield Flaw(name, "changed: not what was signed")


def _unlike(files: PackFiles, manifest: Mapping[str, Any]) -> Iterator[Flaw]:
    """Find files whose content contradicts the manifest."""
    for name, expected in ((MANIFEST, manifest), (AUDIT, manifest["verdict"])):
        try:
            found = json.loads(files.read(name))
        except (OSError, ValueError, RecursionError):
            continue  # missing or changed, as was found before
        if name == AUDIT:
            found = found.get("verdict") if isinstance(found, dict) else None
        if found != expected:
            yield Flaw(name, "says something else than what was signed")


def _other_weights(files: PackFiles, manifest: Mapping[str, Any]) -> Iterator[Flaw]:
    """Find a model that is not the one of the manifest."""
    with tempfile.TemporaryDirectory() as scratch:
        weights = model_in(files.folder(WEIGHTS, Path(scratch)))
        if content_digest(weights) != manifest["models"]["unlearned"]["sha256"]:
            yield Flaw(
                WEIGHTS if weights.is_dir() else f"{WEIGHTS}/{weights.name}", "is not the model that was audited"
            )


def _unsigned_weights(files: PackFiles, manifest: Mapping[str, Any]) -> list[Flaw]:
    """Check OpenSSF's signature of the weights, where the key was of a kind that can make one."""
    if SIGNATURE not in files.names():
        wanted = manifest["signer"]["weights_signed"]
        return [Flaw(SIGNATURE, "missing")] if wanted else []
    with tempfile.TemporaryDirectory() as scratch:
        for name in (SIGNATURE, PUBLIC):
            (Path(scratch) / name).write_bytes(files.read(name))
        try:
            check_weights(files.folder(WEIGHTS, Path(scratch)), Path(scratch) / SIGNATURE, Path(scratch) / PUBLIC)
        except Untrue as error:
            return [Flaw(SIGNATURE, str(error))]
    return []


def _other_identity(files: PackFiles, identity: str, provider: str) -> list[Flaw]:
    """Check that an identity has signed the weights by sigstore."""
    if IDENTITY not in files.names():
        return [Flaw(IDENTITY, "missing: nobody signed the weights by sigstore")]
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / IDENTITY).write_bytes(files.read(IDENTITY))
        try:
            check_by_sigstore(files.folder(WEIGHTS, Path(scratch)), Path(scratch) / IDENTITY, identity, provider)
        except Untrue as error:
            return [Flaw(IDENTITY, str(error))]
    return []


def model_in(folder: Path) -> Path:
    """Return the model in a pack's folder of weights: its only file, or the folder where it has several."""
    inside = sorted(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_file() else folder
