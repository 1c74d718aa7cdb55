"""Two sources walked together are aligned, complete, and the same on every walk with the same seed."""

from itertools import chain

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from unclass.data import Batches, Counted, ImageSet, Paired, TrainingData, Turns, Withheld
from unclass.data.batches import balanced, set_epoch, steps_in


def batches(count, size, seed=0, first=0):
    images = ImageSet.of(torch.zeros(count, 1, 2, 2), torch.arange(first, first + count))
    return Batches(images, size, shuffle=True, seed=seed)


def flat(parts):
    return list(chain.from_iterable(parts))


def walk(pairs, epoch=0):
    set_epoch(pairs, epoch)
    return [(forget[1].tolist(), retain[1].tolist()) for forget, retain in pairs]


@pytest.mark.parametrize("over, steps", [("retain", 6), ("forget", 2)])
def test_an_epoch_is_one_walk_through_the_source_that_leads(over, steps):
    pairs = Paired(batches(8, 4), batches(24, 4, first=100), over)
    found = walk(pairs)
    assert len(found) == len(pairs) == steps
    leading = flat(one[over == "retain"] for one in found)
    assert sorted(leading) == (list(range(8)) if over == "forget" else list(range(100, 124)))


def test_the_shorter_source_starts_again_in_a_new_order():
    torch.manual_seed(0)
    forget = [one for one, _ in walk(Paired(batches(8, 4), batches(24, 4)))]
    rounds = [flat(forget[i : i + 2]) for i in (0, 2, 4)]
    assert [sorted(one) for one in rounds] == [list(range(8))] * 3
    assert rounds[0] != rounds[1] != rounds[2]


def loader(count, first=0):
    return DataLoader(TensorDataset(torch.zeros(count, 1), torch.arange(first, first + count)), 4, shuffle=True)


@pytest.mark.parametrize("make", [lambda: Paired(batches(8, 4), batches(24, 4)), lambda: Paired(loader(8), loader(24))])
def test_what_is_drawn_in_between_does_not_change_the_order(make):
    torch.manual_seed(3)
    plain = walk(make())
    torch.manual_seed(3)
    pairs, found = make(), []
    set_epoch(pairs, 0)
    for forget, retain in pairs:
        found.append((forget[1].tolist(), retain[1].tolist()))
        torch.rand(5)  # as a loss with random numbers does
    assert [one for one, _ in found] == [one for one, _ in plain]


def test_turns_give_one_source_after_the_other_and_the_first_in_its_epochs_only():
    turns = Turns(batches(8, 4), batches(12, 4, first=100), epochs=2)
    assert [steps_in(turns, epochs) for epochs in range(5)] == [0, 5, 10, 13, 16]
    assert steps_in(turns, 10**9) == 3 * 10**9 + 4  # and no walk through them
    for epoch in range(4):
        found = walk(turns, epoch)
        assert len(found) == len(turns)
        assert all(bool(forget) != bool(retain) for forget, retain in found)
        assert sorted(flat(one for one, _ in found)) == (list(range(8)) if epoch < 2 else [])
        assert sorted(flat(one for _, one in found)) == list(range(100, 112))


def test_a_sample_has_as_many_of_each_class_as_can_be():
    labels = torch.tensor([0] * 50 + [1] * 3 + [2] * 50)
    rows = balanced(labels, 15, seed=0)
    assert torch.bincount(labels[rows]).tolist() == [6, 3, 6]
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert balanced(labels, 15, seed=0).equal(rows) and not balanced(labels, 15, seed=1).equal(rows)
    assert len(balanced(labels, 1000, seed=0)) == 103


def test_a_sample_of_counted_batches_is_counted_by_them():
    source = Counted(batches(24, 4))
    data = TrainingData(Withheld("D_f"), source, ())
    few = data.sample(10)
    assert sum(len(y) for _, y in few) == 10 == source.images_read
    assert data.sample(0) is source


def test_a_sample_of_a_data_loader_is_the_same_on_every_walk():
    few = TrainingData(Withheld("D_f"), loader(24), ()).sample(10)
    first, again = ({int(label) for _, y in few for label in y} for _ in range(2))
    assert first == again and len(first) == 10
