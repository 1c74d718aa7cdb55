import pytest
import torch
from PIL import Image

from unclass.data import DataOptions, listed_rows, load_data
from unclass.errors import InputError


@pytest.fixture
def pets(tmp_path):
    for part, count in (("train", 4), ("test", 1)):
        for label, kind in enumerate(("cat", "dog")):
            (tmp_path / "pets" / part / kind).mkdir(parents=True)
            for number in range(count):
                path = tmp_path / "pets" / part / kind / f"{number}.png"
                Image.new("RGB", (4, 4), (10 * label + number, 0, 0)).save(path)
    return tmp_path / "pets"


def reds(data, rows):
    return data.train.read(rows)[:, 0, 0, 0].tolist()


@pytest.mark.parametrize("budget", [0, 1 << 20])
def test_images_are_named_by_relative_or_absolute_path_or_index(pets, monkeypatch, budget):
    data = load_data(f"folder:{pets}", DataOptions(memory_budget=budget))
    monkeypatch.chdir(pets.parent)
    (pets / "list.txt").write_text(
        f"train/cat/1.png\n\n{pets}/train/dog/2.png\npets/train/dog/3.png\n0\n0\n./train/dog/0.png"
    )
    assert reds(data, listed_rows(pets / "list.txt", data)) == [0, 1, 10, 12, 13]
    assert listed_rows([0, "train/cat/1.png"], data).tolist() == [0, 1]


def test_rows_are_those_of_the_images_in_use(pets):
    data = load_data(f"folder:{pets}", DataOptions(per_class=2))
    kept = reds(data, torch.arange(4))
    names = {red: f"train/{'dog' if red >= 10 else 'cat'}/{red % 10}.png" for red in kept}
    assert listed_rows([names[kept[2]]], data).tolist() == [2]


def test_list_of_names_in_a_csv_goes_by_its_own_names(pets):
    rows = "\n".join(f"train/{kind}/{number}.png,{kind}" for kind in ("cat", "dog") for number in range(4))
    (pets / "list.csv").write_text(f"path,label\n{rows}\n")
    data = load_data(f"csv:{pets / 'list.csv'}", DataOptions(test_share=0.25))
    found = [data.train.names[place] for place in data.train.places.tolist()]
    assert listed_rows([found[3]], data).tolist() == [3]


@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        ([], "the list of images to forget is empty"),
        ([8], "image 8 is not among the 8 training images of folder:pets"),
        (["train/cat/9.png", 1], "1 of 2 lines name no training image of folder:pets: train/cat/9.png is none of its"),
        (["test/cat/0.png"], "test/cat/0.png is held out for the test"),
        ("gone.txt", "there is no list gone.txt"),
    ],
)
def test_list_that_cannot_be_used_is_explained(pets, listed, problem):
    with pytest.raises(InputError, match=problem):
        listed_rows(listed, load_data(f"folder:{pets}"))
