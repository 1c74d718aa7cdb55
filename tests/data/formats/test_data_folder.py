import pytest
import torch
from PIL import Image

from unclass.data.assemble import holdout
from unclass.data.formats.folder import load_folder
from unclass.data.options import DataOptions
from unclass.data.split import Split
from unclass.errors import InputError


def write_tree(root, *names):
    for number, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (6, 6), (number, 0, 0)).save(path)
    return root


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
    assert holdout(torch.zeros(count, dtype=torch.long), share=0.2, seed=0).sum() == held_out


def test_at_least_one_image_is_left_to_train_on():
    assert (~holdout(torch.zeros(3, dtype=torch.long), share=0.99, seed=0)).sum() == 1


def test_holdout_depends_on_the_seed_and_not_on_other_classes():
    alone = holdout(torch.zeros(50, dtype=torch.long), share=0.2, seed=1)
    labels = torch.cat([torch.zeros(7, dtype=torch.long), torch.full((50,), 2)])
    assert torch.equal(holdout(labels, share=0.2, seed=1)[7:], alone)
    assert not torch.equal(holdout(labels, share=0.2, seed=2)[7:], alone)


def test_holdout_does_not_depend_on_how_classes_are_mixed():
    labels = torch.tensor([0, 1] * 20)
    mixed, apart = holdout(labels, 0.2, 3), holdout(labels.sort(stable=True).values, 0.2, 3)
    assert torch.equal(torch.cat([mixed[0::2], mixed[1::2]]), apart)


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


MODEL = DataOptions(classes=("cat", "dog", "emu"), only=("emu",))


def test_images_to_forget_may_be_all_there_is(tmp_path):
    for root in (write_tree(tmp_path / "a", "emu/1.png", "emu/2.png"), write_tree(tmp_path / "b", "1.png", "2.png")):
        data = load_folder(root, MODEL)
        assert data.classes == ("cat", "dog", "emu")
        assert data.train.labels.tolist() == [2, 2]
        assert data.train.read(torch.arange(2))[:, 0, 0, 0].tolist() == [0, 1]
        assert len(data.test) == 0


def test_pictures_become_what_the_model_takes(tmp_path):
    root = write_tree(tmp_path, "cat/1.png", "cat/2.png", "dog/1.png", "dog/2.png")
    assert load_folder(root, DataOptions(shape=(1, 3, 5))).train.shape == (1, 3, 5)
    assert load_folder(root, DataOptions(shape=(3, 3, 3), size=4)).train.shape == (3, 4, 4)


@pytest.mark.parametrize(
    ("names", "only", "problem"),
    [
        ((), ("emu",), "has no images to forget"),
        (("1.png",), ("emu", "cat"), "does not say which of emu, cat its images are"),
        (("emuu/1.png",), ("emu",), r"lacks: emuu \(did you mean emu\?\)"),
    ],
)
def test_images_to_forget_that_cannot_be_placed_are_explained(tmp_path, names, only, problem):
    with pytest.raises(InputError, match=problem):
        load_folder(write_tree(tmp_path, *names), DataOptions(classes=MODEL.classes, only=only))


def test_class_names_that_the_model_lacks_are_listed_with_the_nearest(tmp_path):
    root = write_tree(tmp_path, "cta/1.png", "cta/2.png", "dog/1.png", "dog/2.png")
    with pytest.raises(InputError, match=r"folder:.* has classes that the model lacks: cta \(did you mean cat\?\)"):
        load_folder(root, DataOptions(classes=MODEL.classes))
