import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.storage import existing, require_absent, require_space, sha256, write_atomically, write_json
from unclass.storage.temporary import temporary_for


def test_file_is_written_with_the_folders_it_needs(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    assert write_atomically(path, lambda file: file.write_text("new")) == path
    assert path.read_text() == "new"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_file_has_the_permissions_that_the_umask_leaves(tmp_path, mask, mode):
    earlier = os.umask(mask)
    try:
        write_json(tmp_path / "file", {})
    finally:
        os.umask(earlier)
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode


def test_private_file_that_is_replaced_stays_private(tmp_path):
    (tmp_path / "file").touch(mode=0o600)
    write_json(tmp_path / "file", {})
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_name_as_long_as_the_disk_allows_is_written(tmp_path):
    path = tmp_path / ("ä" * 125)
    write_json(path, {})
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_temporary_files_of_dead_processes_are_swept_and_others_are_not(tmp_path):
    path = tmp_path / "file"
    temporary = temporary_for(path)
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    names = {owner: temporary.name.replace(f"-{os.getpid()}-", f"-{pid}-") for owner, pid in
             {"dead": dead.pid, "alive": os.getppid(), "other": dead.pid}.items()}  # fmt: skip
    names["other"] = names["other"].replace("file.", "files.")
    for name in names.values():
        (tmp_path / name).touch()
    write_json(path, {})
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {"file", temporary.name, names["alive"], names["other"]}


def test_text_that_is_not_unicode_is_written_and_json_reads_it_back(tmp_path):
    name = os.fsdecode(b"caf\xe9")
    write_json(tmp_path / "file", {"name": name})
    assert json.loads((tmp_path / "file").read_text(encoding="utf-8")) == {"name": name}


@pytest.mark.parametrize("interruption", [RuntimeError, KeyboardInterrupt])
def test_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, interruption):
    path = tmp_path / "file"
    path.write_text("old")

    def write(file):
        file.write_text("half of the ne")
        raise interruption

    with pytest.raises(interruption):
        write_atomically(path, write)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_full_disk_is_an_error_in_one_line_that_leaves_nothing(tmp_path):
    def write(file):
        file.write_text("as much as fits")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InputError, match=r"no space left for .*file: .* MB free") as error:
        write_atomically(tmp_path / "file", write)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_place_that_cannot_be_written_is_an_error_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written") as error:
        write_atomically(tmp_path / "file" / "below", lambda file: file.write_text(""))
    assert "\n" not in str(error.value)


def test_json_is_the_same_text_for_the_same_record(tmp_path):
    first = write_json(tmp_path / "1", {"b": [1, 0.1], "a": "ε"})
    second = write_json(tmp_path / "2", {"a": "ε", "b": [1, 0.1]})
    assert first.read_bytes() == second.read_bytes()
    assert json.loads(first.read_text(encoding="utf-8")) == {"a": "ε", "b": [1, 0.1]}
    assert "ε" in first.read_text(encoding="utf-8")


def test_number_that_is_not_finite_never_gets_into_json(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "record", {"loss": float("nan")})
    assert not list(tmp_path.iterdir())


def test_space_is_asked_of_the_disk_that_will_hold_the_file(tmp_path, monkeypatch):
    asked = []

    def usage(path):
        asked.append(path)
        return namedtuple("Usage", "free")(1_000_000)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    require_space(tmp_path / "not" / "yet", 1_000_000)
    assert asked == [tmp_path]
    with pytest.raises(InputError, match="1 MB free; 5 MB are needed"):
        require_space(tmp_path / "not" / "yet", 5_000_000)


def test_nearest_folder_of_a_relative_path_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("")
    assert existing(Path("there", "file")) == tmp_path / "there"
    assert existing(Path("not", "there")) == tmp_path


def test_output_that_exists_is_replaced_only_by_force(tmp_path):
    path = tmp_path / "file"
    require_absent(path, force=False)
    path.write_text("")
    require_absent(path, force=True)
    with pytest.raises(InputError, match=r"exists already; .* `force`"):
        require_absent(path, force=False)


def test_sha256_is_that_of_the_bytes(tmp_path):
    (tmp_path / "file").write_bytes(b"bytes" * 1000)
    assert sha256(tmp_path / "file") == hashlib.sha256(b"bytes" * 1000).hexdigest()
