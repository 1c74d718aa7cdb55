"""Pictures changed at random while a network is trained, so that it remembers single ones less."""

from typing import Literal

import torch
from torch import Tensor

Augment = Literal["none", "mirror", "mirror-and-shift"]
SHIFT = 8  # pictures move by up to an eighth of their size


def augmented(x: Tensor, how: Augment) -> Tensor:
    """Return pictures (N × C × H × W), each mirrored or not, and moved up, down and sideways, by chance."""
    if how == "none":
        return x
    mirrored = torch.rand(len(x), device=x.device) < 0.5
    x = torch.where(mirrored.view(-1, 1, 1, 1), x.flip(-1), x)
    return shifted(x) if how == "mirror-and-shift" else x


def shifted(x: Tensor) -> Tensor:
    """Move each picture by a whole number of pixels; what comes in from outside repeats its edge."""
    image = torch.arange(len(x), device=x.device).view(-1, 1, 1)
    rows, columns = (_places(len(x), size, x.device) for size in x.shape[-2:])
    moved: Tensor = x.permute(0, 2, 3, 1)[image, rows[:, :, None], columns[:, None, :]]
    return moved.permute(0, 3, 1, 2)


def _places(images: int, size: int, device: torch.device) -> Tensor:
    """Return for every image which rows (or columns) of it are seen: all of them, moved by up to an eighth."""
    most = size // SHIFT
    by = torch.randint(-most, most + 1, (images, 1), device=device)
    return (torch.arange(size, device=device) + by).clamp(0, size - 1)
