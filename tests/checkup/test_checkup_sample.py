"""What is looked at."""

import torch

from unclass.checkup.sample import evenly
from unclass.data import ImageSet


def test_a_sample_is_even_over_classes() -> None:
    counts = [3, 500, 100, 40]
    labels = torch.arange(4).repeat_interleave(torch.tensor(counts))
    images = ImageSet.of(torch.zeros(len(labels), 1, 1, 1, dtype=torch.uint8), labels)
    assert evenly(images, 43).labels.bincount().tolist() == [3, 14, 13, 13]
    assert len(evenly(images, 10_000)) == sum(counts)
    many = ImageSet.of(torch.zeros(3000, 1, 1, 1, dtype=torch.uint8), torch.arange(1000).repeat(3))
    found = evenly(many, 64).labels.bincount()
    assert sorted(found[found > 0].tolist()) == [3] * 16
