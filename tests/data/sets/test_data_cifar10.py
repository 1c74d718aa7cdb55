import hashlib
import os
import pickle
import tarfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from unclass.data.options import DataOptions
from unclass.data.sets import cifar10
from unclass.data.sets.cifar10 import FOLDER, TRAIN, load_cifar10, read_pickle
from unclass.errors import InputError

NAMES = [b"airplane", b"automobile", b"bird", b"cat", b"deer", b"dog", b"frog", b"horse", b"ship", b"truck"]


def write_batches(folder):
    """Write batches of four images; image i of batch b has the pixels b · 10 + i."""
    folder.mkdir(parents=True)
    for number, name in enumerate((*TRAIN, "test_batch")):
        pixels = np.repeat(np.arange(4, dtype=np.uint8)[:, None] + number * 10, 3072, axis=1)
        write(folder / name, {b"data": pixels, b"labels": [0, 3, 6, 9]})
    write(folder / "batches.meta", {b"label_names": NAMES})
    return folder


def write(path, content):
    path.write_bytes(pickle.dumps(content, protocol=2))


class Attack:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("inside", [True, False], ids=["the folder itself", "the folder that holds it"])
def test_root_may_be_the_folder_or_hold_it(tmp_path, inside):
    folder = write_batches(tmp_path / FOLDER)
    data = load_cifar10(DataOptions(root=folder if inside else tmp_path))
    assert (data.name, data.train.shape) == ("cifar10", (3, 32, 32))
    assert data.classes == tuple(name.decode() for name in NAMES)
    assert (len(data.train), len(data.test)) == (20, 4)


def test_batches_are_read_in_order_with_their_labels(tmp_path):
    data = load_cifar10(DataOptions(root=write_batches(tmp_path / FOLDER)))
    first_pixels = data.train.read(torch.arange(20))[:, 0, 0, 0].tolist()
    assert first_pixels == [batch * 10 + image for batch in range(5) for image in range(4)]
    assert data.train.labels.tolist() == [0, 3, 6, 9] * 5
    assert data.test.read(torch.tensor([0])).unique().tolist() == [50]


def test_channels_come_before_rows_and_columns(tmp_path):
    folder = write_batches(tmp_path / FOLDER)
    pixels = np.arange(3072).astype(np.uint16) // 1024
    write(folder / "test_batch", {b"data": pixels.astype(np.uint8)[None], b"labels": [1]})
    image = load_cifar10(DataOptions(root=folder)).test.read(torch.tensor([0]))[0]
    assert [channel.unique().tolist() for channel in image] == [[0], [1], [2]]


def test_code_in_a_pickle_is_refused_and_not_run(tmp_path):
    folder = write_batches(tmp_path / FOLDER)
    write(folder / "data_batch_2", {b"data": Attack(tmp_path / "attacked"), b"labels": []})
    with pytest.raises(InputError, match=r"data_batch_2 is not opened.*it would call .*mkdir"):
        load_cifar10(DataOptions(root=folder))
    assert not (tmp_path / "attacked").exists()


@pytest.mark.parametrize("module", ["numpy.core.multiarray", "numpy._core.multiarray"])
def test_arrays_pickled_by_python_2_are_read_without_a_warning(tmp_path, module):
    # As Python 2 wrote it, in text: _reconstruct(ndarray, (0,), 'b'), then its state.
    state = "(I1\n(I3\ntcnumpy\ndtype\n(S'u1'\nI0\nI1\ntR(I3\nS'|'\nNNNI-1\nI-1\nI0\ntbI00\nS'\\x01\\x02\\xff'\ntb"
    text = f"(S'data'\nc{module}\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR{state}d."
    (tmp_path / "batch").write_bytes(text.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_pickle(tmp_path / "batch")[b"data"].tolist() == [1, 2, 255]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({b"data": np.zeros((2, 3072), np.uint8), b"labels": [1]}, "N labels"),
        ({b"data": np.zeros((1, 100), np.uint8), b"labels": [1]}, "N × 3072"),
        ({b"labels": [1]}, "N × 3072"),
        ({b"data": np.zeros((1, 3072), np.uint8), b"labels": [10]}, "labels outside 0 to 9"),
        ([1, 2], "holds a list"),
    ],
)
def test_batch_of_another_form_is_named(tmp_path, content, problem):
    folder = write_batches(tmp_path / FOLDER)
    write(folder / "test_batch", content)
    with pytest.raises(InputError, match=f"test_batch .*{problem}.*; fetch a fresh copy"):
        load_cifar10(DataOptions(root=folder))


@pytest.mark.parametrize("kept", [0, 10, 200, 5000])
def test_truncated_batch_is_named(tmp_path, kept):
    folder = write_batches(tmp_path / FOLDER)
    whole = (folder / "data_batch_1").read_bytes()
    (folder / "data_batch_1").write_bytes(whole[:kept])
    with pytest.raises(InputError, match=r"data_batch_1 is not opened.*fetch a fresh copy"):
        load_cifar10(DataOptions(root=folder))


def test_missing_batch_is_named(tmp_path):
    folder = write_batches(tmp_path / FOLDER)
    (folder / "data_batch_5").unlink()
    with pytest.raises(InputError, match=r"there is no file .*data_batch_5; fetch"):
        load_cifar10(DataOptions(root=folder))


def test_root_without_batches_says_what_belongs_there(tmp_path):
    with pytest.raises(InputError, match=f"holds no {FOLDER}; unpack .*cifar-10-python.tar.gz"):
        load_cifar10(DataOptions(root=tmp_path))


def test_archive_is_downloaded_into_the_cache_once(tmp_path, monkeypatch):
    archive = tmp_path / "cifar-10-python.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(write_batches(tmp_path / "made" / FOLDER), FOLDER)
    cache = tmp_path / "cache"
    monkeypatch.setenv("UNCLASS_CACHE", str(cache))
    monkeypatch.setattr(cifar10, "URL", archive.as_uri())
    monkeypatch.setattr(cifar10, "MD5", hashlib.md5(archive.read_bytes()).hexdigest())
    first = load_cifar10(DataOptions())
    archive.unlink()
    assert load_cifar10(DataOptions()).train.digest == first.train.digest
    assert [entry.name for entry in cache.iterdir()] == [FOLDER]


@pytest.mark.real
def test_real_cifar10_has_a_thousand_test_images_of_each_class():
    root = os.environ.get("UNCLASS_CIFAR10")
    if not root:
        pytest.skip("UNCLASS_CIFAR10 does not name a folder with cifar-10-batches-py")
    data = load_cifar10(DataOptions(root=Path(root)))
    assert data.train.labels.bincount().tolist() == [5000] * 10
    assert data.test.labels.bincount().tolist() == [1000] * 10
