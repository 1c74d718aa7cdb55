import torch
import torch.nn.functional as F

from unclass.data import Batches, Split, TrainingData, Withheld
from unclass.methods.negative_gradient import NegativeGradient
from unclass.models import Classifier
from unclass.training.engine import Engine


def test_one_step_climbs_the_loss_on_the_forgotten_images(model: Classifier, split: Split, engine: Engine) -> None:
    data = TrainingData(Batches(split.forget, 64), Withheld("D_r"), split.classes)
    climbed = NegativeGradient(epochs=1, lr=0.02, batch_norm="frozen")(model, data, engine)
    x, y = next(iter(data.forget))
    F.cross_entropy(model(x), y).backward()
    for weight, new in zip(model.parameters(), climbed.parameters(), strict=True):
        assert weight.grad is not None
        torch.testing.assert_close(new, weight + 0.02 * weight.grad, rtol=1e-4, atol=1e-6)


def test_frozen_batch_norm_keeps_its_statistics_and_training_mode_does_not(
    model: Classifier, split: Split, engine: Engine
) -> None:
    data = TrainingData(Batches(split.forget, 32), Withheld("D_r"), split.classes)
    key = "network.blocks.0.bn.running_mean"
    frozen = NegativeGradient(epochs=1, batch_norm="frozen")(model, data, engine)
    moved = NegativeGradient(epochs=1, batch_norm="train")(model, data, engine)
    assert torch.equal(frozen.state_dict()[key], model.state_dict()[key])
    assert not torch.allclose(moved.state_dict()[key], model.state_dict()[key])
