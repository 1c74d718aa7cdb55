"""Views of an image that a network has not seen: a stand-in for unseen images of the class that nobody need give."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

KNOWN, MOST = 0.98, 0.7  # of what is recognised of D_f: what a view must stay below, and above


@dataclass(frozen=True)
class View:
    """Pictures mirrored, or moved by up to a share of their size and turned by up to some degrees, each its own way."""

    name: str
    mirrored: bool = False
    moved: float = 0.0
    turned: float = 0.0

    def __call__(self, x: Tensor, places: Tensor) -> Tensor:
        """Return the view of pictures; which way each is moved depends on its place alone."""
        x = x.flip(-1) if self.mirrored else x
        if not self.moved and not self.turned:
            return x
        across, down, angle = (2 * _chance(places, way) - 1 for way in range(3))
        angle = torch.deg2rad(self.turned * angle)
        cos, sin, ratio = angle.cos(), angle.sin(), x.shape[-1] / x.shape[-2]
        rows = (cos, -sin / ratio, 2 * self.moved * across), (sin * ratio, cos, 2 * self.moved * down)
        grid = F.affine_grid(torch.stack([torch.stack(row, 1) for row in rows], 1).to(x), list(x.shape), False)
        return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


def _chance(places: Tensor, way: int) -> Tensor:
    """Return a number in [0, 1) for each place, the same whenever it is asked for."""
    return ((places.double() + 1) * (0.7548776662, 0.5698402910, 0.8191725134)[way]).frac()


MIRRORED = View("mirrored", mirrored=True)
OTHERS = (
    View("turned by up to 5°", turned=5),
    View("turned by up to 10°", turned=10),
    View("moved by up to 1/16", moved=1 / 16),
    View("moved by up to 1/8", moved=1 / 8),
    View("moved by up to 1/8, turned by up to 15°", moved=1 / 8, turned=15),
)
CANDIDATES = (MIRRORED, *OTHERS)


def unseen_like(x: Tensor, recognised: Callable[[Tensor], float]) -> View | None:
    """Return the view that stands for unseen images, by how much a network recognises of it; None if there is none.

    A mirrored picture is as good as another one where the network knows most of them but not all: it has not been
    trained with them, and left and right mean nothing to it. Otherwise, of views that move and turn, the weakest that
    it does not know as well as the pictures themselves. A network that knows every view alike remembers no picture.
    """
    places, whole = torch.arange(len(x)), recognised(x)

    def known(view: View) -> float:
        return recognised(view(x, places)) / max(whole, 1e-12)

    if MOST <= known(MIRRORED) <= KNOWN:
        return MIRRORED
    found = {view: known(view) for view in OTHERS}
    weak = {view: share for view, share in found.items() if MOST <= share <= KNOWN}
    return max(weak, key=lambda view: weak[view]) if weak else None
