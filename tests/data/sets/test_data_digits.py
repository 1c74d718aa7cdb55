import torch

from unclass.data.options import DataOptions
from unclass.data.sets.digits import load_digits


def test_digits_span_the_whole_range_of_a_byte():
    data = load_digits(DataOptions())
    pixels = data.train.read(torch.arange(len(data.train)))
    assert data.train.shape == (1, 8, 8)
    assert pixels.dtype == torch.uint8
    assert pixels.min() == 0
    assert pixels.max() == 255
    assert data.classes == ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")


def test_every_digit_is_in_exactly_one_of_train_and_test():
    data = load_digits(DataOptions())
    places = torch.cat([data.train.places, data.test.places])
    assert torch.equal(places.sort().values, torch.arange(1797))


def test_a_quarter_of_each_class_is_held_out():
    data = load_digits(DataOptions())
    share = data.test.labels.bincount() / (data.test.labels.bincount() + data.train.labels.bincount())
    assert torch.allclose(share, torch.tensor(0.25), atol=0.01)


def test_split_depends_on_the_seed_alone():
    first, again, other = (load_digits(DataOptions(split_seed=seed)) for seed in (0, 0, 1))
    assert first.test.digest == again.test.digest
    assert first.test.digest != other.test.digest
