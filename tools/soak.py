"""Commands on tiny models for a while, with faults injected at random: nothing is lost, nothing grows.

Each command runs in a process of its own, forked from one that has imported everything. A fault is a kill at a random
moment, a disk that fills up, too little memory, or a clock that jumps. After a fault the output must be whole or
absent, and the same command without a fault must go on and succeed. Run it with: make soak MINUTES=10
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout, suppress
from pathlib import Path

import torch

from unclass.cli import run
from unclass.models import load, weights_digest
from unclass.storage import settle

FAULTS = ("none", "kill", "kill", "kill", "disk", "memory", "clock")
METHODS = ("boundary-shift", "boundary-shrink", "finetune", "random-labels", "negative-gradient", "logit-mask")
QUICK = ["--per-class", "12", "--quiet", "--json"]


def commands(draw: random.Random, folder: Path) -> tuple[list[str], list[Path]]:
    """A command, and the files that it leaves together."""
    original = str(folder / "original.safetensors")
    name = draw.randrange(6)
    about = ["--data", "digits", "--class", str(draw.randrange(10))]
    kind = draw.choice((*["forget"] * 10, *["evaluate"] * 3, *["train"] * 3, "audit"))
    if kind == "train":
        out = folder / f"t{name}.safetensors"
        options = ["--set", "epochs=2", "--model-set", "width=4", "--seed", str(name), "--force"]
        return ["train", "digits", "--out", str(out), *options, *QUICK], [out, out.with_suffix(".json")]
    if kind == "evaluate":
        return ["evaluate", original, *about, *QUICK], []
    if kind == "audit":
        out = folder / f"audit{name}"
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


def start(arguments: list[str], fault: str, draw: random.Random) -> int:
    """Run a command in a process of its own and return its exit code, or minus the signal that ended it."""
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
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


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


def soak(minutes: float, seed: int) -> int:
    """Run commands until the time is over; print what was done, and return 1 if anything went wrong."""
    draw, folder = random.Random(seed), Path(tempfile.mkdtemp(prefix="soak-"))
    os.environ["UNCLASS_CACHE"] = str(folder / "cache")
    torch.set_num_threads(1)
    options = ["--set", "epochs=3", "--model-set", "width=4", *QUICK]
    assert start(["train", "digits", "--out", str(folder / "original.safetensors"), *options], "none", draw) == 0
    with redirect_stdout(None):  # its imports are those of all
        run(["evaluate", str(folder / "original.safetensors"), "--data", "digits", "--class", "3", *QUICK])
    done, wrong, end = Counter[str](), list[str](), time.monotonic() + 60 * minutes
    while time.monotonic() < end:
        arguments, files = commands(draw, folder)
        fault = draw.choice(FAULTS)
        code = start(arguments, fault, draw)
        done[f"{fault}: exit {code}"] += 1
        if code in (99, -signal.SIGSEGV, -signal.SIGABRT) or (fault in ("none", "clock") and code not in (0, 1)):
            wrong.append(f"{fault}, exit {code}: {' '.join(arguments)}")
        if what := problem(files):
            wrong.append(f"{fault}, {what}: {' '.join(arguments)}")
        if fault != "none" and (again := start(arguments, "none", draw)) not in (0, 1):
            wrong.append(f"{fault}, then again exit {again}: {' '.join(arguments)}")
    left = [path.name for path in folder.rglob("*") if path.name.startswith(".") or path.suffix in (".part", ".resume")]
    count = sum(done.values())
    print(f"{count} commands with faults, seed {seed}: {dict(sorted(done.items()))}")
    print(f"{len(wrong)} went wrong; {len(left)} files left over; {len(list(folder.rglob('*')))} files in all")
    for line in wrong[:20]:
        print(f"  {line}")
    shutil.rmtree(folder)
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sys.exit(soak(given.minutes, given.seed))
