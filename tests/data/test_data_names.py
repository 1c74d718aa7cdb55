import os
import pickle
import tracemalloc

import torch
from PIL import Image

from unclass.data import Batches, DataOptions, Split, load_data
from unclass.data.names import Names
from unclass.data.pictures import Decoded


def test_names_come_back_as_they_were():
    given = ["a.png", "", "cat/ümläut.png", "dog/\udcff.png", "a.png"]
    names = Names(given)
    assert len(names) == 5
    assert list(names) == [names[place] for place in range(5)] == given
    assert list(pickle.loads(pickle.dumps(names))) == given


def link_images(root, classes, count):
    for number in range(classes):
        folder = root / f"n{number:06}"
        folder.mkdir(parents=True)
        Image.new("RGB", (1, 1), (number, 0, 0)).save(folder / "000000.png")
        for image in range(1, count):
            os.link(folder / "000000.png", folder / f"{image:06}.png")
    return root


def test_twenty_thousand_images_are_listed_in_little_memory_and_streamed(tmp_path, monkeypatch):
    root = link_images(tmp_path / "photos", 20, 1000)
    monkeypatch.setattr("unclass.data.pictures.CHECKED", 100)
    tracemalloc.start()
    data = load_data(f"folder:{root}", DataOptions(size=2, memory_budget=0))
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(data.train), len(data.test)) == (16000, 4000)
    assert isinstance(data.train.source, Decoded)
    assert kept < 20_000 * 60  # a Path of each would take five times that
    assert most < 20_000 * 120
    split = Split.of(data, ["n000007"])
    x, y = next(iter(Batches(split.retain, 32, shuffle=True)))
    assert torch.equal((x[:, 0, 0, 0] * 255).round().long(), y)
    assert len(split.forget) == 800
