"""Every option of every command with values that do not fit: each is taken, or refused in one line.

The commands and their options are read from the command line itself, so new ones take part. A case is a command that
works, with one to three of its options or arguments given other values, chosen by type: numbers that are none, paths
that cannot be, names that nobody has. Each runs in a process of its own, forked from one that has imported everything,
for at most --seconds of CPU. A case fails if it ends in a traceback, in several lines, by a signal, or takes 2 GB. What
still works when its time is over is counted apart and listed: such a command took its options.
Run it with: make options CASES=500 SEED=0
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
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from unclass.cli import command_line, run

MOST_KILOBYTES = 2 << 20
NUMBERS = (
    "0", "-1", "1", "2", "1e308", "nan", "inf", "-inf", "", "x", "1e400", str(10**30), "1.5", "0x10", "٣", "true", "[]",
    "1,2", " 3", "+3", "1_000", "-0", "1e-320", "9" * 5000,
)  # fmt: skip
PATHS = (
    ".", "/", "", "..", "/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/proc/self/mem", "~nobody/x", "~",
    "x" * 300, "no/such", "http://localhost/", "hf://user/repo", "\udcff", "é\u202e.json", "pipe", "circle", "empty",
    "noise", "folder", "original.safetensors", "audit/audit.json", "original.safetensors/x", "unclass.ledger",
    "plan.toml", "-", "--", "a\nb", "$(x)", "../../../etc/passwd",
)  # fmt: skip
WORDS = (
    "", "x", "3", "3,4", ",", ",,3", "3,3", "-1", "10", "٣", "3 ", "\udcff", "a:b", ":", "os:system", "@", "finetune@",
    "retrain", "original", "all", "none", "=", "lr=", "=1", "lr=nan", "epochs=0", "width=0", "a=b=c", "x" * 70_000,
    "[bold]x[/]", "[/]", "{}", "%s", "{0}", "folder:", "folder:/dev", "csv:/dev/zero", "csv:.", "parquet:/dev/null",
    "hf:/", "hf:user/repo", "timm:", "timm:x", "torchvision:x", "webdataset:x-{0..999999999}.tar", "cuda", "tpu",
    "meta", "cuda:99", "float64", "onnx", "paper", "2020-13-45", "-30d", "30d", "1e9d", "ec-p256", "local", "slurm",
    "ray", "digits", "cifar10", "\x1b[31m", "None", "*",
)  # fmt: skip
COMMANDS = {
    "train": ["digits", "--per-class", "8", "--max-steps", "2", "--model-set", "width=4", "--out", "t.safetensors"],
    "doctor": ["original.safetensors", "--data", "digits", "--class", "3"],
    "forget": ["original.safetensors", "--data", "digits", "--class", "3", "--per-class", "8", "--out", "o"],
    "evaluate": ["original.safetensors", "--data", "digits", "--class", "3", "--per-class", "8"],
    "compare": [
        "digits", "--class", "3", "--methods", "logit-mask", "--per-class", "8", "--max-steps", "2", "--model-set",
        "width=4", "--out", "comparison",
    ],
    "audit": [
        "original.safetensors", "--original", "original.safetensors", "--data", "digits", "--class", "3",
        "--per-class", "8", "--out", "again",
    ],
    "erase": ["one", "--signing-key", "signing.pem", "--max-steps", "2"],
    "history": ["original"], "rollback": ["original"], "verify": ["folder"], "report": ["audit/audit.json"],
    "limits": [
        "--original", "original.safetensors", "--retrained", "original.safetensors", "--data", "digits", "--class", "3",
        "--per-class", "8", "--out", "limits",
    ],
    "bench": ["digits", "--repeats", "1", "--retrain-images", "16", "--per-class", "8", "--model-set", "width=4"],
    "figures": ["audit"], "paper": ["table-1", "--scale", "smoke", "--max-steps", "1", "--out", "paper"],
    "leaderboard": ["audit"], "tune": ["finetune", "--data", "digits", "--per-class", "8", "--max-steps", "2"],
    "request withdraw": ["one"], "request add": ["--model", "original", "--class", "4"],
    "ledger add": ["original.safetensors", "--data", "digits", "--per-class", "8", "--name", "second"],
    "ledger take": ["original", "--out", "taken.safetensors"],
}  # fmt: skip


def leaves(command: Any, name: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every command that can be run, with its name."""
    if not hasattr(command, "commands"):
        yield " ".join(name), command
    else:
        for one, inside in command.commands.items():
            yield from leaves(inside, (*name, one))


def value(parameter: Any, draw: random.Random) -> str:
    """Return a value that suits a parameter's type badly; now and then one of another type."""
    kind = parameter.type_descriptor.annotation
    fitting = NUMBERS if kind in (int, float) else PATHS if kind is Path else WORDS + PATHS
    return draw.choice(fitting if draw.random() < 0.9 else NUMBERS + PATHS + WORDS)


def case(name: str, command: Any, draw: random.Random) -> list[str]:
    """Return the words of a command, some of which do not fit."""
    words = [*COMMANDS.get(name, [])]
    arguments = sum(1 for word in words[:1] if not word.startswith("-"))
    for parameter in draw.sample(command.params, min(len(command.params), draw.choice((1, 1, 2, 3)))):
        option = next((one for one in parameter.opts if one.startswith("--")), "")
        if option and parameter.is_flag:
            words.append(option)
        elif option:
            words += [option, value(parameter, draw)]
        elif arguments:
            words[0] = value(parameter, draw)
        else:
            words.insert(0, value(parameter, draw))
    return [*name.split(), *words]


