"""A scheduler of your own for a grid: each piece is a command, here or, by ssh, on machines that see the same folder.

python examples/own_scheduler.py --class 3 [--start "ssh machine-1" --start "ssh machine-2"]
"""

import argparse
import pickle
import shlex
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import local
from typing import Any

import unclass

WORK = 'import pickle, sys; w, c = pickle.load(open(sys.argv[1], "rb")); pickle.dump(w(c), open(sys.argv[2], "wb"))'


class Commands:
    """Hands pieces to machines, to each one at a time. `starts` are what commands begin with; nothing: here."""

    def __init__(self, starts: list[str], worker: Any) -> None:
        self.worker, self.slots, self.machine = worker, len(starts), local()
        left = iter(starts)
        self.pool = ThreadPoolExecutor(len(starts), initializer=lambda: setattr(self.machine, "start", next(left)))

    def submit(self, cell: Any) -> "Future[Any]":
        return self.pool.submit(self._have_done, cell)

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)

    def _have_done(self, cell: Any) -> Any:
        with TemporaryDirectory(dir=self.worker.out) as folder:
            given, found = Path(folder, "given").absolute(), Path(folder, "found").absolute()
            given.write_bytes(pickle.dumps((self.worker, cell)))
            command, start = [sys.executable, "-c", WORK, str(given), str(found)], shlex.split(self.machine.start)
            subprocess.run([*start, shlex.join(command)] if start else command, check=True)  # raises: tried again
            return pickle.loads(found.read_bytes())


def main(arguments: list[str] | None = None) -> dict[str, dict[str, float]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--class", dest="digit", default="3", help="the digit to forget (3)")
    parser.add_argument("--start", action="append", help="what a command begins with, once for each machine")
    parser.add_argument("--out", type=Path, default=Path("own-scheduler"), help="folder that all machines see")
    parser.add_argument("--small", action="store_true", help="a short training")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    found = unclass.compare(
        "digits", given.digit, "boundary-shift", out=given.out, recipe={"epochs": 5 if given.small else 20},
        audited=False, threads=1, tell=print, cluster=lambda worker: Commands(given.start or ["", ""], worker),
    )  # fmt: skip
    before, _, after = (record.scores.as_dict() for record in found.records)
    for name, value in after.items():
        print(f"{name.replace('_', ' '):<24} {100 * before[name]:6.1f} % → {100 * value:6.1f} %")
    return {"before": before, "after": after}


if __name__ == "__main__":
    main()
