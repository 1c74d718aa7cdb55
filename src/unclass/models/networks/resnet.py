"""ResNet-18 and ResNet-50 (He et al. 2016) under torchvision's key names, without torchvision."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)


class BasicBlock(nn.Module):
    """Two 3×3 convolutions and a shortcut."""

    expansion = 1

    def __init__(self, inputs: int, planes: int, stride: int, downsample: nn.Module | None, _: bool) -> None:
        super().__init__()
        self.conv1, self.bn1 = _conv(inputs, planes, 3, stride), nn.BatchNorm2d(planes)
        self.conv2, self.bn2 = _conv(planes, planes, 3), nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = torch.relu_(self.bn1(self.conv1(x)))
        return torch.relu_(self.bn2(self.conv2(x)) + shortcut)


class Bottleneck(nn.Module):
    """1×1, 3×3, 1×1 convolutions and a shortcut."""

    expansion = 4

    def __init__(
        self, inputs: int, planes: int, stride: int, downsample: nn.Module | None, stride_in_1x1: bool
    ) -> None:
        super().__init__()
        first, second = (stride, 1) if stride_in_1x1 else (1, stride)
        self.conv1, self.bn1 = _conv(inputs, planes, 1, first), nn.BatchNorm2d(planes)
        self.conv2, self.bn2 = _conv(planes, planes, 3, second), nn.BatchNorm2d(planes)
        self.conv3, self.bn3 = _conv(planes, 4 * planes, 1), nn.BatchNorm2d(4 * planes)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = torch.relu_(self.bn1(self.conv1(x)))
        x = torch.relu_(self.bn2(self.conv2(x)))
        return torch.relu_(self.bn3(self.conv3(x)) + shortcut)


class ResNet(nn.Module):
    """A stem, four stages of residual blocks, the average over the picture, one linear layer.

    `stride_in_1x1` puts a stage's stride into the first 1×1 convolution of its first block, as the Caffe original and
    the ResNet-50 published with VGGFace2 do; torchvision has it in the 3×3 one.
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        blocks: Sequence[int],
        classes: int,
        channels: int = 3,
        stride_in_1x1: bool = False,
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        width = 64
        stages = []
        for stage, count in enumerate(blocks):
            planes, stride = 64 << stage, 1 if stage == 0 else 2
            stages.append(_stage(block, count, width, planes, stride, stride_in_1x1))
            width = planes * block.expansion
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.fc = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(torch.relu_(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean(dim=(2, 3)))  # type: ignore[no-any-return]


def _stage(
    block: type[BasicBlock] | type[Bottleneck], count: int, inputs: int, planes: int, stride: int, stride_in_1x1: bool
) -> nn.Sequential:
    outputs = planes * block.expansion
    downsample = None
    if stride != 1 or inputs != outputs:
        downsample = nn.Sequential(_conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))
    first = block(inputs, planes, stride, downsample, stride_in_1x1)
    return nn.Sequential(first, *(block(outputs, planes, 1, None, stride_in_1x1) for _ in range(count - 1)))


def resnet18(classes: int, channels: int = 3) -> ResNet:
    """Return a ResNet-18."""
    return ResNet(BasicBlock, (2, 2, 2, 2), classes, channels)


def resnet50(classes: int, channels: int = 3, stride_in_1x1: bool = False) -> ResNet:
    """Return a ResNet-50."""
    return ResNet(Bottleneck, (3, 4, 6, 3), classes, channels, stride_in_1x1)
