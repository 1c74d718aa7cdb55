"""Processes of this machine: each does one piece after the other, and one that dies takes nothing else with it."""

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from unclass.comparison.executors.executor import Work


class WorkerDied(RuntimeError):  # noqa: N818 - reads as what happened
    """A process ended before its piece was done: killed, or out of memory."""


class Processes:
    """So many processes, each started when first needed. A thread here waits for each of them."""

    def __init__(self, worker: Work, jobs: int) -> None:
        self.worker, self.slots = worker, 2 * jobs  # one is worked on, the next one waits: nobody is idle between
        self._threads = ThreadPoolExecutor(jobs)
        self._own = threading.local()
        self._children: list[tuple[Any, Connection]] = []

    def submit(self, cell: Any) -> "Future[Any]":
        return self._threads.submit(self._have_done, cell)

    def close(self) -> None:
        """End the processes: between pieces by a word, within one at once; what it had kept to resume from stays."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process, pipe in self._children:
            with suppress(OSError):
                pipe.close()
            process.terminate()
        for process, _ in self._children:
            process.join()
        self._threads.shutdown(wait=True)

    def _have_done(self, cell: Any) -> Any:
        pipe = getattr(self._own, "pipe", None) or self._start()
        try:
            pipe.send(cell)
            return pipe.recv()
        except (EOFError, OSError) as error:
            self._own.pipe = None
            raise WorkerDied(f"the process that did {cell} ended before it was done") from error

    def _start(self) -> Connection:
        context = _context()
        here: Connection
        here, there = context.Pipe()
        process = context.Process(target=_work, args=(there, self.worker, dict(os.environ)), daemon=True)
        process.start()
        there.close()
        self._children.append((process, here))
        self._own.pipe = here
        return here


def _context() -> Any:
    """Return how processes start. A fork of this one would share torch's locks and threads, so they are new ones.

    On Linux they are forks of one that has only imported so far: that takes seconds, spent once and not by each.
    """
    if not sys.platform.startswith("linux"):
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"{__package__}.preload"])
    return context


def _work(pipe: Connection, worker: Work, environment: dict[str, str]) -> None:
    """Do the pieces that come through a pipe until it is closed. Ctrl-C is for who started this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.update(environment)  # as it is now, not as it was when the first process started
    with suppress(EOFError, OSError):
        while True:
            pipe.send(worker(pipe.recv()))
