"""What is looked at."""

import torch
from torch import nn

import unclass
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


def test_pictures_of_different_sizes_are_a_finding() -> None:
    class Uneven(torch.utils.data.Dataset[tuple[torch.Tensor, int]]):
        targets = (0, 1, 2) * 4

        def __len__(self) -> int:
            return 12

        def __getitem__(self, place: int) -> tuple[torch.Tensor, int]:
            return torch.rand(3, 8, 8 + place % 2), self.targets[place]

    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))
    found = unclass.doctor(network, Uneven(), 1)
    assert [one.says for one in found if one.check == "images"] == ["images are of different sizes"]
