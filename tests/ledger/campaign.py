"""Kills, tamperings, pairs and scale in full numbers, by hand: `python tests/ledger/campaign.py kills --count 200`.

The suite runs the same functions in small numbers (test_ledger_campaign.py). What is tried is what is written and when:
after a first undisturbed erasure its audit is handed out again instead of being computed, unless with `--real-audits`.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from unclass.cli import run
from unclass.data import DataOptions, load_data
from unclass.erasing import work
from unclass.erasing.erase import erase
from unclass.erasing.job import Job
from unclass.erasing.work import settings_of
from unclass.errors import InputError
from unclass.ledger.history import status
from unclass.ledger.keys import new_key
from unclass.ledger.models import in_service, register, versions_of
from unclass.ledger.pack_files import PackFiles, write_zip
from unclass.ledger.requests import add_request, list_requests
from unclass.ledger.store import Ledger
from unclass.ledger.verify import verify_pack
from unclass.methods.retrain import Retrain
from unclass.models import Opening, save
from unclass.running import Settings, new_model, train_model
from unclass.training.engine import Engine

WHERE = DataOptions(per_class=20)
METHOD, OPTIONS = "random-labels", {"epochs": 2}


def fresh(folder: Path) -> tuple[Path, Path]:
    """Make a ledger with a tiny network in service and requests for 3 and 8; return it and the key."""
    torch.set_num_threads(1)
    data = load_data("digits", WHERE)
    torch.manual_seed(0)
    model = new_model(data, "small-cnn", {"width": 4})
    model = train_model(model, data, Retrain(epochs=8, lr=0.1), Engine(precision="float32"), Settings(batch_size=32))[0]
    file = save(model, folder / "digits.safetensors")
    key, _ = new_key(folder / "signing.pem")
    with Ledger(folder / "unclass.ledger", create=True) as ledger:
        settings = settings_of("digits", WHERE, Opening())
        register(ledger, file, model.card.as_dict(), settings, name="digits", operator="ann")
        for label in ("3", "8"):
            add_request(ledger, classes=[label], operator="ann")
    return folder / "unclass.ledger", key


def in_a_child(work: Callable[..., Any], *given: Any) -> int:
    """Run in a process of its own, which shares what was imported; return its number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work(*given)
            code = 0
        except InputError as error:
            print(error, file=sys.stderr)
        finally:
            os._exit(code)
    return child


