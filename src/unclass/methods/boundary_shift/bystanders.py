"""Stand-ins for D_r that nobody need give: pictures of the class, changed until the network takes them for others."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

POOL = 512  # images of D_f that are changed
KNOWN = 0.25  # of the class, at most: what looks like it is none
MOST, LEAST = 1024, 64


def upside_down(x: Tensor, _: Tensor) -> Tensor:
    """Return pictures with the top below."""
    return x.flip(-2)


def turned_left(x: Tensor, _: Tensor) -> Tensor:
    """Return pictures turned by a quarter, in their own size."""
    return _sized(x.rot90(1, (-2, -1)), x)


def turned_right(x: Tensor, _: Tensor) -> Tensor:
    """Return pictures turned by a quarter the other way, in their own size."""
    return _sized(x.rot90(-1, (-2, -1)), x)


def turned_around(x: Tensor, _: Tensor) -> Tensor:
    """Return pictures turned by a half."""
    return x.flip(-2, -1)


def inverted(x: Tensor, _: Tensor) -> Tensor:
    """Return pictures with dark and light exchanged."""
    return x.amax((0, -2, -1), keepdim=True) + x.amin((0, -2, -1), keepdim=True) - x


def enlarged(x: Tensor, _: Tensor) -> Tensor:
    """Return a quarter of each picture, wherever it lies, at twice its size."""
    where = torch.rand(len(x), 2, 1) - 0.5
    grid = F.affine_grid(torch.cat([0.5 * torch.eye(2).expand(len(x), 2, 2), where], 2).to(x), list(x.shape), False)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


def blurred(x: Tensor, _: Tensor) -> Tensor:
    """Return pictures blurred over a sixth of their size."""
    reach = max(1, min(x.shape[-2:]) // 12)
    padded = F.pad(x, [reach] * 4, mode="replicate")
    return F.avg_pool2d(padded, 2 * reach + 1, stride=1)


def noisy(x: Tensor, _: Tensor) -> Tensor:
    """Return pictures with noise, somewhat more than half as strong as they are."""
    return (x + 0.6 * x.std() * torch.randn(x.shape).to(x)).clamp(x.amin(), x.amax())


CHANGES: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (
    upside_down, turned_left, turned_right, turned_around, inverted, enlarged, blurred, noisy,
)  # fmt: skip


def chosen(logits: Tensor, classes: tuple[int, ...]) -> Tensor:
    """Return which of the pictures stand for other classes: those that hardly look like the forgotten ones.

    At most so many in all, as evenly over the classes that they are taken for as there are any.
    """
    gone = torch.tensor(classes, device=logits.device)
    own = logits.softmax(1)[:, gone].sum(1)
    few = own.sort().values[: min(LEAST, len(own))][-1]
    strange = (own <= max(KNOWN, float(few))).nonzero().flatten()
    taken = logits[strange].index_fill(1, gone, -torch.inf).argmax(1)
    order = torch.randperm(len(strange)).to(strange.device)
    rank = torch.zeros_like(taken)  # how many of its class come before it
    for k in taken.unique():
        mine = order[taken[order] == k]
        rank[mine] = torch.arange(len(mine), device=rank.device)
    return strange[rank.argsort(stable=True)[:MOST]]


def _sized(x: Tensor, like: Tensor) -> Tensor:
    if x.shape == like.shape:
        return x
    return F.interpolate(x, like.shape[-2:], mode="bilinear", align_corners=False)
