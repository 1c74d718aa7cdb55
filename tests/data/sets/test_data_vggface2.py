from pathlib import Path

import pytest
from PIL import Image

from unclass.data.options import DataOptions
from unclass.data.sets.vggface2 import load_vggface2
from unclass.errors import InputError

FACES = Path(__file__).parents[4] / "shared" / "data" / "faces10"


def write_people(folder, *counts):
    for number, count in enumerate(counts, 1):
        person = folder / f"n{number:06}"
        person.mkdir(parents=True)
        for image in range(count):
            Image.new("RGB", (5, 5)).save(person / f"{image:04}_01.jpg")
    return folder


def options(root, **changes):
    return DataOptions(**({"root": root, "people": 2, "min_images": 4, "size": 5} | changes))


@pytest.mark.parametrize("folder", ["train", "."])
def test_people_are_found_in_train_or_in_the_root_itself(tmp_path, folder):
    write_people(tmp_path / folder, 5, 10)
    data = load_vggface2(options(tmp_path))
    assert (data.name, data.classes) == ("vggface2", ("n000001", "n000002"))
    assert data.train.labels.bincount().tolist() == [4, 8]
    assert data.test.labels.bincount().tolist() == [1, 2]


def test_only_people_with_enough_images_are_drawn(tmp_path):
    data = load_vggface2(options(write_people(tmp_path, 3, 4, 3, 9)))
    assert data.details["people"] == ["n000002", "n000004"]


def test_folders_that_are_no_people_are_left_out(tmp_path):
    root = write_people(tmp_path, 4, 4)
    (root / "n000001").rename(root / "extra")
    with pytest.raises(InputError, match="has 1 with at least 4 images"):
        load_vggface2(options(root))


def test_draw_depends_on_the_seed(tmp_path):
    root = write_people(tmp_path, *[4] * 12)
    drawn = [load_vggface2(options(root, people=4, split_seed=seed)).details["people"] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] == sorted(set(drawn[0]))


def test_images_have_224_pixels_unless_told_otherwise(tmp_path):
    root = write_people(tmp_path, 4, 4)
    assert load_vggface2(options(root, size=None)).train.shape == (3, 224, 224)
    assert load_vggface2(options(root, size=7)).train.shape == (3, 7, 7)


def test_too_few_people_says_how_many_there_are(tmp_path):
    write_people(tmp_path, 3, 4)
    with pytest.raises(InputError, match=r"2 people were asked for, but .* has 1 with at least 4 images; lower"):
        load_vggface2(options(tmp_path))


@pytest.mark.parametrize("root", [None, "missing"])
def test_without_a_folder_of_people_the_layout_is_explained(tmp_path, root):
    with pytest.raises(InputError, match=r"give the folder that holds train/n000001/\*.jpg with `root`"):
        load_vggface2(options(root and tmp_path / root))


@pytest.mark.real
def test_real_faces_are_split_four_to_one_for_each_person():
    if not FACES.is_dir():
        pytest.skip("there is no ../shared/data/faces10 beside the project")
    data = load_vggface2(DataOptions(root=FACES, memory_budget=0))
    assert data.train.labels.bincount().tolist() == [320] * 10
    assert data.test.labels.bincount().tolist() == [80] * 10
    assert data.train.shape == (3, 224, 224)
