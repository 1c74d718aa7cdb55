import numpy as np
import pytest
import torch
from PIL import Image

from unclass.data import DataOptions, image_data, load_data
from unclass.data.formats.huggingface import Rows
from unclass.errors import InputError

datasets = pytest.importorskip("datasets")
PIXELS = np.random.default_rng(0).integers(0, 256, (12, 6, 6, 3), dtype=np.uint8)


@pytest.fixture(scope="module", autouse=True)
def silent():
    datasets.disable_progress_bars()


def pets(rows=range(12), names=("cat", "dog", "emu")):
    """Images of noise; image i is of class i mod 3."""
    features = datasets.Features({"img": datasets.Image(), "kind": datasets.ClassLabel(names=list(names))})
    content = {"img": [Image.fromarray(PIXELS[row]) for row in rows], "kind": [row % 3 for row in rows]}
    return datasets.Dataset.from_dict(content, features=features)


def check(images, rows):
    expected = torch.from_numpy(PIXELS[list(rows)]).permute(0, 3, 1, 2)
    assert torch.equal(images.read(torch.arange(len(images))), expected)
    assert images.labels.tolist() == [row % 3 for row in rows]


def test_saved_splits_are_kept_apart(tmp_path):
    both = datasets.DatasetDict({"train": pets(range(9)), "validation": pets(range(9, 12))})
    both.save_to_disk(str(tmp_path / "pets"))
    for budget in (0, 1 << 30):
        data = load_data(f"hf:{tmp_path / 'pets'}", DataOptions(memory_budget=budget))
        assert (data.name, data.classes) == ("hf:pets", ("cat", "dog", "emu"))
        check(data.train, range(9))
        check(data.test, range(9, 12))
        assert len(data.train.digest) == 64


def test_one_saved_set_is_split_by_seed(tmp_path):
    pets().save_to_disk(str(tmp_path / "pets"))
    data = load_data(f"hf:{tmp_path / 'pets'}", DataOptions(test_share=0.25))
    assert data.train.labels.bincount().tolist() == [3, 3, 3]
    assert data.details == {"split_seed": 0, "test_share": 0.25}


def test_set_in_memory_is_read_with_its_own_names():
    data = image_data(pets(range(9)), pets(range(9, 12)))
    assert data.classes == ("cat", "dog", "emu")
    check(data.train, range(9))
    check(data.test, range(9, 12))
    both = image_data(datasets.DatasetDict({"train": pets(range(9)), "test": pets(range(9, 12))}))
    assert both.test.digest == data.test.digest


def test_chosen_and_shuffled_rows_keep_their_labels():
    rows = [7, 3, 11]
    check(image_data(pets().select(rows)).train, rows)


def test_digest_tells_which_rows_are_used_of_a_set_on_disk_and_in_memory(tmp_path):
    pets().save_to_disk(str(tmp_path / "pets"))
    saved = datasets.load_from_disk(str(tmp_path / "pets"))
    for whole in (saved, pets()):
        chosen = [Rows(part, "img").digest() for part in (whole, whole.select([7, 3, 11]), whole.select([3, 7, 11]))]
        assert len(set(chosen)) == 3
        assert Rows(whole.select([7, 3, 11]), "img").digest() == chosen[1]
    assert Rows(pets(range(9)), "img").digest() != Rows(pets(range(1, 10)), "img").digest()


def test_own_transform_is_used_as_it_is():
    def transform(batch):
        return {
            "pixel_values": [torch.from_numpy(np.array(one)).float() - 200 for one in batch["img"]],
            "labels": batch["kind"],
        }

    data = image_data(pets().with_transform(transform), options=DataOptions(label_column="kind"))
    expected = torch.from_numpy(PIXELS[[4]]).float() - 200
    assert torch.equal(data.train.read(torch.tensor([4])), expected)
    assert data.train.labels.tolist() == [row % 3 for row in range(12)]


@pytest.mark.parametrize("values", [["cat", "dog"] * 6, [0, 1] * 6])
def test_labels_of_any_type_will_do(tmp_path, values):
    content = {"image": [Image.fromarray(pixels) for pixels in PIXELS], "label": values}
    datasets.Dataset.from_dict(content).save_to_disk(str(tmp_path / "pets"))
    data = load_data(f"hf:{tmp_path / 'pets'}", DataOptions(classes=("cat", "dog")))
    assert data.classes == ("cat", "dog")
    assert data.train.labels.bincount().tolist() == [5, 5]


def test_what_is_no_saved_set_is_explained(tmp_path):
    with pytest.raises(InputError, match="holds no saved data set"):
        load_data(f"hf:{tmp_path}")
    with pytest.raises(InputError, match="gone is not a folder"):
        load_data(f"hf:{tmp_path / 'gone'}")
    datasets.DatasetDict({"train": pets()}).save_to_disk(str(tmp_path / "pets"))
    with pytest.raises(InputError, match="has the splits train; it needs train and one of test, validation"):
        load_data(f"hf:{tmp_path / 'pets'}")


def test_classes_of_a_model_that_do_not_match_are_named(tmp_path):
    pets().save_to_disk(str(tmp_path / "pets"))
    with pytest.raises(InputError, match=r"lacks: emu \(did you mean emus\?\)"):
        load_data(f"hf:{tmp_path / 'pets'}", DataOptions(classes=("cat", "dog", "emus")))
