"""Commands on tiny models for a while, with faults injected at random: nothing is lost, nothing grows.

Each command runs in a process of its own, forked from one that has run every kind of command once, since what they
import takes longer than what they do; LANES of these work side by side, each in a folder of its own. A fault is a kill
at a random moment, a disk that fills up, too little memory, or a clock that jumps. After a fault the output must be
whole or absent, and the same command without a fault must go on and succeed. Too little memory may end a library by a
signal, as a kill does: that is counted and printed apart, and the same is asked of what it leaves. What must not grow:
the memory of the process that lives on, the memory that a command takes, the files in the folder.
Run it with: make soak MINUTES=10, or COMMANDS=1000 for at least so many of them besides those that are run again
"""

import argparse
import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path

import torch

from unclass.cli import run
from unclass.models import load, weights_digest
from unclass.storage import settle

FAULTS = ("none", "kill", "kill", "kill", "disk", "memory", "clock")
METHODS = ("boundary-shift", "boundary-shrink", "finetune", "random-labels", "negative-gradient", "logit-mask")
QUICK = ["--per-class", "12", "--quiet", "--json"]
TINY = ["--set", "epochs=2", "--model-set", "width=4"]
LANES = 2
CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)
GROWTH = 1.1  # of memory and files, from the first third of the commands to the last


def commands(draw: random.Random, folder: Path) -> tuple[list[str], list[Path]]:
    """A command, and the files that it leaves together."""
    original = str(folder / "original.safetensors")
    name = draw.randrange(6)
    about = ["--data", "digits", "--class", str(draw.randrange(10))]
    kind = draw.choice((*["forget"] * 20, *["evaluate"] * 8, *["train"] * 8, *["status"] * 3, "audit"))
    if kind == "status":
        return ["status", "--ledger", str(folder / "unclass.ledger")], []
    if kind == "train":
        out = folder / f"t{name}.safetensors"
        options = [*TINY, "--seed", str(name), "--force"]
        return ["train", "digits", "--out", str(out), *options, *QUICK], [out, out.with_suffix(".json")]
    if kind == "evaluate":
        return ["evaluate", original, *about, *QUICK], []
    if kind == "audit":
        out = folder / "first"  # audits are rare: more places would fill up late and look like growth
        arguments = ["audit", original, "--original", original, *about, "--out", str(out), *QUICK]
        return arguments, [out / "audit.json", out / "report.html"]
    out = folder / f"f{name}.safetensors"
    method = draw.choice(METHODS)
    arguments = ["forget", original, *about, "--method", method, "--out", str(out), "--force", *QUICK]
    return arguments, [out, out.with_suffix(".json")]


