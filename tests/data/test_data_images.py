from itertools import chain

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from unclass.data.batches import Batches
from unclass.data.images import ImageData, ImageSet
from unclass.errors import InputError

counts = st.integers(1, 70)
sizes = st.integers(1, 40)
seeds = st.integers(0, 1000)


def make(count, classes=3):
    """Return images of which image i has all pixels i and the label i mod `classes`."""
    pixels = torch.arange(count, dtype=torch.uint8)[:, None, None, None].expand(count, 1, 2, 2).contiguous()
    return ImageSet.of(pixels, torch.arange(count) % classes)


def values(batches):
    """Return for each batch the numbers of its images."""
    return [(x[:, 0, 0, 0] * 255).round().long().tolist() for x, _ in batches]


def test_views_share_one_copy_of_the_pixels():
    images = make(12)
    view = images.of_classes([1]).select(torch.tensor([2, 0]))
    assert view.source is images.source
    assert view.read(torch.arange(2))[:, 0, 0, 0].tolist() == [7, 1]
    assert view.labels.tolist() == [1, 1]


def test_classes_and_their_inverse_partition_the_images():
    images = make(12)
    chosen, others = images.of_classes([0, 2]), images.of_classes([0, 2], inverse=True)
    assert set(chosen.labels.tolist()) == {0, 2}
    assert torch.equal(torch.cat([chosen.places, others.places]).sort().values, torch.arange(12))


def test_images_without_labels_are_an_error():
    with pytest.raises(InputError, match="3 images but 2 labels"):
        ImageSet.of(torch.zeros(3, 1, 2, 2, dtype=torch.uint8), torch.zeros(2))


def test_per_class_draws_by_seed_and_keeps_the_order():
    images = make(60)
    drawn = images.per_class(5, seed=0)
    assert drawn.labels.bincount().tolist() == [5, 5, 5]
    assert torch.equal(drawn.places, drawn.places.sort().values)
    assert torch.equal(drawn.places, images.per_class(5, seed=0).places)
    assert not torch.equal(drawn.places, images.per_class(5, seed=1).places)


def test_per_class_keeps_all_of_a_smaller_class():
    assert len(make(6).per_class(5, seed=0)) == 6


def test_digest_follows_pixels_labels_and_order():
    images = make(6)
    other = images.source.clone()
    other[2, 0, 0, 0] += 1
    reordered = images.select(torch.tensor([1, 0, 2, 3, 4, 5]))
    digests = {
        images.digest,
        ImageSet.of(other, images.labels).digest,
        ImageSet.of(images.source, images.labels.flip(0)).digest,
        reordered.digest,
    }
    assert len(digests) == 4
    assert make(6).digest == images.digest


@settings(deadline=None)
@given(counts, sizes, seeds, st.booleans())
def test_batches_cover_every_image_exactly_once(count, batch_size, seed, shuffle):
    batches = Batches(make(count), batch_size, shuffle=shuffle, seed=seed)
    found = values(batches)
    assert sorted(chain(*found)) == list(range(count))
    assert len(found) == len(batches)
    assert max(map(len, found)) <= batch_size + 1


@settings(deadline=None)
@given(counts, sizes, seeds)
def test_last_batch_of_several_never_has_one_image(count, batch_size, seed):
    found = values(Batches(make(count), batch_size, shuffle=True, seed=seed))
    assert len(found) == 1 or len(found[-1]) > 1


def test_labels_go_with_their_images():
    for x, y in Batches(make(30), 7, shuffle=True, seed=3):
        assert torch.equal((x[:, 0, 0, 0] * 255).round().long() % 3, y)


def test_pixels_lie_between_zero_and_one():
    images = ImageSet.of(torch.tensor([0, 255], dtype=torch.uint8)[:, None, None, None], torch.tensor([0, 1]))
    ((x, _),) = Batches(images, 2)
    assert x.dtype == torch.float32
    assert x.flatten().tolist() == [0.0, 1.0]


def test_order_depends_only_on_seed_and_epoch():
    def walk(seed, epoch):
        batches = Batches(make(40), 8, shuffle=True, seed=seed)
        batches.set_epoch(epoch)
        return values(batches)

    torch.manual_seed(1)
    first = walk(0, 2)
    torch.manual_seed(2)
    assert walk(0, 2) == first
    assert walk(0, 3) != first
    assert walk(1, 2) != first


def test_batches_without_shuffling_keep_the_order_in_every_epoch():
    batches = Batches(make(10), 4)
    batches.set_epoch(3)
    assert list(chain(*values(batches))) == list(range(10))


def test_batches_can_be_walked_again():
    batches = Batches(make(10), 4, shuffle=True)
    assert values(batches) == values(batches)


def test_walking_in_memory_leaves_the_random_state_alone():
    before = torch.get_rng_state()
    list(Batches(make(10), 4, shuffle=True))
    assert torch.equal(torch.get_rng_state(), before)


def test_batch_size_below_one_is_an_error():
    with pytest.raises(InputError, match="batch size 0 is not allowed"):
        Batches(make(4), 0)


def pets():
    return ImageData("pets", ("cat", "dog", "emu"), make(6), make(3), {"split_seed": 4})


@pytest.mark.parametrize(("label", "index"), [("dog", 1), ("2", 2), (0, 0)])
def test_class_may_be_given_by_name_or_index(label, index):
    assert pets().index(label) == index


def test_class_name_comes_before_an_index():
    assert ImageData("numbers", ("10", "2", "1"), make(6), make(3), {}).index("2") == 1


@pytest.mark.parametrize("label", ["dgo", 3, -1])
def test_unknown_class_lists_the_classes(label):
    with pytest.raises(InputError, match=f"unknown class '{label}' in pets; choose from: cat, dog, emu"):
        pets().index(label)


def test_one_class_is_too_few():
    with pytest.raises(InputError, match="pets has 1 class"):
        ImageData("pets", ("cat",), make(2), make(2), {})


def test_description_tells_counts_digests_and_details():
    data = pets()
    described = data.describe()
    assert described["train"] == {"count": 6, "digest": data.train.digest}
    assert described["test"]["count"] == 3
    assert described["split_seed"] == 4


@pytest.mark.parametrize("kind", [torch.uint8, torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_digest_is_of_the_bytes_in_any_precision(kind: torch.dtype) -> None:
    pixels = torch.arange(8).reshape(2, 1, 2, 2).to(kind)
    one, same, other = (ImageSet.of(given, torch.tensor([0, 1])) for given in (pixels, pixels.clone(), pixels + 1))
    assert one.digest == same.digest != other.digest
