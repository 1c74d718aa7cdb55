import pytest
from PIL import Image

from unclass.data import DATA, OWN, DataOptions, load_data
from unclass.errors import InputError


def write_pets(root):
    for name in ("cat", "dog"):
        (root / name).mkdir(parents=True)
        for number in range(4):
            Image.new("RGB", (6, 6)).save(root / name / f"{number}.png")
    return root


def test_table_names_the_data_sets():
    assert list(DATA) == ["digits", "fashion-mnist", "cifar10", "vggface2"]
    assert [form.partition(":")[0] for form in OWN] == ["folder", "csv", "parquet", "hf", "webdataset"]


def test_data_set_is_loaded_by_name():
    assert load_data("digits").name == "digits"


def test_folder_goes_by_its_base_name_alone(tmp_path, monkeypatch):
    root = write_pets(tmp_path / "pets")
    assert load_data(f"folder:{root}").name == "folder:pets"
    monkeypatch.chdir(root)
    assert load_data("folder:.").name == "folder:pets"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_data("folder:~/pets").name == "folder:pets"


def test_nothing_recorded_names_the_machine(tmp_path):
    data = load_data(f"folder:{write_pets(tmp_path / 'pets')}", DataOptions(memory_budget=0, per_class=2))
    assert str(tmp_path) not in str(data.describe())


def test_per_class_limits_training_images_only():
    whole, part = load_data("digits"), load_data("digits", DataOptions(per_class=5))
    assert part.train.labels.bincount().tolist() == [5] * 10
    assert part.test.digest == whole.test.digest
    assert part.details["per_class"] == 5


def test_validation_holds_back_training_images_of_each_class_in_place_of_the_test_images():
    whole, part = load_data("digits"), load_data("digits", DataOptions(validation=0.1))
    assert sorted([*part.train.places.tolist(), *part.test.places.tolist()]) == sorted(whole.train.places.tolist())
    counts, held = whole.train.labels.bincount().tolist(), part.test.labels.bincount().tolist()
    assert held == [round(0.1 * count) for count in counts]
    assert part.details["validation"] == 0.1 and "validation" not in whole.details


def test_only_the_classes_to_forget_are_left_of_a_named_data_set():
    data = load_data("digits", DataOptions(only=("3",)))
    assert (set(data.train.labels.tolist()), len(data.test), len(data.classes)) == ({3}, 0, 10)


@pytest.mark.parametrize("spec", ["cifar", "folder", "folder:"])
def test_unknown_name_gets_the_nearest_one(spec):
    near = "cifar10" if spec == "cifar" else "folder:PATH"
    with pytest.raises(InputError, match=rf"unknown data set '{spec}'; choose from: .*\(did you mean {near}\?\)"):
        load_data(spec)


def test_other_size_than_a_fixed_one_is_an_error():
    assert load_data("digits", DataOptions(size=8)).train.shape == (1, 8, 8)
    with pytest.raises(InputError, match="size 32 is not allowed for digits, whose images have 8 × 8 pixels"):
        load_data("digits", DataOptions(size=32))
