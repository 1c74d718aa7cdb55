"""What one command writes appears together or not at all, however its process ends."""

import os
import signal
from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.storage import Output, settle, write_atomically, write_json, write_text


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_files_of_a_block_appear_at_its_end_and_the_resume_file_goes(tmp_path):
    model, record, resume = (tmp_path / name for name in ("a.safetensors", "a.json", "a.safetensors.resume"))
    resume.write_text("place")
    with Output(model, record, resume=resume) as output:
        output.write(model, lambda file: file.write_text("model"))
        write_text(record, "record")  # every writer knows the block that it is in
        assert resume.exists() and not model.exists() and not record.exists()
    assert texts(tmp_path) == {"a.safetensors": "model", "a.json": "record"}


@pytest.mark.parametrize("interruption", [RuntimeError, KeyboardInterrupt])
def test_block_that_fails_leaves_what_was_there(tmp_path, interruption):
    model, record, resume = (tmp_path / name for name in ("a.safetensors", "a.json", "a.safetensors.resume"))
    before = {path.name: path.write_text("old") and "old" for path in (model, record, resume)}
    with pytest.raises(interruption), Output(model, record, resume=resume, force=True):
        write_text(model, "new")
        write_text(record, "new")
        raise interruption
    assert texts(tmp_path) == before


def test_files_that_do_not_belong_to_the_block_are_written_at_once(tmp_path):
    with Output(tmp_path / "a") as output:
        write_text(tmp_path / "a.resume", "place")
        assert (tmp_path / "a.resume").exists()
        with pytest.raises(InputError, match="is not among what is written"):
            output.write(tmp_path / "b", lambda file: file.touch())


def test_files_written_into_a_folder_of_the_block_appear_with_it(tmp_path):
    out = tmp_path / "model"
    with Output(out, tmp_path / "model.json", folder=True):
        write_text(out / "config.json", "{}")
        write_text(out / "model.safetensors", "weights")
        write_text(tmp_path / "model.json", "record")
        assert not (out / "config.json").exists()
    assert texts(out) == {"config.json": "{}", "model.safetensors": "weights"}


def test_file_written_twice_is_there_once(tmp_path):
    with Output(tmp_path / "a"):
        write_text(tmp_path / "a", "first")
        write_text(tmp_path / "a", "second")
    assert texts(tmp_path) == {"a": "second"}


def test_file_that_is_there_is_replaced_only_by_force(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(InputError, match="exists already"), Output(tmp_path / "a"):
        pytest.fail("no work is done for it")
    with Output(tmp_path / "a", force=True):
        write_text(tmp_path / "a", "new")
    assert texts(tmp_path) == {"a": "new"}


def test_folder_that_a_killed_process_left_empty_counts_as_not_there(tmp_path):
    (tmp_path / "model").mkdir()
    with Output(tmp_path / "model", folder=True):
        write_text(tmp_path / "model" / "config.json", "{}")
    with pytest.raises(InputError, match="exists already"), Output(tmp_path / "model", folder=True):
        pytest.fail("no work is done for it")


@pytest.mark.parametrize("kind", ["link", "dangling", "device", "pipe", "folder", "empty", "root", "up", "nul"])
def test_nothing_but_a_plain_file_is_written(tmp_path, kind):
    (tmp_path / "file").write_text("kept")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    special = {"device": Path("/dev/null"), "empty": Path(), "root": Path("/"), "up": Path(".."), "nul": Path("a\0b")}
    path = special.get(kind, tmp_path / kind)
    for attempt in (lambda: Output(path, force=True).__enter__(), lambda: write_atomically(path, Path.touch)):
        with pytest.raises(InputError) as error:
            attempt()
        assert "\n" not in str(error.value)
    assert (tmp_path / "file").read_text() == "kept"
    assert not (tmp_path / "nowhere").exists()


def test_what_is_read_is_never_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a").write_text("kept")
    os.link("a", "same")
    for out in ("a", "same", tmp_path / "folder" / ".." / "a"):
        with pytest.raises(InputError, match="is what is read"):
            Output(Path(out), force=True, inputs=[Path("a")]).__enter__()
    assert Path("a").read_text() == "kept"


def test_all_but_the_first_of_several_processes_write_nothing(tmp_path):
    with Output(tmp_path / "a"), Output(tmp_path / "a", writes=False):
        write_text(tmp_path / "a", "once")
    assert texts(tmp_path) == {"a": "once"}


NAMES = ("a", "a.json", "a.html")


def write_group(folder: Path) -> None:
    with Output(*(folder / name for name in NAMES), resume=folder / "a.resume", force=True):
        for name in NAMES:
            write_text(folder / name, "new")


def killed_at(folder: Path, step: int) -> int | None:
    """Write a group over an older one in a process that is killed before its nth call to the disk.

    Return its exit status: minus the signal, or None if there were fewer calls.
    """
    for name in (*NAMES, "a.resume"):
        (folder / name).write_text("old")
    child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return None if status == 0 else status
    left = iter(range(step))

    def counted(function):
        def call(*arguments, **options):
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return call

    for name in ("fsync", "replace", "unlink", "rename", "open"):
        setattr(os, name, counted(getattr(os, name)))
    write_group(folder)
    os._exit(0)


@pytest.mark.parametrize("after", ["the same command", "reading"])
def test_kill_at_any_step_leaves_the_old_files_or_the_new_ones_once_they_are_used_again(tmp_path, after):
    outcomes = []
    while (status := killed_at(tmp_path, len(outcomes))) is not None:
        assert status == -signal.SIGKILL
        found = {(tmp_path / name).read_text() for name in NAMES if (tmp_path / name).exists()}
        assert len(found) == 1, f"old beside new at step {len(outcomes)}"
        assert (tmp_path / "a.resume").exists() or found == {"new"}
        if after == "reading":
            settle(tmp_path / "a.json")
        else:
            with pytest.raises(InputError, match="exists already"):
                Output(tmp_path / "a").__enter__()
        found = {name: (tmp_path / name).read_text() for name in NAMES}
        assert len(set(found.values())) == 1
        assert (tmp_path / "a.resume").exists() == (found["a"] == "old")
        outcomes.append(found["a"])
        write_group(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES), "something is left for good"
    assert outcomes == sorted(outcomes, reverse=True) and len(set(outcomes)) == 2 and len(outcomes) > 25


def test_journal_that_leads_elsewhere_is_not_followed(tmp_path):
    elsewhere = tmp_path / "resume"
    elsewhere.write_text("kept")
    folder = tmp_path / "folder"
    folder.mkdir()
    for steps in (
        {"move": [], "remove": ["../resume"]},
        {"move": [], "remove": [str(elsewhere)]},
        {"move": [["../resume", "a"]], "remove": []},
        {"move": [["b", "a"]], "remove": []},
        {"move": 3},
        [],
    ):
        write_json(folder / ".a.journal", steps)
        (folder / "b").write_text("kept")
        settle(folder / "a")
        assert elsewhere.read_text() == (folder / "b").read_text() == "kept"
