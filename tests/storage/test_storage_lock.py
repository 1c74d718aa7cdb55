"""Two processes never write the same output at once."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.storage import Lock, Output, write_text


def started(work: Callable[[], object]) -> int:
    """Do something in a process of its own, and return its number."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    finally:
        os._exit(1)


def hold(path: Path, seconds: float) -> int:
    """Return a process that is writing `path`, once it does."""
    ready, tell = os.pipe()

    def work() -> None:
        with Output(path):
            os.write(tell, b"held")
            time.sleep(seconds)

    child = started(work)
    assert os.read(ready, 4) == b"held"
    return child


@pytest.fixture
def other(tmp_path: Path) -> Iterator[int]:
    """A process that is writing `a`."""
    child = hold(tmp_path / "a", 60)
    yield child
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_second_process_is_told_who_writes(tmp_path, other):
    with pytest.raises(InputError, match=rf"a is being written by process {other} on .* since .*; wait for it"):
        Output(tmp_path / "a").__enter__()
    with Output(tmp_path / "b"):
        write_text(tmp_path / "b", "another output is free")


def test_lock_ends_with_a_process_that_is_killed(tmp_path, other):
    os.kill(other, signal.SIGKILL)
    os.waitpid(other, 0)
    with Output(tmp_path / "a"):
        write_text(tmp_path / "a", "written")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_process_that_is_just_ending_is_waited_for(tmp_path):
    child = hold(tmp_path / "a", 0.3)
    with Output(tmp_path / "a"):
        write_text(tmp_path / "a", "written")
    assert os.waitpid(child, 0)[1] == 0


def test_folder_is_locked_from_within(tmp_path):
    folder = tmp_path / "comparison"
    with Lock(folder, folder=True):
        assert (folder / ".unclass.lock").exists()
        with pytest.raises(InputError, match=f"written by process {os.getpid()}"):
            Lock(folder, folder=True, wait=0).__enter__()
    assert not list(folder.iterdir())


def test_one_of_many_at_a_time_wins(tmp_path):
    """Lock files are removed by whoever held them; whoever waits must not end up with a file that has no name."""
    inside = tmp_path / "inside"

    def work() -> None:
        for _ in range(5):
            with Lock(tmp_path / "a", wait=60):
                inside.touch(exist_ok=False)
                time.sleep(0.005)
                inside.unlink()

    children = [started(work) for _ in range(6)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 6
