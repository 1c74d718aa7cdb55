"""Equal weights and cards give equal files."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from unclass.errors import InputError
from unclass.models import Classifier, save
from unclass.models.safetensors_file import save_tensors
from unclass.models.weights_file import NUMBERS
from unclass.storage import write_atomically

METADATA = {"format": "unclass-1", "card": '{"a": "ü\\n\\"<é"}', "z": "日本\x7f\x1f", "b": "", "author": "x" * 1000}


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    tensors = {"w": torch.arange(6.0).view(2, 3), "b": torch.ones(2, dtype=torch.int64)}
    written = set()
    for turn in range(20):
        shuffled = dict(sorted(METADATA.items(), key=lambda item: hash((item, turn))))
        save_tensors(tensors, tmp_path / "x.safetensors", shuffled)
        written.add((tmp_path / "x.safetensors").read_bytes())
    assert len(written) == 1


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    tensors = {"w": torch.arange(6.0).view(2, 3), "b": torch.ones(2, dtype=torch.int64)}
    save_tensors(tensors, tmp_path / "x.safetensors", METADATA)
    with safe_open(tmp_path / "x.safetensors", "pt") as file:
        assert file.metadata() == METADATA
        assert all(torch.equal(file.get_tensor(name), tensor) for name, tensor in tensors.items())


def test_a_checkpoint_is_the_same_file_each_time(trained: Classifier, tmp_path: Path) -> None:
    files = [save(trained, tmp_path / f"{turn}.safetensors").read_bytes() for turn in range(6)]
    assert len(set(files)) == 1


EVERY_TYPE = {f"{place}.{kind}": torch.arange(5).to(kind) for place, kind in enumerate(NUMBERS)}
SHAPES = {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "turned": torch.arange(6.0).view(2, 3).t()}


def test_the_library_reads_every_type_and_shape_as_it_was(tmp_path: Path) -> None:
    save_tensors(EVERY_TYPE | SHAPES, tmp_path / "x.safetensors")
    found = load_file(tmp_path / "x.safetensors")
    assert found.keys() == (EVERY_TYPE | SHAPES).keys()
    for name, tensor in (EVERY_TYPE | SHAPES).items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name], tensor)


def test_files_are_those_of_the_library_but_for_the_order_of_metadata(tmp_path: Path) -> None:
    tensors = {"b.weight": torch.rand(4, 3), "a.count": torch.tensor(3), "a.weight": torch.rand(7)}
    save_tensors(tensors, tmp_path / "ours", {"format": "x"})
    save_file(tensors, tmp_path / "theirs", {"format": "x"})
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_a_type_that_is_not_read_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^w is of type torch.complex64, which is not written"):
        save_tensors({"w": torch.zeros(2, dtype=torch.complex64)}, tmp_path / "x.safetensors")


def test_a_checkpoint_has_the_permissions_that_the_umask_leaves(trained: Classifier, tmp_path: Path) -> None:
    earlier = os.umask(0o027)
    try:
        save(trained, tmp_path / "x.safetensors")
    finally:
        os.umask(earlier)
    assert (tmp_path / "x.safetensors").stat().st_mode & 0o777 == 0o640


LARGE = """
import sys, torch
from pathlib import Path
from unclass.models.safetensors_file import save_tensors
from unclass.storage import write_atomically
write_atomically(Path(sys.argv[1]), lambda file: save_tensors({"w": torch.zeros(1 << 26)}, file))
"""


def test_a_kill_while_a_model_is_written_leaves_nothing_once_it_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    process = subprocess.Popen([sys.executable, "-c", LARGE, str(path)])
    while not any(one.stat().st_size for one in tmp_path.iterdir()):
        assert process.poll() is None
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert not path.exists()
    write_atomically(path, lambda file: save_tensors({"w": torch.zeros(3)}, file))
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
