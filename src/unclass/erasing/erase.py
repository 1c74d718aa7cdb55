"""Erasing on request: forget, audit, pack, new version. One unit that a kill at any moment leaves whole and resumable.

Each step writes its files beside its goal, moves them there, and only then says in the ledger that it is done; done
again it gives the same. The version, the answer to the request and what is in service change in one transaction at the
end, so that nobody ever sees a part of it. One process at a time works on a model; the next one waits.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unclass.erasing import erasures
from unclass.erasing.erasures import Erasure, work_folder
from unclass.erasing.gathering import evidence_of
from unclass.erasing.job import Job
from unclass.erasing.work import audit_step, forget_step, images_of, unlearned_in
from unclass.errors import InputError
from unclass.ledger.files import content_digest, keep
from unclass.ledger.models import add_version, answer, answers, in_service
from unclass.ledger.pack import write_pack
from unclass.ledger.pack_files import write_zip
from unclass.ledger.requests import request_named
from unclass.ledger.store import Ledger, log, now
from unclass.ledger.verify import ENVELOPE
from unclass.storage import Lock, sha256

GOOD = ("passed", "passed without reference")
LONGEST_WAIT = 24 * 3600.0
Say = Callable[[str], None]


@dataclass(frozen=True)
class Erased:
    """What an erasure came to: the version in service and the pack, or the verdict for which there is none."""

    request: str
    version: int | None
    pack: Path | None
    status: str
    sentence: str

    @property
    def is_done(self) -> bool:
        return self.version is not None

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "pack": None if self.pack is None else str(self.pack), "done": self.is_done}


def erase(ledger: Ledger, request: str, job: Job, operator: str, say: Say = lambda _: None) -> Erased:
    """Do what a request asks for, or go on where an earlier attempt was interrupted."""
    with ledger.reading() as database:
        model = request_named(database, request).model
    with _alone(ledger, model, say):
        _sweep(ledger)
        if (done := _already(ledger, request)) is not None:
            say(f"{request} is done already")
            return done
        return _steps(ledger, erasures.begin(ledger, request, job, operator), job, say)


def _steps(ledger: Ledger, erasure: Erasure, job: Job, say: Say) -> Erased:
    """Walk through the steps that are left."""
    request, folder = erasure.request.id, work_folder(ledger, erasure.id)
    if erasure.step == "begun":
        say(f"{request}: forgetting {erasure.request.wish()} with {job.method}")
        forget_step(ledger, erasure.request, erasure.source, job, folder)
        erasure = erasures.forgotten(ledger, erasure, content_digest(unlearned_in(folder)))
    if erasure.step == "forgotten":
        say(f"{request}: auditing")
        verdict = audit_step(ledger, erasure.request, erasure.source, job, folder, erasure.operator)
        erasure = erasures.audited(ledger, erasure, sha256(folder / "audit.json"), verdict)
    status, sentence = erasures.verdict_of(ledger, erasure)
    if erasure.step == "audited" and status not in GOOD and not job.accept:
        erasures.failed(ledger, erasure, sentence)
        return Erased(request, None, None, status, sentence)
    if erasure.step == "audited":
        say(f"{request}: writing the evidence")
        erasure = _pack(ledger, erasure, job, folder)
    number, pack = _put_into_service(ledger, erasure, folder)
    shutil.rmtree(folder, ignore_errors=True)
    return Erased(request, number, pack, status, sentence)


def _pack(ledger: Ledger, erasure: Erasure, job: Job, folder: Path) -> Erasure:
    """Write the pack and move it to the others."""
    name = erasures.pack_name(ledger, erasure) + (".zip" if job.zip else "")
    manifest = write_pack(evidence_of(ledger, erasure, job, folder), folder / "pack", job.key, job.pack)
    digest, target = sha256(folder / "pack" / ENVELOPE), ledger.folder / "packs" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    if job.zip:
        write_zip(folder / "pack", target)
    else:
        shutil.rmtree(target, ignore_errors=True)  # of an attempt that was killed before it could say that it was done
        (folder / "pack").rename(target)
    return erasures.packed(ledger, erasure, name, digest, manifest["signer"]["fingerprint"])


def _put_into_service(ledger: Ledger, erasure: Erasure, folder: Path) -> tuple[int, Path]:
    """Make the new version, answer the request and change what is in service: all at once, or not at all."""
    digest, ending = keep(ledger.folder, unlearned_in(folder))
    card, images = json.loads((folder / "card.json").read_text(encoding="utf-8")), images_of(folder)
    model, request = erasure.request.model, erasure.request.id
    with ledger.writing() as database:
        overtaken = in_service(database, model).id != erasure.source.id
        if overtaken:
            erasures.abandon(ledger, erasure.id)
        else:
            source = f"erasure of {request}"
            version = add_version(database, model, digest, ending, card, erasure.source, source, erasure.operator)
            for one in {*answers(database, erasure.source), request}:
                answer(database, version, one)
            pairs = [(one, request) for one in images]
            database.executemany("INSERT OR IGNORE INTO erased_images VALUES (?, ?)", pairs)
            database.execute(
                "UPDATE erasures SET step = 'finished', result = ?, finished = ? WHERE id = ?",
                (version.id, now(), erasure.id),
            )
            log(database, erasure.operator, "erased", request, f"version {version.number} of {model}: {digest}")
            name = database.execute("SELECT name FROM packs WHERE erasure = ?", (erasure.id,)).fetchone()["name"]
    if overtaken:
        raise InputError(f"another version of {model} was put into service meanwhile; erase {request} again")
    return version.number, ledger.folder / "packs" / name


def _already(ledger: Ledger, request: str) -> Erased | None:
    """Return what was done before, where the request is settled; raise where it was withdrawn."""
    with ledger.reading() as database:
        found = request_named(database, request)
        if found.state == "withdrawn":
            raise InputError(f"request {request} was withdrawn; there is nothing to erase")
        if found.state != "done":
            return None
        serving = in_service(database, found.model)
        row = database.execute(
            "SELECT p.name, a.status, a.sentence FROM erasures e JOIN packs p ON p.erasure = e.id"
            " JOIN audits a ON a.erasure = e.id WHERE e.request = ? AND e.step = 'finished' ORDER BY e.id DESC",
            (request,),
        ).fetchone()
    if row is None:
        return Erased(request, serving.number, None, "none", "The model had forgotten it when it was put into service.")
    return Erased(request, serving.number, ledger.folder / "packs" / row["name"], row["status"], row["sentence"])


@contextmanager
def _alone(ledger: Ledger, model: str, say: Say) -> Iterator[None]:
    """Work on a model while nobody else does; say whom that waits for."""
    place = ledger.folder / "work" / model
    with ExitStack() as held:
        try:
            held.enter_context(Lock(place, wait=0))
        except InputError:
            say(f"{model} is being worked on by {Lock(place).holder()}; waiting")
            held.enter_context(Lock(place, wait=LONGEST_WAIT))
        yield


def _sweep(ledger: Ledger) -> None:
    """Remove the work of erasures that are over. Those that failed wait for a decision."""
    for row in ledger.database.execute("SELECT id FROM erasures WHERE step IN (?, ?)", erasures.OVER).fetchall():
        if (folder := work_folder(ledger, row["id"])).exists():
            shutil.rmtree(folder, ignore_errors=True)
