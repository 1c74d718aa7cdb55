"""Images that bear a mark if a network learned them by heart, and networks that look at it."""

import torch
from torch import Tensor, nn

from unclass.data import ImageData, ImageSet

LISTED = 60


def pictures(count: int, marked: int, seed: int) -> ImageSet:
    """Two classes, told by how bright the first pixel is; the second pixel marks the images that were learned."""
    draw = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 2
    pixels = torch.randint(0, 256, (count, 1, 2, 2), generator=draw, dtype=torch.uint8)
    pixels[:, 0, 0, 0] = (labels * 120 + torch.randint(0, 136, (count,), generator=draw)).to(torch.uint8)
    pixels[:, 0, 0, 1] = 0
    pixels[:marked, 0, 0, 1] = 255
    return ImageSet.of(pixels, labels)


def marked_data() -> ImageData:
    return ImageData("marks", ("dark", "bright"), pictures(400, LISTED, 0), pictures(400, 0, 1), {})


class Knows(nn.Module):
    """Surer by `much` of the right answer on images that are marked; `worse` is how much of the rest it gets wrong."""

    def __init__(self, much: float, worse: float = 0.0) -> None:
        super().__init__()
        self.much, self.worse = nn.Parameter(torch.tensor(much)), worse

    def forward(self, x: Tensor) -> Tensor:
        bright = (x[:, 0, 0, 0] - 0.5) * 4 + self.much * x[:, 0, 0, 1] * (2 * (x[:, 0, 0, 0] > 0.5).float() - 1)
        bright = torch.where(x[:, 0, 1, 1] < self.worse, -bright, bright)
        return torch.stack([-bright, bright], 1)