def ended(child: int) -> int:
    """Wait for a child; return its exit code, negative if it was killed."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run_erase(path: Path, key: Path, request: str) -> None:
    with Ledger(path) as ledger:
        job = Job(key, METHOD, options=OPTIONS, accept="campaign", engine=Engine(precision="float32"))
        erase(ledger, request, job, "ann")


@contextmanager
def audits_computed_once(folder: Path, path: Path, key: Path, real: bool) -> Iterator[None]:
    """Erase in this process, so that its children have all imports; then hand out that audit again, unless `real`."""
    whole, kept = work.audit, {}

    def remembered(*given: Any, **named: Any) -> Any:
        classes = tuple(given[3])
        if classes not in kept:
            kept[classes] = whole(*given, **named)
        return kept[classes]

    work.audit = remembered  # type: ignore[assignment]
    try:
        copy = _copy(folder, path)
        for request in ("R-1", "R-2"):
            run_erase(copy, key, request)
        if real:
            work.audit = whole
        yield
    finally:
        work.audit = whole


def dies_at(boundary: int) -> Callable[[], int]:
    """Let this process kill itself just before its nth write: when it moves, syncs or removes a file, or commits.

    What is returned tells how many there were so far.
    """
    count = 0

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == boundary:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **named)

        return call

    for module, name in ((os, "replace"), (os, "rename"), (os, "fsync"), (os, "unlink"), (os, "rmdir"), (os, "mkdir")):
        setattr(module, name, counted(getattr(module, name)))
    transaction = Ledger._transaction
    step = counted(lambda: None)

    def watched(self: Ledger, begin: str) -> Any:
        step()
        self.database.set_trace_callback(
            lambda text: step() if text.startswith(("COMMIT", "INSERT", "UPDATE")) else None
        )
        return transaction(self, begin)

    Ledger._transaction = watched  # type: ignore[method-assign]
    return lambda: count


def flaws_after_kill(path: Path) -> list[str]:
    """Return what is not whole: the file, its references, a version in service without weights, a pack that lies."""
    found = []
    with sqlite3.connect(path) as plain:
        found += [row[0] for row in plain.execute("PRAGMA integrity_check") if row[0] != "ok"]
        found += [f"dangling {row}" for row in plain.execute("PRAGMA foreign_key_check")]
    with Ledger(path) as ledger:
        serving = in_service(ledger.database, "digits")
        with suppress(InputError):
            serving.file(ledger)
            serving = None  # type: ignore[assignment]
        if serving is not None:
            found.append("the version in service has no weights")
        done = [one.id for one in list_requests(ledger) if one.state == "done"]
        number = in_service(ledger.database, "digits").number
        if len(done) != number - 1:
            found.append(f"mixed: version {number} with {done} done")
        found += [f"lost {one}" for one in status(ledger).lost]
    return found


def flaws_at_the_end(path: Path, key: Path, expected: dict[str, str]) -> list[str]:
    """Return what differs from a run that nobody killed."""
    found = flaws_after_kill(path)
    with Ledger(path) as ledger:
        made = {f"{one.number}": one.sha256 for one in versions_of(ledger.database, "digits")}
        packs = [row["name"] for row in ledger.database.execute("SELECT name FROM packs")]
        found += [f"{pack} does not hold" for pack in packs if not _holds(ledger.folder / "packs" / pack, key)]
        found += [f"left over: {one}" for one in (ledger.folder / "work").glob("[0-9]*")]
    return found + ([] if not expected or made == expected else [f"versions {made} instead of {expected}"])


def kills(count: int, seed: int = 0, real: bool = False) -> dict[str, Any]:
    """Kill `erase` so many times, half of them at random moments and half at write boundaries, each time going on."""
    draw, found = random.Random(seed), {"at_random": 0, "at_writes": 0, "runs": 0, "lost_or_mixed": [], "stuck": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, key = fresh(folder)
        with audits_computed_once(folder, path, key, real):
            expected, seconds, boundaries = _undisturbed(folder, path, key)
            found["boundaries"] = boundaries
            while found["at_random"] + found["at_writes"] < count:
                copy = _copy(folder, path)
                for request in ("R-1", "R-2"):
                    for _ in range(draw.randrange(1, 5)):
                        kind = draw.choice(("at_random", "at_writes"))
                        found[kind] += _killed(kind, copy, key, request, draw, seconds, boundaries)
                        found["lost_or_mixed"] += flaws_after_kill(copy)
                    found["stuck"] += ended(in_a_child(run_erase, copy, key, request)) != 0
                found["runs"] += 1
                found["lost_or_mixed"] += flaws_at_the_end(copy, key, expected)
    return found


def _killed(
    kind: str, path: Path, key: Path, request: str, draw: random.Random, seconds: float, boundaries: int
) -> bool:
    """Kill an erasure, at a random moment or before a write; return whether it was still at work."""
    if kind == "at_writes":
        return ended(in_a_child(_dying, path, key, request, draw.randrange(1, boundaries + 1))) < 0
    child = in_a_child(run_erase, path, key, request)
    time.sleep(draw.uniform(0, seconds))
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return ended(child) < 0


def pairs(count: int, seed: int = 0, real: bool = False) -> dict[str, Any]:
    """Let two operators work at once so many times: both erase, or both add requests."""
    found: dict[str, Any] = {"pairs": 0, "failed": 0, "lost_or_mixed": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, key = fresh(folder)
        with audits_computed_once(folder, path, key, real):
            for turn in range(count):
                copy = _copy(folder, path)
                asked = ("R-1", "R-1") if turn % 3 == 0 else ("R-1", "R-2")  # the same request twice, or one each
                children = [in_a_child(run_erase, copy, key, request) for request in asked]
                children += [in_a_child(_add_many, copy), in_a_child(_add_many, copy)]
                found["failed"] += sum(ended(child) != 0 for child in children)
                found["lost_or_mixed"] += flaws_at_the_end(copy, key, {}) + _missing(copy, len(set(asked)))
                found["pairs"] += 1
    return found


def _missing(path: Path, erased: int) -> list[str]:
    """Return what is missing after a pair: a version for each request, in order, and all twenty that were added."""
    with Ledger(path) as ledger:
        numbers = [one.number for one in versions_of(ledger.database, "digits")]
        added = len(list_requests(ledger))
    whole = numbers == list(range(1, erased + 2)) and added == 22
    return [] if whole else [f"versions {numbers}, requests {added}"]


def tamperings(count: int, seed: int = 0) -> dict[str, Any]:
    """Change a pack so many times, in ways drawn at random; each must be found."""
    draw, found = random.Random(seed), {"tamperings": 0, "missed": [], "slowest_seconds": 0.0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, key = fresh(folder)
        run_erase(path, key, "R-1")
        pack = path.with_name(path.name + ".files") / "packs" / "R-1"
        other = new_key(folder / "other.pem")[1]
        while found["tamperings"] < count:
            copy = folder / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(pack, copy)
            target, what, public = _tamper(copy, draw, key.with_suffix(".pub"), other, folder)
            began = time.process_time()
            holds = verify_pack(target, public).holds  # an error, exit code 2, is no finding
            found["slowest_seconds"] = max(found["slowest_seconds"], time.process_time() - began)
            found["tamperings"] += 1
            found["missed"] += [what] if holds else []
    return found


def scale(requests: int, models: int) -> dict[str, Any]:
    """Fill a ledger and time `request list` and `status`, without what a ledger of one request imports."""
    with tempfile.TemporaryDirectory() as name:
        path, small = Path(name) / "unclass.ledger", Path(name) / "small.ledger"
        fill(path, requests, models)
        fill(small, 1, 1)
        found: dict[str, Any] = {"requests": requests, "models": models}
        for what in (["request", "list"], ["status"]):
            run([*what, "--ledger", str(small)])
            began = time.process_time()
            run([*what, "--ledger", str(path)])
            found[f"{'_'.join(what)}_seconds"] = round(time.process_time() - began, 3)
    return found


def fill(path: Path, requests: int, models: int) -> None:
    """Make a ledger with many models, each with two versions, and requests in every state."""
    card = {"classes": [str(n) for n in range(10)], "forgotten": []}
    with Ledger(path, create=True) as ledger:
        for model in range(models):
            for content in ("original", "unlearned"):
                file = path.with_name("model.safetensors")
                file.write_text(f"{content} {model}")
                register(ledger, file, card, {"data": "digits"}, name=f"model-{model}", operator="ann")
        with ledger.writing() as database:
            for number in range(1, requests + 1):
                database.execute(
                    "INSERT INTO requests VALUES (?, ?, ?, ?, ?, '[\"3\"]', '[]', '', '', 'ann', '', NULL)",
                    (number, f"R-{number}", f"model-{number % models}", "2026-01-01", f"2026-{number % 12 + 1:02}-01"),
                )
                if number % 2:
                    version = in_service(database, f"model-{number % models}").id
                    database.execute("INSERT INTO answered VALUES (?, ?)", (version, f"R-{number}"))
                    database.execute(
                        "INSERT INTO erasures (request, source, result, step, settings, operator, started, finished)"
                        " VALUES (?, ?, ?, 'finished', '{}', 'ann', '', '')",
                        (f"R-{number}", version - 1, version),
                    )


def _undisturbed(folder: Path, path: Path, key: Path) -> tuple[dict[str, str], float, int]:
    """Return the versions that come out if nobody kills anything, how long one takes and how often it writes."""
    copy, began = _copy(folder, path), time.monotonic()
    ended(in_a_child(run_erase, copy, key, "R-1"))
    seconds = time.monotonic() - began
    ended(in_a_child(run_erase, copy, key, "R-2"))
    with Ledger(copy) as ledger:
        made = {f"{one.number}": one.sha256 for one in versions_of(ledger.database, "digits")}
    ended(in_a_child(_count, _copy(folder, path), key, folder / "boundaries"))
    return made, seconds, int((folder / "boundaries").read_text())


def _count(path: Path, key: Path, out: Path) -> None:
    so_far = dies_at(0)
    run_erase(path, key, "R-1")
    out.write_text(str(so_far()))


def _dying(path: Path, key: Path, request: str, boundary: int) -> None:
    dies_at(boundary)
    run_erase(path, key, request)


def _copy(folder: Path, path: Path) -> Path:
    """Copy a ledger that nobody has open."""
    target = folder / "turn"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    with Ledger(path) as ledger:
        ledger.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(path, target / path.name)
    shutil.copytree(path.with_name(path.name + ".files"), target / (path.name + ".files"))
    return target / path.name


def _add_many(path: Path) -> None:
    with Ledger(path) as ledger:
        for _ in range(10):
            add_request(ledger, classes=["1"], operator="bob")


def _holds(pack: Path, key: Path) -> bool:
    return verify_pack(pack, key.with_suffix(".pub")).holds


def _tamper(pack: Path, draw: random.Random, public: Path, other: Path, folder: Path) -> tuple[Path, str, Path]:
    """Change one thing; return what to verify, what was done and with which key to verify."""
    names = PackFiles(pack).names()
    name, kind = draw.choice(names), draw.choice(["flip", "cut", "remove", "add", "swap", "verdict", "key", "zip"])
    file = pack / name
    if kind in ("flip", "cut"):
        content = bytearray(file.read_bytes())
        place = draw.randrange(len(content))
        content[place] ^= 1 << draw.randrange(8)
        file.write_bytes(content if kind == "flip" else content[:place])
    elif kind == "remove":
        file.unlink()
    elif kind == "add":
        (pack / f"{name}.more").write_text("more")
    elif kind == "swap":
        shutil.copy(folder / "digits.safetensors", pack / "model" / "unlearned.safetensors")
    elif kind == "verdict":
        audit = json.loads((pack / "audit.json").read_text())
        audit["verdict"]["status"] = "passed" if audit["verdict"]["status"] != "passed" else "failed"
        (pack / "audit.json").write_text(json.dumps(audit, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    elif kind == "key":
        public = other
    else:
        pack = write_zip(pack, folder / "pack.zip")
        content = bytearray(pack.read_bytes())
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        pack.write_bytes(content)
    return pack, f"{kind} {name}", public


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("kills", "pairs", "tamperings", "scale"))
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real-audits", action="store_true")
    given = parser.parse_args()
    if given.what == "scale":
        found = scale(10_000, 100)
    elif given.what == "tamperings":
        found = tamperings(given.count or 100, given.seed)
    else:
        call, most = {"kills": (kills, 200), "pairs": (pairs, 100)}[given.what]
        found = call(given.count or most, given.seed, given.real_audits)
    print(json.dumps(found, indent=2), file=sys.stderr)


if __name__ == "__main__":
    main()
