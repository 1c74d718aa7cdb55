"""A head of 100,000 classes: the methods that read D_f alone work, and hold no more than a few copies of it."""

import pytest
import torch
from torch import nn

import unclass
from unclass.benchmark.machine import peak_memory
from unclass.data import ImageData, ImageSet

CLASSES, FEATURES, IMAGES = 100_000, 64, 64
MODEL = 4 * (CLASSES + 1) * FEATURES  # bytes of the head's weights in 32 bits
LOGITS = 4 * CLASSES * IMAGES


@pytest.fixture(scope="module")
def many() -> tuple[nn.Module, ImageData]:
    """A small network that tells 100,000 people apart, and 64 pictures of one of them."""
    torch.manual_seed(0)
    stem = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, FEATURES, 3), nn.ReLU())
    network = nn.Sequential(stem, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(FEATURES, CLASSES))
    pictures = torch.randint(0, 256, (IMAGES, 3, 8, 8), dtype=torch.uint8)
    with torch.no_grad():
        network[-1].bias[7] = 5.0  # it says 7 of all of them
    images = ImageSet.of(pictures, torch.full((IMAGES,), 7))
    names = tuple(f"n{number:06}" for number in range(CLASSES))
    return network.eval(), ImageData("faces", names, images, images.select(torch.arange(0)), {})


@pytest.mark.parametrize("method, options, copies", [
    ("boundary-shrink", {"epochs": 2, "lr": 1.0}, 8),
    ("boundary-expanding", {"epochs": 2, "lr": 1.0}, 8),
    pytest.param("boundary-shift", {"steps": 20, "rounds": 2}, 16, marks=pytest.mark.long),
])  # fmt: skip
def test_a_head_of_100_000_classes_is_held_a_few_times_only(many, method, options, copies) -> None:
    network, data = many
    engine = unclass.Engine(precision="float32")
    with peak_memory() as memory:
        found = unclass.forget(network, data, [7], method, engine=engine, forget_only=True, **options)
    before, after = (unclass.evaluate(one, data, [7], forget_only=True) for one in (network, found))
    assert before.accuracy_forget > 0.9 and after.accuracy_forget < before.accuracy_forget
    assert found[-1].weight.shape == (CLASSES, FEATURES)
    print(f"{method}: {memory.increase / 1e6:.0f} MB beyond the model of {MODEL / 1e6:.0f} MB")
    if memory.is_own:
        assert memory.increase < copies * (MODEL + LOGITS)
