"""Features of a class that stand together are told from features that lie among the other classes."""

from copy import deepcopy

import torch
from torch import nn

from unclass.data import Batches, Split, TrainingData, Withheld
from unclass.methods.boundary_shift import BoundaryShift
from unclass.methods.boundary_shift.surroundings import Surroundings
from unclass.models import Classifier, find_head
from unclass.models.head import head_inputs
from unclass.training.engine import Engine


def test_together_is_the_share_of_the_way_to_other_classes() -> None:
    features, means = torch.randn(7, 5), torch.randn(3, 5)
    nearest = sum(min(float((h - mean).norm()) for mean in means) for h in features) / 7
    pairs = [float((features[i] - features[j]).norm()) for i in range(7) for j in range(i)]
    apart = sum(pairs) / len(pairs)
    assert abs(float(Surroundings(means).together(features)) - nearest / (nearest + apart)) < 1e-5


def test_one_image_and_equal_images_are_no_numbers_out_of_bounds() -> None:
    surroundings = Surroundings(torch.ones(1, 4))
    assert float(surroundings.together(torch.zeros(1, 4))) == 0
    equal = torch.zeros(3, 4, requires_grad=True)
    value = surroundings.together(equal)
    value.backward()
    assert value.item() == 1 and equal.grad is not None and bool(equal.grad.isfinite().all())


def test_the_means_are_near_those_of_the_other_classes(trained: Classifier, split: Split, engine: Engine) -> None:
    """Each is nearer to its class's mean than to D_f's: they tell where the other classes lie."""
    data = TrainingData(Batches(split.forget, 16), Withheld("D_r"), split.classes)
    tail = BoundaryShift().look(deepcopy(trained), data, engine)
    torch.manual_seed(0)
    found = Surroundings.of(tail.part, tail.head, tail.forget, engine).means
    real = torch.stack([_features(trained, split, k).mean(0) for k in range(10)])
    others = [k for k in tail.forget.targets.mean(0).argsort(descending=True).tolist() if k != 3]
    nearer = [bool((mean - real[k]).norm() < (mean - real[3]).norm()) for mean, k in zip(found, others, strict=True)]
    assert sum(nearer) >= 7


def test_features_stand_less_together_where_that_is_asked_for(
    trained: Classifier, model: Classifier, split: Split, engine: Engine
) -> None:
    data = TrainingData(Batches(split.forget, 16), Withheld("D_r"), split.classes)
    tail = BoundaryShift().look(deepcopy(trained), data, engine)
    surroundings = Surroundings.of(tail.part, tail.head, tail.forget, engine)
    plain, dispersed = (
        float(surroundings.together(_features(BoundaryShift(dispersion=weight)(model, data, engine), split, 3)))
        for weight in (0.0, 30.0)
    )
    assert dispersed < plain < surroundings.together(_features(trained, split, 3))


@torch.no_grad()
def _features(model: nn.Module, split: Split, label: int) -> torch.Tensor:
    """The last features of a class's training images."""
    images = split.forget if label == 3 else split.retain
    x = torch.cat([x[y == label] for x, y in Batches(images, 64)])
    with head_inputs(find_head(model, x)) as given:
        model(x)
    return given[-1]
