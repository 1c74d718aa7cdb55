"""A small convolutional network for pictures the size of a digit: trains in seconds on a laptop."""

from torch import Tensor, nn

from unclass.models.networks.all_cnn import ConvBlock


class SmallCNN(nn.Module):
    """Three convolution blocks, the average over the picture, one linear layer."""

    def __init__(self, classes: int, channels: int = 1, width: int = 32) -> None:
        super().__init__()
        self.blocks = nn.Sequential(
            ConvBlock(channels, width),
            ConvBlock(width, 2 * width, stride=2),
            ConvBlock(2 * width, 2 * width),
        )
        self.head = nn.Linear(2 * width, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(x).mean(dim=(2, 3)))  # type: ignore[no-any-return]
