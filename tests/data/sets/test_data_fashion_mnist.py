import gzip

import numpy as np
import pytest
import torch

from unclass.data.options import DataOptions
from unclass.data.sets import fashion_mnist
from unclass.data.sets.fashion_mnist import MD5, find_folder, load_fashion_mnist, read_idx
from unclass.errors import InputError


def idx(values):
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    return gzip.compress(header + values.astype(np.uint8).tobytes())


def write_fashion(folder, value=0):
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 12), ("t10k", 4)):
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(idx(np.full((count, 28, 28), value)))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(idx(np.arange(count) % 10))
    return folder


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Return a root, a system folder and a cache, all of them empty."""
    monkeypatch.setenv("UNCLASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(fashion_mnist, "DEBIAN", tmp_path / "system")
    return tmp_path / "root", tmp_path / "system", tmp_path / "cache" / "fashion-mnist"


def test_images_and_labels_are_read_as_written(places):
    data = load_fashion_mnist(DataOptions(root=write_fashion(places[0], value=7)))
    assert data.name == "fashion-mnist"
    assert data.train.shape == (1, 28, 28)
    assert (len(data.train), len(data.test)) == (12, 4)
    assert (data.test.read(torch.arange(4)) == 7).all()
    assert data.train.labels.tolist() == [*range(10), 0, 1]


def test_root_comes_before_the_system_and_the_system_before_the_cache(places):
    for folder in reversed(places):
        write_fashion(folder)
        assert find_folder(DataOptions(root=places[0])) == folder


def test_only_missing_files_are_downloaded_with_the_published_sums(places, monkeypatch):
    cache = write_fashion(places[2])
    (cache / "t10k-labels-idx1-ubyte.gz").unlink()
    asked = []
    monkeypatch.setattr(fashion_mnist, "download", lambda url, path, md5, progress: asked.append((url, path, md5)))
    assert find_folder(DataOptions()) == cache
    name = "t10k-labels-idx1-ubyte.gz"
    assert asked == [(fashion_mnist.URL + name, cache / name, MD5[name])]


@pytest.mark.parametrize(
    "content",
    [
        b"<html>not found</html>",
        idx(np.zeros((2, 28, 28)))[:-12],
        gzip.compress(b"no idx at all"),
        gzip.compress(b"\0\0\x08\x03\0\0"),
        idx(np.zeros(4)),
        gzip.compress(gzip.decompress(idx(np.zeros((2, 28, 28))))[:-1]),
    ],
    ids=["html", "truncated gzip", "no idx", "header cut off", "labels for images", "a value short"],
)
def test_damaged_file_is_named_in_one_line(tmp_path, content):
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"train-images-idx3-ubyte.gz .*; fetch a fresh copy$") as caught:
        read_idx(path, dimensions=3)
    assert "\n" not in str(caught.value)


def test_label_beyond_the_ten_classes_is_an_error(places):
    root = write_fashion(places[0])
    (root / "t10k-labels-idx1-ubyte.gz").write_bytes(idx(np.array([0, 1, 2, 10])))
    with pytest.raises(InputError, match="has label 10"):
        load_fashion_mnist(DataOptions(root=root))


@pytest.mark.real
def test_real_fashion_mnist_has_a_thousand_test_images_of_each_class():
    if not fashion_mnist.DEBIAN.is_dir():
        pytest.skip("the Debian package dataset-fashion-mnist is not installed")
    data = load_fashion_mnist(DataOptions())
    assert len(data.train) == 60_000
    assert data.test.labels.bincount().tolist() == [1000] * 10
