from pathlib import Path

import pytest
import torch
from PIL import Image

from unclass.data.folder import holdout, load_folder
from unclass.data.options import DataOptions
from unclass.data.split import Split
from unclass.errors import InputError


def write_tree(root, *names):
    for number, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (6, 6), (number, 0, 0)).save(path)
    return root


def files(count):
    return [Path(f"{number}.png") for number in range(count)]


@pytest.mark.parametrize("test", ["test", "val", "valid"])
def test_train_and_test_folders_are_kept_apart(tmp_path, test):
    root = write_tree(tmp_path / "pets", "train/dog/a.png", "train/cat/b.png", f"{test}/cat/c.png", f"{test}/dog/d.png")
    data = load_folder(root, DataOptions())
    assert (data.name, data.classes) == ("folder:pets", ("cat", "dog"))
    assert data.train.labels.tolist() == data.test.labels.tolist() == [0, 1]
    assert data.train.read(torch.arange(2))[:, 0, 0, 0].tolist() == [1, 0]
    assert data.test.read(torch.arange(2))[:, 0, 0, 0].tolist() == [2, 3]


def test_one_tree_is_split_by_share_and_recorded(tmp_path):
    names = [f"{name}/{number}.png" for name in ("cat", "dog") for number in range(10)]
    data = load_folder(write_tree(tmp_path, *names), DataOptions(test_share=0.3, split_seed=5))
    assert data.train.labels.bincount().tolist() == [7, 7]
    assert data.test.labels.bincount().tolist() == [3, 3]
    assert data.details == {"split_seed": 5, "test_share": 0.3}
    reds = torch.cat([images.read(torch.arange(len(images)))[:, 0, 0, 0] for images in (data.train, data.test)])
    assert sorted(reds.tolist()) == list(range(20))


@pytest.mark.parametrize(("count", "held_out"), [(1, 0), (2, 1), (3, 1), (10, 2), (100, 20)])
def test_each_class_of_two_images_or_more_has_a_test_image(count, held_out):
    train, test = holdout({"cat": files(count)}, share=0.2, seed=0)
    assert len(test["cat"]) == held_out
    assert sorted(train["cat"] + test["cat"]) == sorted(files(count))


def test_at_least_one_image_is_left_to_train_on():
    assert len(holdout({"cat": files(3)}, share=0.99, seed=0)[0]["cat"]) == 1


def test_holdout_depends_on_the_seed_and_not_on_other_classes():
    alone = holdout({"dog": files(50)}, share=0.2, seed=1)[1]["dog"]
    assert holdout({"cat": files(7), "dog": files(50)}, share=0.2, seed=1)[1]["dog"] == alone
    assert holdout({"dog": files(50)}, share=0.2, seed=2)[1]["dog"] != alone


def test_suffixes_count_in_any_case_and_other_files_do_not(tmp_path):
    names = [f"train/cat/{name}" for name in ("a.JPG", "b.jpeg", "c.Png", "d.webp", "e.bmp")]
    write_tree(tmp_path, *names, "train/dog/a.png", "test/cat/a.png", "test/dog/a.png")
    (tmp_path / "train/cat/notes.txt").write_text("hello")
    (tmp_path / "train/cat/._a.jpg").write_text("left by another system")
    (tmp_path / "train/.hidden").mkdir()
    assert load_folder(tmp_path, DataOptions()).train.labels.bincount().tolist() == [5, 1]


def test_class_called_train_is_a_class(tmp_path):
    data = load_folder(write_tree(tmp_path, "train/a.png", "train/b.png", "plane/a.png", "plane/b.png"), DataOptions())
    assert data.classes == ("plane", "train")


def test_skipped_images_are_listed_and_the_rest_stay_where_they_belong(tmp_path):
    names = ("train/cat/a.png", "train/cat/b.png", "train/dog/c.png", "test/cat/d.png", "test/dog/e.png")
    write_tree(tmp_path, *names)
    (tmp_path / "train/cat/a.png").write_text("broken")
    (tmp_path / "test/cat/d.png").write_text("broken")
    data = load_folder(tmp_path, DataOptions(skip_bad=True))
    assert data.details["skipped"] == ["train/cat/a.png", "test/cat/d.png"]
    assert data.train.labels.tolist() == [0, 1]
    assert data.test.labels.tolist() == [1]
    assert data.test.read(torch.tensor([0]))[0, 0, 0, 0] == 4


def test_class_without_test_images_loads_but_cannot_be_forgotten(tmp_path):
    root = write_tree(tmp_path, "train/a/1.png", "train/b/1.png", "train/c/1.png", "test/b/1.png", "test/c/1.png")
    data = load_folder(root, DataOptions())
    assert data.classes == ("a", "b", "c")
    with pytest.raises(InputError, match="class 'a' has no test images"):
        Split.of(data, ["a"])


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ((), "has no images in class folders; lay it out as"),
        (("a.png",), "has no images in class folders"),
        (("cat/a.png", "cat/b.png"), "has one class only, 'cat'"),
        (("train/cat/a.png", "test/cat/a.png"), "has one class only, 'cat'"),
        (("train/cat/a.png", "train/dog/a.png"), "has train/ but none of test, val, valid"),
        (("train/a/1.png", "train/b/1.png", "test/c/1.png"), "has classes that train/ lacks: c;"),
    ],
)
def test_layout_that_cannot_work_is_explained(tmp_path, names, problem):
    with pytest.raises(InputError, match=problem):
        load_folder(write_tree(tmp_path, *names), DataOptions())


def test_empty_class_folder_is_named(tmp_path):
    write_tree(tmp_path, "cat/a.png", "dog/a.png")
    (tmp_path / "emu").mkdir()
    with pytest.raises(InputError, match="class folders without images: emu"):
        load_folder(tmp_path, DataOptions())


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere is not a folder"):
        load_folder(tmp_path / "nowhere", DataOptions())
