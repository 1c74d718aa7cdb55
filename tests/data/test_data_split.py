from dataclasses import replace

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from unclass.data.batches import Batches, Counted, Indexed, Withheld, set_epoch
from unclass.data.images import ImageData, ImageSet
from unclass.data.split import Split
from unclass.errors import InputError


def make(labels):
    """Return images of which image i has the value i."""
    pixels = torch.arange(len(labels), dtype=torch.uint8)[:, None, None, None]
    return ImageSet.of(pixels, torch.tensor(labels))


def pets(train=(0, 1, 2, 3, 0, 1, 2, 3), test=(3, 2, 1, 0)):
    return ImageData("pets", ("cat", "dog", "emu", "fox"), make(list(train)), make(list(test)), {})


def test_four_sets_partition_the_images():
    data = pets()
    split = Split.of(data, ["dog", 3])
    assert split.classes == (1, 3)
    for retain, forget, whole in (
        (split.retain, split.forget, data.train),
        (split.retain_test, split.forget_test, data.test),
    ):
        assert sorted(retain.places.tolist() + forget.places.tolist()) == list(range(len(whole)))
        assert set(forget.labels.tolist()) == {1, 3}
        assert set(retain.labels.tolist()) == {0, 2}


def test_class_given_twice_counts_once():
    assert Split.of(pets(), ["dog", 1, "1"]).classes == (1,)


def test_sets_are_named_as_their_fields():
    split = Split.of(pets(), ["cat"])
    sets = split.sets()
    assert list(sets) == ["retain", "forget", "retain_test", "forget_test"]
    assert all(sets[name] is getattr(split, name) for name in sets)


@pytest.mark.parametrize(
    ("data", "labels", "problem"),
    [
        (pets(), [], "no class to forget was given; choose from: cat, dog, emu, fox"),
        (pets(), ["cat", "dog", "emu"], "forgetting 3 of 4 classes leaves fewer than two"),
        (pets(), ["cow"], "unknown class 'cow'"),
        (pets(train=[0, 2, 3]), ["dog"], "class 'dog' has no training images in pets"),
        (pets(test=[0, 2, 3]), ["dog"], "class 'dog' has no test images in pets"),
        (pets(test=[1, 1]), ["dog"], "pets has no images besides dog"),
    ],
)
def test_split_that_cannot_work_is_explained(data, labels, problem):
    with pytest.raises(InputError, match=problem):
        Split.of(data, labels)


def test_sets_that_the_data_does_not_hold_are_empty():
    split = Split.of(pets(train=[1, 1], test=[]), ["dog"], forget_only=True)
    assert list(split.sets()) == ["forget"]
    assert split.whole and len(split.retain) == 0
    assert list(Split.of(pets(test=[]), ["dog"]).sets()) == ["retain", "forget"]
    assert list(Split.of(pets(train=[]), ["dog"]).sets()) == ["retain_test", "forget_test"]


def test_listed_images_go_and_the_rest_of_their_class_stays():
    data = pets()
    split = Split.of(data, [], rows=torch.tensor([1, 2]))
    assert (split.classes, split.forget.places.tolist()) == ((1, 2), [1, 2])
    assert split.retain.places.tolist() == [0, 3, 4, 5, 6, 7]
    assert split.forget_test.labels.tolist() == [2, 1]
    assert not split.whole
    assert Split.of(data, ["dog"], rows=torch.tensor([1, 5])).whole
    every = Split.of(data, [], rows=torch.tensor([0, 1, 2, 3]))  # one image of each class
    assert every.classes == (0, 1, 2, 3) and not every.whole and not len(every.retain_test)


def test_list_and_data_that_contradict_the_classes_are_explained():
    with pytest.raises(InputError, match="the list has images of emu, not in `classes`"):
        Split.of(pets(), ["dog"], rows=torch.tensor([1, 2]))
    with pytest.raises(InputError, match=r"pets has images besides dog \(cat, emu, fox\); leave out `forget_only`"):
        Split.of(pets(), ["dog"], forget_only=True)
    with pytest.raises(InputError, match="class 'dog' has no training images"):
        Split.of(pets(train=[], test=[]), ["dog"], forget_only=True)


def test_withheld_data_cannot_be_read():
    withheld = Withheld("the retain data")
    for read in (iter, len, list):
        with pytest.raises(RuntimeError, match="the retain data is withheld"):
            read(withheld)


def test_counted_batches_count_each_image_read():
    counted = Counted(Batches(make([0] * 10), 4))
    assert len(counted) == 3
    next(iter(counted))
    assert counted.images_read == 4
    list(counted)
    assert counted.images_read == 14


def test_epoch_reaches_the_batches_beneath():
    batches = Batches(make([0] * 10), 4, shuffle=True)
    set_epoch(Counted(batches), 5)
    assert batches.epoch == 5


def test_batches_that_know_no_epochs_are_left_alone():
    batches = [(torch.zeros(1), torch.ones(1))]
    set_epoch(batches, 5)
    assert [(x.item(), y.item()) for x, y in batches] == [(0.0, 1.0)]


def indexed_pairs(indexed, epoch):
    set_epoch(indexed, epoch)
    return [(int(value), int(place)) for x, places in indexed for value, place in zip(x, places, strict=True)]


@pytest.mark.parametrize("shuffle", [False, True])
def test_place_leads_to_the_image_and_its_label(shuffle):
    labels = torch.arange(11) * 7
    images = torch.arange(11.0)[:, None]
    indexed = Indexed(DataLoader(TensorDataset(images, labels), batch_size=4, shuffle=shuffle))
    pairs = indexed_pairs(indexed, 0) + indexed_pairs(indexed, 1)
    assert sorted(place for _, place in pairs) == sorted([*range(11), *range(11)])
    assert all(indexed.labels[place] == value * 7 for value, place in pairs)
    assert indexed_pairs(indexed, 0) != indexed_pairs(indexed, 1)


def test_our_own_batches_are_walked_as_they_are():
    images = make([index % 4 for index in range(12)]).of_classes([1, 2])
    batches = Batches(images, 2, shuffle=True, seed=4)
    indexed = Indexed(batches)
    for epoch in (0, 1):
        set_epoch(batches, epoch)
        set_epoch(indexed, epoch)
        for (x, y), (same, places) in zip(batches, indexed, strict=True):
            assert torch.equal(x, same)
            assert torch.equal(indexed.labels[places], y)
    assert len(indexed) == len(batches)


@pytest.mark.parametrize("labels", [["3,4"], ["3, 4"], ["3", "4"], [3, "4"], ["3,4", 3]])
def test_several_classes_may_stand_in_one_text(digits, labels):
    assert Split.of(digits, labels).classes == (3, 4)


def test_class_that_has_a_comma_in_its_name_is_one(digits):
    named = replace(digits, classes=("tench, Tinca tinca", *digits.classes[1:]))
    assert Split.of(named, ["tench, Tinca tinca"]).classes == (0,)
