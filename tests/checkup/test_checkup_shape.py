"""Pictures of another size than a model was made for, and networks that do not take them."""

import torch
from torch import nn

from unclass.checkup.sample import draw
from unclass.checkup.shape import check_outputs, check_shape
from unclass.data import ImageData, ImageSet
from unclass.models import Classifier
from unclass.training.engine import Engine


def test_another_size_than_the_models_is_doubted_with_what_to_do(trained: Classifier, digits: ImageData) -> None:
    pictures = ImageSet.of(torch.zeros(4, 1, 12, 12, dtype=torch.uint8), torch.zeros(4, dtype=torch.long))
    larger = ImageData("larger", digits.classes, pictures, pictures, {})
    assert check_shape(trained, digits).status == "good"
    found = check_shape(trained, larger)
    assert found.status == "doubtful" and "1 × 12 × 12" in found.says and "`size` 8" in found.advice
    assert check_shape(nn.Flatten(), larger).status == "good"  # nothing says what it was made for


def test_one_output_for_each_class_is_asked_for(digits: ImageData, engine: Engine) -> None:
    sample = draw(digits)
    right, few = (nn.Sequential(nn.Flatten(), nn.Linear(64, classes)) for classes in (10, 7))
    assert check_outputs(right, sample, digits, engine).status == "good"
    found = check_outputs(few, sample, digits, engine)
    assert found.status == "wrong" and "7 for 10 classes" in found.says


def test_a_network_that_cannot_take_the_pictures_is_told_its_reason_in_a_line(
    digits: ImageData, engine: Engine
) -> None:
    found = check_outputs(nn.Sequential(nn.Flatten(), nn.Linear(65, 10)), draw(digits), digits, engine)
    assert found.status == "wrong" and "cannot take these pictures" in found.says and "\n" not in found.says
    assert torch.is_grad_enabled()