def prepare(folder: Path) -> None:
    """Write what the commands need, and what is no file under a file's name; run each kind of command once."""
    first = (
        ["train", "digits", "--out", "original.safetensors", "--model-set", "width=4", "--set", "epochs=2"],
        ["audit", "original.safetensors", "--original", "original.safetensors", "--data", "digits", "--class", "3",
         "--per-class", "12", "--out", "audit"],
        ["ledger", "add", "original.safetensors", "--data", "digits", "--per-class", "8"],
        ["keys", "new"],
        ["request", "add", "--model", "original", "--class", "3", "--id", "one"],
    )  # fmt: skip
    for words in first:
        if (code := run([*words, "--quiet"])) not in (0, 1):
            raise SystemExit(f"exit {code}: unclass {' '.join(words)}")
    os.mkfifo("pipe")
    Path("circle").symlink_to("circle")
    Path("empty").touch()
    Path("noise").write_bytes(random.Random(0).randbytes(5000))
    (folder / "folder").mkdir()
    Path("plan.toml").write_text('data = "digits"\nclasses = ["3"]\nmethods = ["logit-mask"]\n')


def ended(words: list[str], seconds: int) -> tuple[int, str, int]:
    """Run a command in a process of its own; return its exit code or minus a signal, what it said, and its peak."""
    with tempfile.TemporaryFile() as said:
        process = os.fork()
        if not process:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 0)
            os.dup2(nowhere, 1)
            os.dup2(said.fileno(), 2)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            signal.alarm(10 * seconds)  # what waits takes no CPU
            os._exit(run(words))
        _, status, used = os.wait4(process, 0)
        said.seek(0)
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGALRM and used.ru_utime + used.ru_stime > seconds / 15:
            code = -signal.SIGXCPU  # at work, on a machine that is very busy
        return code, said.read().decode(errors="replace"), used.ru_maxrss


def judged(code: int, said: str, kilobytes: int) -> str:
    """Return what is wrong with how a command ended, or nothing."""
    if code == -signal.SIGALRM:
        return "hangs"
    if "went wrong" in said or "Traceback" in said:
        return "traceback"
    if code not in (0, 1, 2, 3, -signal.SIGXCPU):
        return f"exit {code}"
    if code == 2 and sum(line.startswith("error: ") for line in said.splitlines()) != 1:
        return "not one line"
    return "above 2 GB" if kilobytes > MOST_KILOBYTES else ""


def campaign(cases: int, seed: int, seconds: int, asked: str) -> int:
    """Try so many cases, the commands in turn; print what was found, and return 1 if anything failed."""
    folder = Path(tempfile.mkdtemp(prefix="options-"))
    os.chdir(folder)
    os.environ |= {"UNCLASS_CACHE": str(folder / "cache"), "UNCLASS_LEDGER": str(folder / "unclass.ledger")}
    (folder / "cache" / "cifar-10-batches-py").mkdir(parents=True)  # nothing is to be downloaded
    torch.set_num_threads(1)
    prepare(folder)
    all_commands = [(name, one) for name, one in leaves(command_line()) if asked in name]
    tried, codes, wrong, cut = Counter[str](), Counter[int](), list[str](), list[str]()
    good = folder.with_name(f"{folder.name}-good")
    shutil.copytree(folder, good, symlinks=True, copy_function=copied)
    for number in range(cases):
        name, command = all_commands[number % len(all_commands)]
        words = case(name, command, random.Random(f"{seed} {number}"))
        code, said, kilobytes = ended(words, seconds)
        tried[name] += 1
        codes[code] += 1
        line = f"{number}: unclass {json.dumps(words)[:400]} exit {code}, {kilobytes // 1024} MB: {said[-400:]!r}"
        if what := judged(code, said, kilobytes):
            wrong.append(f"{what}: {line}")
            print(wrong[-1], flush=True)
        elif code == -signal.SIGXCPU:
            cut.append(line)
        if number % 50 == 49:
            print(f"{number + 1} cases: {len(wrong)} failed, {len(cut)} cut", flush=True)
        restore(folder, good)
    print(f"{cases} cases, seed {seed}, by exit code {dict(codes)}, by command {dict(tried)}")
    print(f"{len(wrong)} failed; {len(cut)} were still working after {seconds} seconds of CPU")
    print("\n".join(cut))
    os.chdir(folder.parent)
    shutil.rmtree(folder)
    shutil.rmtree(good)
    return 1 if wrong else 0


def copied(source: str, target: str) -> None:
    """Copy a file; a pipe is made again."""
    if Path(source).is_fifo():
        os.mkfifo(target)
    else:
        shutil.copy2(source, target)


def restore(folder: Path, good: Path) -> None:
    """Put a folder back as it was: a command may have been allowed to write over what the next one needs."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    shutil.copytree(good, folder, symlinks=True, copy_function=copied, dirs_exist_ok=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=30, help="of CPU for each command")
    parser.add_argument("--command", default="", help="only commands whose name holds this")
    given = parser.parse_args()
    sys.exit(campaign(given.cases, given.seed, given.seconds, given.command))