def child(arguments: list[str], fault: str, draw: random.Random) -> None:
    """Run a command under a fault; never returns."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    if fault == "disk":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        size = draw.choice((0, 500, 5_000, 20_000))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    elif fault == "memory":
        pages = int(Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 1 << 20
        limit = pages * resource.getpagesize() + draw.choice((1, 20, 60)) * (1 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    elif fault == "clock":
        jump, clock = draw.choice((-86_400, 86_400, 3e9)), time.time
        time.time = lambda: clock() + jump
    os._exit(run(arguments))


def start(arguments: list[str], fault: str, draw: random.Random) -> tuple[int, int]:
    """Run a command in a process of its own; return its exit code, or minus the signal that ended it, and its peak."""
    process = os.fork()
    if not process:
        try:
            child(arguments, fault, draw)
        finally:
            os._exit(99)
    if fault == "kill":
        time.sleep(draw.random() * draw.choice((0.05, 0.3, 1.0)))
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    _, status, used = os.wait4(process, 0)
    return os.waitstatus_to_exitcode(status), used.ru_maxrss


def problem(files: list[Path]) -> str:
    """Return what is wrong with the files of a command, once whoever reads them has looked: they belong together."""
    for file in files:
        settle(file)
    there = [file.exists() for file in files]
    if any(there) and not all(there):
        return f"only some of {[file.name for file in files]} are there"
    if all(there) and files and files[0].suffix == ".safetensors":
        model, record = load(files[0]), json.loads(files[1].read_text())
        if record.get("weights") and record["weights"] != weights_digest(model):
            return f"{files[1].name} is of other weights than {files[0].name}"
    return ""


@dataclass
class Found:
    """What came of the commands of a lane, and after each: kilobytes held here, taken by it, and on the disk."""

    ended: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    sizes: dict[str, list[int]] = field(default_factory=lambda: {"held": [], "taken": [], "on disk": []})

    def judge_growth(self) -> None:
        """Say what is larger in the last third of the commands than in the second, in which all kinds have run."""
        for what, sizes in self.sizes.items():
            third = len(sizes) // 3
            before, after = sorted(sizes[third : 2 * third]), sorted(sizes[2 * third :])
            if third >= 20 and after[len(after) // 2] > GROWTH * before[len(before) // 2]:
                self.wrong.append(f"{what} grew from {before[len(before) // 2]:,} to {after[len(after) // 2]:,}")


def import_everything(folder: Path) -> None:
    """Run every kind of command once in this process, and write the model that the others start from."""
    original, about = str(folder / "original.safetensors"), ["--data", "digits", "--class", "3", *QUICK]
    first = (
        ["train", "digits", "--out", original, *TINY, *QUICK],
        ["forget", original, *about, "--out", str(folder / "first.safetensors")],
        ["evaluate", original, *about],
        ["audit", original, "--original", original, *about, "--out", str(folder / "first")],
        ["ledger", "add", original, "--data", "digits", *QUICK[:2], "--ledger", str(folder / "unclass.ledger")],
        ["status", "--ledger", str(folder / "unclass.ledger")],
    )
    for arguments in first:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            code = run(arguments)
        if code not in (0, 1):
            raise SystemExit(f"exit {code} without any fault: {' '.join(arguments)}")


def one_more(draw: random.Random, folder: Path, found: Found) -> None:
    """Run a command under a fault, look at what it left, and run it again without."""
    arguments, files = commands(draw, folder)
    fault, words = draw.choice(FAULTS), " ".join(arguments)
    before = [file for file in files if file.exists()]
    code, taken = start(arguments, fault, draw)
    found.ended[f"{fault}: exit {code}"] += 1
    crashed = code in CRASHES and fault != "memory"
    if code == 99 or crashed or (fault in ("none", "clock") and code not in (0, 1)):
        found.wrong.append(f"{fault}, exit {code}: {words}")
    if what := problem(files):
        found.wrong.append(f"{fault}, {what}: {words}")
    if lost := [file.name for file in before if not file.exists()]:
        found.wrong.append(f"{fault}, {lost} were there before: {words}")
    if fault != "none":
        again, taken = start(arguments, "none", draw)
        found.ended[f"again: exit {again}"] += 1
        if again not in (0, 1):
            found.wrong.append(f"{fault}, then again exit {again}: {words}")
    held = Path("/proc/self/statm").read_text().split()[1] if sys.platform == "linux" else "0"
    found.sizes["held"].append(int(held) * resource.getpagesize() // 1024)
    found.sizes["on disk"].append(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1024)
    if arguments[0] == "forget":  # of one kind, so that the same is compared
        found.sizes["taken"].append(taken)


def lane(folder: Path, end: float, least: int, seed: int) -> Found:
    """Run commands in a folder until the time is over, and at least so many."""
    draw, found, done = random.Random(seed), Found(), 0
    while time.monotonic() < end or done < least:
        one_more(draw, folder, found)
        done += 1
    found.left = [
        path.name for path in folder.rglob("*") if path.name.startswith(".") or path.suffix in (".part", ".resume")
    ]
    found.judge_growth()
    return found


def show(results: list[Found]) -> bool:
    """Print what was done and what came of it; return whether anything went wrong."""
    wrong, left = [line for one in results for line in one.wrong], sum(len(one.left) for one in results)
    ended = sum((one.ended for one in results), Counter[str]())
    again = sum(count for how, count in ended.items() if how.startswith("again"))
    crashed = sum(ended[f"memory: exit {code}"] for code in CRASHES)
    print(f"{ended.total() - again} commands and {again} run again: {dict(sorted(ended.items()))}")
    print(f"{len(wrong)} went wrong; {left} files left over")
    print(f"{crashed} ended by a signal of a library with too little memory; what they left was judged like the rest")
    for what in results[0].sizes:
        spans = [f"{one.sizes[what][0]:,} to {one.sizes[what][-1]:,}" for one in results if one.sizes[what]]
        print(f"{what}, kilobytes from the first command to the last: {', '.join(spans)}")
    for line in wrong[:20]:
        print(f"  {line}")
    return bool(wrong or left)


def soak(minutes: float, least: int, seed: int, lanes: int) -> int:
    """Run commands until the time is over, and at least so many; return 1 if anything went wrong."""
    folder, end = Path(tempfile.mkdtemp(prefix="soak-")), time.monotonic() + 60 * minutes
    os.environ["UNCLASS_CACHE"] = str(folder / "cache")
    torch.set_num_threads(1)
    (folder / "0").mkdir()
    import_everything(folder / "0")
    for number in range(1, lanes):
        shutil.copytree(folder / "0", folder / str(number))
    print(f"seed {seed}, {lanes} lanes", flush=True)
    with ProcessPoolExecutor(lanes, multiprocessing.get_context("fork")) as pool:
        share = -(-least // lanes)
        running = [pool.submit(lane, folder / str(number), end, share, seed + number) for number in range(lanes)]
        failed = show([one.result() for one in running])
    shutil.rmtree(folder)
    return int(failed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--commands", type=int, default=0, help="go on after the minutes until there are so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lanes", type=int, default=LANES)
    given = parser.parse_args()
    sys.exit(soak(given.minutes, given.commands, given.seed, given.lanes))
