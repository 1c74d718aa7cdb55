"""Pictures changed while training: what may happen to one, and that each has its own chance."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unclass.training.augment import SHIFT, augmented, shifted


def test_none_hands_the_pictures_on() -> None:
    x = torch.rand(3, 1, 8, 8)
    assert augmented(x, "none") is x


def test_a_mirrored_picture_is_itself_or_its_mirror_image_and_both_occur() -> None:
    torch.manual_seed(0)
    x = torch.rand(64, 3, 8, 8)
    found = augmented(x, "mirror")
    same = (found == x).flatten(1).all(1)
    assert ((found == x.flip(-1)).flatten(1).all(1) | same).all()
    assert 16 < same.sum() < 48


@given(st.integers(1, 5), st.integers(1, 40), st.integers(1, 40))
def test_shifting_is_padding_by_the_edge_and_cropping(images: int, height: int, width: int) -> None:
    x = torch.arange(images * height * width, dtype=torch.float32).view(images, 1, height, width)
    found = shifted(x)
    up, side = height // SHIFT, width // SHIFT
    padded = torch.nn.functional.pad(x, (side, side, up, up), mode="replicate")
    crops = [
        padded[:, :, row : row + height, column : column + width]
        for row in range(2 * up + 1)
        for column in range(2 * side + 1)
    ]
    for image in range(images):
        assert any(torch.equal(found[image], crop[image]) for crop in crops)


@pytest.mark.parametrize("how", ["mirror", "mirror-and-shift"])
def test_same_seed_same_pictures(how: str) -> None:
    x = torch.rand(8, 3, 16, 24)
    found = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        found.append(augmented(x, how))  # type: ignore[arg-type]
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])
