import io
import tarfile

import numpy as np
import pytest
import torch
from PIL import Image

from unclass.data import Batches, DataOptions, load_data
from unclass.data.formats.shards import expand
from unclass.errors import InputError


def png(red):
    file = io.BytesIO()
    Image.new("RGB", (4, 4), (red, 0, 0)).save(file, "png")
    return file.getvalue()


def write_shard(path, members):
    with tarfile.open(path, "w") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def write_shards(folder, stem="photos-{:03}.tar"):
    """Three shards of four images: image i is of class i mod 3."""
    for shard in range(3):
        members = {}
        for number in range(4 * shard, 4 * shard + 4):
            members |= {f"in/{number:04}.png": png(number), f"in/{number:04}.cls": str(number % 3).encode()}
        write_shard(folder / stem.format(shard), members)
    return folder


def reds(images):
    return images.read(torch.arange(len(images)))[:, 0, 0, 0].tolist()


@pytest.mark.parametrize("pattern", ["photos-{000..002}.tar", "photos-*.tar"])
def test_shards_are_read_by_range_or_pattern(tmp_path, pattern):
    data = load_data(f"webdataset:{write_shards(tmp_path)}/{pattern}")
    assert (data.name, data.classes) == ("webdataset:photos-*.tar", ("0", "1", "2"))
    for images in (data.train, data.test):
        assert [red % 3 for red in reds(images)] == images.labels.tolist()
    assert sorted(reds(data.train) + reds(data.test)) == list(range(12))


def test_streamed_shards_give_the_same_in_any_order_and_to_workers(tmp_path):
    spec = f"webdataset:{write_shards(tmp_path)}/*.tar"
    inside, streamed = load_data(spec), load_data(spec, DataOptions(memory_budget=0))
    for workers in (0, 1):
        pairs = zip(
            Batches(inside.train, 3, shuffle=True),
            Batches(streamed.train, 3, shuffle=True, workers=workers),
            strict=True,
        )
        assert all(torch.equal(x, other) and torch.equal(y, same) for (x, y), (other, same) in pairs)


def test_what_webdataset_itself_writes_is_read_as_it_reads_it(tmp_path):
    webdataset = pytest.importorskip("webdataset")
    noise = np.random.default_rng(0).integers(0, 256, (9, 5, 5, 3), dtype=np.uint8)
    with webdataset.ShardWriter(str(tmp_path / "w-%02d.tar"), maxcount=4, verbose=0) as writer:
        for number, pixels in enumerate(noise):
            writer.write({"__key__": f"{number}", "png": Image.fromarray(pixels), "json": {"label": "ab"[number % 2]}})
    data = load_data(f"webdataset:{tmp_path}/w-{{00..02}}.tar", DataOptions(classes=("a", "b"), only=("a", "b")))
    theirs = (
        webdataset.WebDataset(str(tmp_path / "w-{00..02}.tar"), shardshuffle=False)
        .decode("rgb8")
        .to_tuple("png", "json")
    )
    for row, (pixels, label) in enumerate(theirs):
        assert torch.equal(data.train.read(torch.tensor([row]))[0], torch.tensor(pixels).permute(2, 0, 1))
        assert data.classes[data.train.labels[row]] == label["label"]


def test_shards_that_say_train_and_test_are_kept_apart(tmp_path):
    write_shards(tmp_path, "train-{}.tar")
    (tmp_path / "train-2.tar").rename(tmp_path / "test-2.tar")
    data = load_data(f"webdataset:{tmp_path}/t*-*.tar")
    assert (sorted(reds(data.train)), sorted(reds(data.test))) == (list(range(8)), list(range(8, 12)))


def test_ranges_keep_their_width():
    assert expand("a-{008..010}-{1..2}.tar")[:3] == ["a-008-1.tar", "a-008-2.tar", "a-009-1.tar"]
    assert len(expand("a-{008..010}-{1..2}.tar")) == 6


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"1.png": b""}, "a.tar has no label beside 1; add one of .cls, .txt, .json"),
        ({"1.cls": b"1"}, "holds no images"),
        ({"1.png": b"", "1.json": b"{"}, "a.tar has a label beside 1 that is not JSON"),
        ({"1.png": png(0), "1.txt": b""}, "has 1 rows without a label"),
        (
            {"1.png": b"broken", "1.cls": b"0", "2.png": png(2), "2.cls": b"1"},
            "1 of 2 images cannot be read: a.tar/1.png",
        ),
    ],
)
def test_shard_that_cannot_be_used_is_explained(tmp_path, members, problem):
    write_shard(tmp_path / "a.tar", members)
    with pytest.raises(InputError, match=problem):
        load_data(f"webdataset:{tmp_path}/a.tar")


def test_missing_and_packed_shards_are_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no shard a-1.tar, a-2.tar in"):
        load_data(f"webdataset:{tmp_path}/a-{{1..2}}.tar")
    (tmp_path / "a.tar.gz").write_bytes(b"\x1f\x8b" + bytes(600))
    with pytest.raises(InputError, match=r"a.tar.gz is not a plain tar file"):
        load_data(f"webdataset:{tmp_path}/a.tar.gz")
