"""All-CNN (Springenberg et al. 2014) as the paper's authors train it: batch norm, no dropout, one linear layer."""

import torch
from torch import Tensor, nn


class ConvBlock(nn.Module):
    """Convolution, batch norm, ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 3, stride: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
        self.bn = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu_(self.bn(self.conv(x)))


class AllCNN(nn.Module):
    """Eight convolution blocks, the average over the picture, one linear layer.

    Width 0.5 (48 and 96 filters) is what the authors' code trains; 1.0 is the published network.
    """

    def __init__(self, classes: int, channels: int = 3, width: float = 0.5) -> None:
        super().__init__()
        narrow, wide = round(96 * width), round(192 * width)
        self.blocks = nn.Sequential(
            ConvBlock(channels, narrow),
            ConvBlock(narrow, narrow),
            ConvBlock(narrow, wide, stride=2),
            ConvBlock(wide, wide),
            ConvBlock(wide, wide),
            ConvBlock(wide, wide, stride=2),
            ConvBlock(wide, wide),
            ConvBlock(wide, wide, kernel=1),
        )
        self.head = nn.Linear(wide, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(x).mean(dim=(2, 3)))  # type: ignore[no-any-return]
