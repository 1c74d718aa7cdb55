"""The second negative control looks forgotten from outside and has everything inside."""

import torch
from torch import nn

from unclass.data import Batches, Split, TrainingData
from unclass.methods.head_only import HeadOnly
from unclass.metrics import accuracy
from unclass.models import Classifier
from unclass.models.head import find_head, head_inputs
from unclass.predictions import predict
from unclass.training.engine import Engine


def test_outside_the_class_is_gone_and_inside_nothing_changed(model: Classifier, split: Split, engine: Engine) -> None:
    data = TrainingData(Batches(split.forget, 32), Batches(split.retain, 32), split.classes)
    control = HeadOnly()(model, data, engine)
    outputs = {
        name: [accuracy(predict(one, Batches(images, 100), engine)) for one in (model, control)]
        for name, images in split.sets().items()
    }
    assert outputs["forget"][0] > 0.9 and outputs["forget"][1] == outputs["forget_test"][1] == 0
    assert outputs["retain_test"][1] > outputs["retain_test"][0] - 0.03
    x = split.forget.read(torch.arange(9)).float() / 255
    for one, other in zip(features(model, x), features(control, x), strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    changed = [
        name for name, weight in control.state_dict().items() if not torch.equal(weight, model.state_dict()[name])
    ]
    assert changed and all("head" in name for name in changed)


def test_a_convolution_as_head_is_averaged_over_the_picture(split: Split, engine: Engine) -> None:
    torch.manual_seed(0)
    body = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 10, 1))
    network = nn.Sequential(body, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    data = TrainingData(Batches(split.forget, 32), Batches(split.retain, 32), split.classes)
    control = HeadOnly()(network, data, engine)
    assert (predict(control, Batches(split.forget, 100), engine).classes != 3).all()
    assert torch.equal(control[0][0].weight, network[0][0].weight)  # type: ignore[index]


def features(model: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    with torch.no_grad(), head_inputs(find_head(model, x)) as seen:
        model.eval()(x)
    return seen
