"""The head's row of a forgotten class looks as if the class had never been there."""

import torch
from torch import nn

from unclass.methods.boundary_shift.head_rows import forget_rows
from unclass.models.head import find_head


def test_a_forgotten_row_is_as_low_as_the_least_likely_class_and_tells_none_apart() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(6, 5)
    h = torch.rand(40, 6) + 0.5
    before = layer(h).detach()
    forget_rows(find_head(layer, h), (1, 3), layer, [h])
    others = [0, 2, 4]
    z = layer(h).detach()
    torch.testing.assert_close(z[:, others], before[:, others])
    gap = (z[:, others].mean(1) - z[:, others].min(1).values).mean()
    for row in (1, 3):
        below = z[:, others].mean(1) - z[:, row]
        torch.testing.assert_close(below.mean(), gap, rtol=1e-3, atol=1e-3)
        assert below.std() < 0.5 * gap


def test_a_one_by_one_convolution_is_a_head_too() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Conv2d(4, 3, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(x).mean((2, 3))

    net, x = Net(), torch.rand(10, 4, 5, 5)
    with torch.no_grad():
        net.head.bias[2] = 50  # type: ignore[index]
    assert (net(x).argmax(1) == 2).all()
    forget_rows(find_head(net, x), (2,), net, [x])
    assert not (net(x).argmax(1) == 2).any()


def test_where_only_direction_counts_the_row_points_away() -> None:
    class Cosine(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 6))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 10 * nn.functional.normalize(x) @ nn.functional.normalize(self.weight).T

    net, x = Cosine(), torch.rand(20, 6)
    forget_rows(find_head(net, x), (0,), net, [x])
    assert (net(x)[:, 0] < 0).all()
