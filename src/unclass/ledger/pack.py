"""Writing an evidence pack: what is known of an erasure, as files, with a signed statement over all of them."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unclass.audits.result import Audit
from unclass.ledger.envelope import can_sign_weights, seal, sign_weights, statement
from unclass.ledger.evidence import Evidence, manifest
from unclass.ledger.files import copy
from unclass.ledger.keys import PASSWORD, fingerprint, kind_of, private_key, public_pem
from unclass.ledger.pack_files import PackFiles
from unclass.ledger.redact import without_paths, without_pictures
from unclass.ledger.rendering import render
from unclass.ledger.sigstore import sign_by_sigstore
from unclass.ledger.verify import AUDIT, ENVELOPE, IDENTITY, MANIFEST, PUBLIC, SIGNATURE, WEIGHTS
from unclass.ledger.wording import letter
from unclass.storage import with_digest, write_json


@dataclass(frozen=True)
class PackOptions:
    """How a pack is made: pictures only if asked for; paths shortened where they are nobody else's business.

    With `sigstore` the weights are signed with an identity as well, over the network.
    """

    pictures: bool = False
    redact: bool = False
    sigstore: bool = False


def write_pack(evidence: Evidence, folder: Path, key_file: Path, options: PackOptions) -> dict[str, Any]:
    """Write a pack into a new folder and return its manifest. Whatever lay there before is removed."""
    key = private_key(key_file)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    audit = dict(evidence.audit) if options.pictures else without_pictures(evidence.audit)
    audit, record = (without_paths(one) if options.redact else one for one in (audit, dict(evidence.record)))
    write_json(folder / "forget.json", with_digest(record))  # anew: what was left out is no part of them any more
    write_json(folder / AUDIT, with_digest(audit))
    Audit.of(audit, AUDIT).save(folder / "report.html")
    (folder / PUBLIC).write_bytes(public_pem(key.public_key()))
    _put_weights(evidence, folder, key, key_file)
    if options.sigstore:
        sign_by_sigstore(folder / WEIGHTS, folder / IDENTITY)
    files = PackFiles(folder)
    records = {"forget": files.digest("forget.json"), "audit": files.digest(AUDIT)}
    found = manifest(evidence, records, _signer(key))
    content: dict[str, Any] = without_paths(found) if options.redact else found
    write_json(folder / MANIFEST, content)
    model = evidence.request.model
    (folder / "letter.txt").write_text(letter(content, model), encoding="utf-8")
    (folder / "regulator.html").write_text(render("regulator.html", manifest=content, model=model), encoding="utf-8")
    sealed = seal(statement({name: files.digest(name) for name in files.names()}, content), key)
    (folder / ENVELOPE).write_bytes(sealed)
    _to_disk(folder)
    # JSON knows no tuples: what is returned is what a reader of the pack finds.
    read: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return read


def _put_weights(evidence: Evidence, folder: Path, key: Any, key_file: Path) -> None:
    """Copy the unlearned model into the pack and sign it. The original never goes into one."""
    inside = folder / WEIGHTS
    source = evidence.unlearned_file
    copy(source, inside if source.is_dir() else inside / f"unlearned{source.suffix}")
    if can_sign_weights(key):
        sign_weights(inside, folder / SIGNATURE, key_file, os.environ.get(PASSWORD))


def _signer(key: Any) -> dict[str, Any]:
    public = key.public_key()
    return {"kind": kind_of(public), "fingerprint": fingerprint(public), "weights_signed": can_sign_weights(key)}


def _to_disk(folder: Path) -> None:
    """Make sure that what was written outlives a power failure."""
    for path in (*sorted(folder.rglob("*")), folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
