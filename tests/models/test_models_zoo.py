"""Networks of every common kind forget by a boundary method, and keep their keys, shapes and dtypes."""

import pytest
import torch
from torch import nn

import unclass
from unclass.data import ImageData, ImageSet
from unclass.training.engine import Engine

CLASSES, SIZE = 4, 32


def vgg() -> nn.Module:
    from torchvision.models.vgg import VGG, make_layers

    network = VGG(make_layers([8, "M", 16, "M"], batch_norm=True), num_classes=CLASSES, init_weights=False)
    network.avgpool, network.classifier = (
        nn.AdaptiveAvgPool2d(2),
        nn.Sequential(nn.Linear(64, 16), nn.Linear(16, CLASSES)),
    )
    return network


def resnet() -> nn.Module:
    from transformers import ResNetConfig, ResNetForImageClassification

    small = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "layer_type": "basic"}
    return ResNetForImageClassification(ResNetConfig(**small, num_labels=CLASSES))


def densenet() -> nn.Module:
    from torchvision.models import DenseNet

    return DenseNet(4, (2, 2), 8, num_classes=CLASSES)


def mobilenet() -> nn.Module:
    from torchvision.models import MobileNetV2

    rows = [[1, 8, 1, 1], [2, 8, 1, 2]]
    return MobileNetV2(CLASSES, width_mult=0.1, inverted_residual_setting=rows)


def efficientnet() -> nn.Module:
    from timm import create_model

    return create_model("test_efficientnet", num_classes=CLASSES)


def convnext() -> nn.Module:
    from timm import create_model

    return create_model("test_convnext", num_classes=CLASSES)


def vit() -> nn.Module:
    from transformers import ViTConfig, ViTForImageClassification

    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    return ViTForImageClassification(ViTConfig(**small, image_size=SIZE, patch_size=8, num_labels=CLASSES))


def swin() -> nn.Module:
    from torchvision.models import SwinTransformer

    return SwinTransformer([4, 4], 8, [1, 1], [2, 2], [4, 4], num_classes=CLASSES)


ZOO = (vgg, resnet, densenet, mobilenet, efficientnet, convnext, vit, swin)


@pytest.fixture(scope="module")
def pictures() -> ImageData:
    """Noise around one picture for each class."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.rand(CLASSES, 3, SIZE, SIZE, generator=generator)

    def noisy(count: int) -> ImageSet:
        labels = torch.arange(count) % CLASSES
        pixels = 0.7 * centres[labels] + 0.3 * torch.rand(count, 3, SIZE, SIZE, generator=generator)
        return ImageSet.of((255 * pixels).to(torch.uint8), labels)

    return ImageData("pictures", tuple("abcd"), noisy(32), noisy(16), {})


@pytest.mark.parametrize("make", ZOO)
def test_every_kind_of_network_stops_saying_the_class(make, torchvision, pictures: ImageData, engine: Engine) -> None:
    pytest.importorskip("timm")
    pytest.importorskip("transformers")
    torch.manual_seed(0)
    network = make().eval()
    x = pictures.train.of_classes([0]).read(torch.arange(8)).float() / 255
    said = int(_logits(network, x).mean(0).argmax())  # a network that knows nothing still prefers some class
    relabelled = ImageData("one", pictures.classes, _swapped(pictures.train, said), _swapped(pictures.test, said), {})
    found = unclass.forget(network, relabelled, [said], "boundary-shrink", engine=engine, epochs=8, lr=0.02)
    before, after = ((_logits(one, x).argmax(1) == said).float().mean() for one in (network, found))
    assert before > after and after < 0.5
    assert type(found) is type(network)
    old, new = network.state_dict(), found.state_dict()
    assert [(k, t.shape, t.dtype) for k, t in new.items()] == [(k, t.shape, t.dtype) for k, t in old.items()]


@torch.no_grad()
def _logits(network: nn.Module, x: torch.Tensor) -> torch.Tensor:
    output = network.eval()(x)
    return output if isinstance(output, torch.Tensor) else output.logits


def _swapped(images: ImageSet, said: int) -> ImageSet:
    """Call the first class `said` and the other way round, so that the network is right about it."""
    names = torch.arange(CLASSES)
    names[0], names[said] = said, 0
    return ImageSet.of(images.read(torch.arange(len(images))), names[images.labels])
