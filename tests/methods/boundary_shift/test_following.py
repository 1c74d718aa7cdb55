"""Running means follow the weights before them, whatever computes with these."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.methods.boundary_shift.following import all_follow, feeding, follow


class Standardised(nn.Conv2d):
    """Computes with weights of mean 0 and variance 1."""

    def forward(self, x: Tensor) -> Tensor:
        mean, std = self.weight.mean((1, 2, 3), keepdim=True), self.weight.std((1, 2, 3), keepdim=True)
        return F.conv2d(x, (self.weight - mean) / std, self.bias)


class Plain(nn.Module):
    """A convolution that is no nn.Conv2d, and pads first."""

    def __init__(self, channels: int, outputs: int) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(outputs, channels, 3, 3))

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(F.pad(x, (1, 1, 1, 1), mode="replicate"), self.kernel)


class Columns(nn.Module):
    """A linear layer over the mean of a picture."""

    def __init__(self, channels: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(channels, outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x.mean((2, 3)))


@pytest.mark.parametrize(
    "layers",
    [
        [Standardised(4, 6, 1), nn.BatchNorm2d(6)],
        [nn.Conv2d(4, 6, 1), nn.BatchNorm2d(6)],
        [nn.Conv2d(4, 8, 3, groups=4, padding=1, padding_mode="replicate"), nn.BatchNorm2d(8)],
        [Plain(4, 6), nn.BatchNorm2d(6)],
        [Columns(4, 6), nn.BatchNorm1d(6)],
    ],
    ids=["standardised", "biased", "depthwise", "functional, padded", "linear"],
)
def test_every_kind_of_product_takes_its_running_mean_along(layers: list[nn.Module]) -> None:
    torch.manual_seed(0)
    part = nn.Sequential(*layers).eval()
    retain = (torch.rand(200, 4, 1, 1) + 1).expand(-1, -1, 5, 5)
    forget = 0.8 * retain[:50]
    norm = part[-1]
    axes = [axis for axis in range(part[0](retain).dim()) if axis != 1]
    with torch.no_grad():
        norm.running_mean.copy_(part[0](retain).mean(axes))
    fed = feeding(part, list(forget.split(10)))
    assert all_follow(part, fed)
    with torch.no_grad():
        for weight in part[0].parameters():
            if weight.dim() > 1:
                weight.add_(0.3 * torch.randn_like(weight))
    follow(part, fed, forget[:1])
    torch.testing.assert_close(norm.running_mean, part[0](retain).mean(axes).detach(), rtol=2e-2, atol=2e-2)


def test_running_means_follow_the_convolution_as_a_pass_over_the_remaining_images_would_find_them() -> None:
    torch.manual_seed(0)
    part = nn.Sequential(nn.Conv2d(4, 6, 1, bias=False), nn.BatchNorm2d(6), nn.ReLU()).eval()
    retain, forget = torch.rand(200, 4, 5, 5) + 1, torch.rand(50, 4, 5, 5)
    with torch.no_grad():
        part[1].running_mean.copy_(part[0](retain).mean((0, 2, 3)))
    fed = feeding(part, list(forget.split(10)))
    with torch.no_grad():
        part[0].weight.add_(0.3 * torch.randn_like(part[0].weight))
    follow(part, fed, forget[:1])
    torch.testing.assert_close(part[1].running_mean, part[0](retain).mean((0, 2, 3)).detach(), rtol=1e-3, atol=1e-4)


def test_what_a_convolution_does_not_tell_of_the_mean_is_taken_in_proportion_from_the_forgotten_images() -> None:
    torch.manual_seed(0)
    part = nn.Sequential(nn.Conv2d(8, 3, 1, bias=False), nn.BatchNorm2d(3)).eval()
    retain = torch.rand(300, 8, 4, 4)
    forget = 1.6 * retain[:100]  # as a class does that lies farther out than the others
    with torch.no_grad():
        part[1].running_mean.copy_(part[0](retain).mean((0, 2, 3)))
    fed = feeding(part, list(forget.split(50)))
    torch.testing.assert_close(fed[0].mean.float().flatten(), retain.mean((0, 2, 3)), rtol=0.05, atol=0)


def test_a_convolution_that_does_not_move_leaves_its_running_mean() -> None:
    part = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4)).eval()
    part[1].running_mean.normal_()
    before = part[1].running_mean.clone()
    x = torch.rand(8, 3, 6, 6)
    follow(part, feeding(part, [x]), x)
    torch.testing.assert_close(part[1].running_mean, before)


def test_a_batch_norm_that_no_convolution_feeds_is_left_out() -> None:
    part = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(), nn.BatchNorm2d(4)).eval()
    assert feeding(part, [torch.rand(2, 3, 4, 4)]) == []


@pytest.mark.parametrize(
    "layers, wanted",
    [
        ([nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)], True),
        ([nn.Conv2d(3, 2, 1), nn.BatchNorm2d(2)], False),  # two outputs do not tell the mean of three inputs
        ([nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.ReLU(), nn.BatchNorm2d(4)], False),
        ([nn.Conv2d(3, 4, 1), nn.GroupNorm(2, 4)], False),
    ],
)
def test_weights_may_move_far_where_every_running_mean_can_follow(layers: list[nn.Module], wanted: bool) -> None:
    part = nn.Sequential(*layers).eval()
    assert all_follow(part, feeding(part, [torch.rand(2, 3, 4, 4)])) == wanted
