"""Equal weights and cards give equal files."""

from pathlib import Path

import torch
from safetensors import safe_open

from unclass.models import Classifier, save
from unclass.models.safetensors_file import save_tensors

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
