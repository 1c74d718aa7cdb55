"""Torch Datasets and DataLoaders, and what items can be wrong with."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

from unclass.data import Batches, DataOptions, image_data
from unclass.data.dataset_items import Items
from unclass.errors import InputError

X = torch.arange(12.0)[:, None, None, None].expand(12, 3, 4, 4) - 5  # image i has the value i − 5: no pixels
Y = torch.arange(12) % 3


class Listed(Dataset):
    """Items by a function of their index; counts how often they are read."""

    def __init__(self, item, count=12, **known):
        self.item, self.count, self.read = item, count, 0
        vars(self).update(known)

    def __len__(self):
        return self.count

    def __getitem__(self, place):
        self.read += 1
        return self.item(place)


class Stream(IterableDataset):
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


def pairs(place):
    return X[place], int(Y[place])


def read(images):
    """All images as one number each, by row."""
    return images.read(torch.arange(len(images)))[:, 0, 0, 0].add(5).int().tolist()


@pytest.mark.parametrize(
    "given",
    [
        TensorDataset(X, Y),
        Listed(pairs),
        Listed(lambda place: {"pixel_values": X[place], "labels": Y[place]}),
        Listed(lambda place: {"image": X[place].numpy(), "label": np.int64(Y[place])}),
        ConcatDataset([TensorDataset(X[:5], Y[:5]), Listed(lambda place: pairs(place + 5), 7)]),
        DataLoader(TensorDataset(X, Y), batch_size=5, shuffle=True),
        DataLoader(
            Listed(pairs),
            batch_size=5,
            collate_fn=lambda items: {"x": torch.stack([x for x, _ in items]), "y": [y for _, y in items]},
        ),
        DataLoader(Stream([pairs(place) for place in range(12)]), batch_size=5),
        Stream([pairs(place) for place in range(12)]),
    ],
)
def test_numbers_of_every_kind_of_data_are_used_as_they_are(given):
    data = image_data(given)
    assert (data.classes, len(data.test)) == (("0", "1", "2"), 0)
    assert read(data.train) == list(range(12))
    assert data.train.labels.tolist() == Y.tolist()
    x = torch.cat([x for x, _ in Batches(data.train, 5, shuffle=True)])
    assert x.dtype == torch.float32 and sorted(x[:, 0, 0, 0].tolist()) == list(range(-5, 7))


def test_labels_kept_beside_the_images_spare_reading_them():
    listed = Listed(pairs, targets=Y.tolist(), classes=["cat", "dog", "emu"])
    data = image_data(Subset(listed, [7, 3, 11]))
    assert listed.read == 2  # to see that the first agrees, and to learn the shape
    assert data.train.labels.tolist() == Y[[7, 3, 11]].tolist()
    assert data.classes == ("cat", "dog", "emu")


@pytest.mark.parametrize(
    "known",
    [
        {"targets": [2] * 12},
        {"targets": Y.tolist(), "target_transform": lambda y: y},
        {"targets": ["cat"] * 12},
        {"targets": 5},
        {"targets": {"a": 1}},
        {"targets": [[0], [1, 2]]},
        {"targets": torch.eye(3)[Y]},
        {"targets": torch.eye(3)[Y].long()},
    ],
)
def test_labels_beside_the_images_that_are_not_the_items_are_not_believed(known):
    assert image_data(Listed(pairs, **known)).train.labels.tolist() == Y.tolist()


@pytest.mark.parametrize(
    "sampler",
    [SubsetRandomSampler([4, 8]), WeightedRandomSampler([0.0] * 4 + [1.0] + [0.0] * 3 + [1.0] + [0.0] * 3, 30)],
)
def test_a_sampler_that_chooses_is_obeyed(sampler):
    data = image_data(DataLoader(TensorDataset(X, Y), batch_size=3, sampler=sampler))
    assert set(read(data.train)) == {4, 8}
    assert len(data.train) == len(sampler)


def test_pillow_images_and_bytes_are_pixels():
    grey = Listed(lambda place: (Image.new("L", (4, 4), 51), place % 2))
    colour = Listed(lambda place: (Image.new("RGB", (4, 4), (51, 0, 255)), place % 2))
    data = Listed(lambda place: (torch.full((3, 4, 4), 51, dtype=torch.uint8), place % 2))
    for given, channels in ((grey, 1), (colour, 3), (data, 3)):
        x, _ = next(iter(Batches(image_data(given).train, 2)))
        assert x.shape == (2, channels, 4, 4)
        assert x[0, 0, 0, 0].item() == pytest.approx(0.2)


def test_pillow_images_of_sixteen_bits_are_no_plain_white():
    grey = Listed(lambda place: (Image.fromarray(np.full((4, 4), 257 * 51, "uint16")), place % 2))
    assert image_data(grey).train.read(torch.arange(2)).unique().tolist() == [51]
    with pytest.raises(InputError, match="mode F"):
        image_data(Listed(lambda place: (Image.new("F", (4, 4)), 0)))


def test_training_and_test_images_share_the_names():
    data = image_data(TensorDataset(X[:9], Y[:9]), TensorDataset(X[9:], Y[9:]), ["cat", "dog", "emu"])
    assert (data.classes, read(data.test)) == (("cat", "dog", "emu"), [9, 10, 11])


def wider(place):
    return torch.zeros(3, 4, 4 + place), 0


def broken(place):
    if place == 3:
        raise OSError("cannot identify image file")
    return pairs(place)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (Listed(wider, targets=[0] * 12), "images of different sizes: 3 × 4 × 4 and 3 × 4 × 5; let the transform"),
        (Listed(lambda place: (X[place].long(), 0)), "images are of type torch.int64; give .*, or uint8"),
        (Listed(lambda place: (X[place, 0], 0)), r"a batch of images is 1 × 4 × 4, not N × C × H × W"),
        (Listed(lambda place: (X[place], 0.5)), "labels are torch.float32 of no dimension; give one whole number"),
        (Listed(lambda place: (X[place], torch.ones(3, 3).long())), "labels are torch.int64 of 3 × 3"),
        (Listed(lambda place: (X[place], "cat")), "labels such as 'cat' are no class indices"),
        (Listed(lambda place: X[place]), "items are Tensor, not pairs of image and label"),
        (Listed(lambda place: {"photo": X[place]}), "items have the keys photo; they need one of pixel_values"),
        (Listed(lambda place: (X[place], -1)), "labels from -1 to -1"),
        (Listed(broken), r"image 3 of the Dataset cannot be read \(cannot identify image file\)"),
        (Listed(pairs, 0), "the Dataset is empty"),
        (Listed(lambda place: (X[place], [0, 1])), r"an image has 2 labels, such as \[0, 1\]"),
        (Listed(lambda place: (X[place], torch.eye(3)[place % 3].long())), "an image has 3 labels"),
        (Listed(lambda place: ((X[place], X[place]), 0)), "an image is a tuple, not numbers; let the transform make"),
        (Listed(lambda place: (X[place].to_sparse(), 0)), "a batch of images is torch.sparse_coo, not N × C × H × W"),
        (
            Listed(lambda place: (X[place] if place % 2 else X[place].byte(), 0), targets=[0] * 12),
            "images are of types torch.float32 and torch.uint8; let the transform make them of one",
        ),
        (Listed(lambda place: (X[place].to("meta"), 0)), "images are on the device meta"),
        (Listed(lambda place: (X[place] / (place - 3), 0)), "pixels that are NaN or infinite"),
        (DataLoader(Stream([(X[0] / 0, 0)])), "pixels that are NaN or infinite"),
        (
            DataLoader(Listed(pairs), batch_size=3, collate_fn=lambda items: (items[0][0][None], [items[0][1]])),
            "`collate_fn` of the Dataset made 1 images of 4; correct it",
        ),
        (Listed(pairs, "a"), r"the length of the Dataset cannot be asked for \(TypeError"),
        (Listed(pairs, 2**70), r"the length of the Dataset cannot be asked for \(OverflowError"),
        (Subset(TensorDataset(X, Y), [0, 99]), "the `indices` of the Subset are none of its items"),
        (DataLoader(Stream([]), batch_size=2), "the DataLoader gives no images"),
        (DataLoader(Stream([wider(0), wider(1)]), batch_size=1), "different sizes: 3 × 4 × 4 and 3 × 4 × 5"),
        (7, "int is no data; give a Dataset or a DataLoader"),
        (torch.tensor(7), r"tensor\(7\) is one number; give a Dataset"),
        (None, "neither training nor test images were given"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_used_is_explained(given, problem):
    with pytest.raises(InputError, match=problem):
        list(Batches(image_data(given).train, 4))


def test_error_of_a_worker_stays_one_line():
    images = image_data(Listed(broken, targets=Y.tolist())).train
    with pytest.raises(InputError) as caught:
        list(Batches(images, 4, workers=1))
    assert "\n" not in str(caught.value) and str(caught.value).startswith("image 3 of the Dataset")


def test_what_a_loaders_worker_says_is_its_last_line():
    broken_stream = Stream([(X[0], 0), 1.0])
    with pytest.raises(InputError) as caught:
        image_data(DataLoader(broken_stream, batch_size=2, num_workers=1))
    said = str(caught.value)
    assert said.startswith("batch 0 of the DataLoader cannot be read (") and "Traceback" not in said


def test_a_sampler_without_a_length_is_read_as_it_comes():
    class Once(torch.utils.data.Sampler):
        def __iter__(self):
            return iter([4, 8])

    assert read(image_data(DataLoader(TensorDataset(X, Y), batch_size=1, sampler=Once())).train) == [4, 8]


def test_what_a_dataset_keeps_and_cannot_tell_is_named():
    class Broken(Listed):
        @property
        def targets(self):
            raise ZeroDivisionError("division by zero")

    with pytest.raises(InputError, match=r"`targets` of the Dataset cannot be read \(ZeroDivisionError"):
        image_data(Broken(pairs))


def test_training_and_test_images_of_other_channels_are_refused():
    with pytest.raises(InputError, match="3 channels in the train images and 1 channels in the test images"):
        image_data(TensorDataset(X, Y), TensorDataset(X[:, :1], Y))


def test_more_labels_than_classes_is_an_error():
    with pytest.raises(InputError, match="images has labels from 0 to 2 for 2 classes"):
        image_data(TensorDataset(X, Y), classes=["cat", "dog"])
    with pytest.raises(InputError, match="from 0 to 2 for 2 classes"):
        image_data(TensorDataset(X, Y), options=DataOptions(classes=("cat", "dog")))


def test_random_access_reads_only_what_is_asked_for():
    listed = Listed(pairs)
    assert Items(listed)[torch.tensor([2, 2])].shape == (2, 3, 4, 4)
    assert listed.read == 2


@pytest.mark.parametrize("wrong", [{"classes": 3}, {"classes": "abc"}, {"classes": torch.tensor(1)}, {"options": None}])
def test_names_and_options_of_a_wrong_type_are_one_line(wrong):
    with pytest.raises(InputError, match=rf"`{next(iter(wrong))}` is "):
        image_data(TensorDataset(X, torch.arange(len(X)) % 2), **wrong)


def test_reading_a_loader_once_draws_nothing_from_torchs_generator():
    before = torch.get_rng_state()
    weighted = torch.utils.data.WeightedRandomSampler([1.0] * len(X), len(X))
    image_data(DataLoader(TensorDataset(X, torch.arange(len(X)) % 2), 2, sampler=weighted))
    assert torch.equal(torch.get_rng_state(), before)
