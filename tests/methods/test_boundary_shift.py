"""Boundary Shift: only the tail moves, and the class does not come back through batch norm."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.audits.recalibration import recalibrate
from unclass.data import Batches, Indexed, Split, TrainingData, Withheld
from unclass.engine import Engine
from unclass.methods.boundary_shift import BoundaryShift, standing, steepness
from unclass.methods.boundary_shrink import BoundaryShrink
from unclass.metrics import accuracy
from unclass.models import Classifier
from unclass.predictions import predict


def forget_only(split: Split) -> TrainingData:
    return TrainingData(Batches(split.forget, 16, shuffle=True), Withheld("D_r"), split.classes)


def test_the_stem_keeps_its_weights_and_the_tail_moves(trained: Classifier, split: Split, engine: Engine) -> None:
    unlearned = BoundaryShift(rounds=1)(trained, forget_only(split), engine)
    before, after = dict(trained.named_parameters()), dict(unlearned.named_parameters())
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert "network.head.weight" in moved and "network.blocks.2.conv.weight" in moved
    assert not any(name.startswith(("network.blocks.0", "network.blocks.1")) for name in moved)


def test_the_class_does_not_come_back_by_recalibration(trained: Classifier, split: Split, engine: Engine) -> None:
    def after(method: BoundaryShift | BoundaryShrink) -> float:
        again = recalibrate(method(trained, forget_only(split), engine), split.retain, engine, 0)
        assert again is not None
        return accuracy(predict(again, Batches(split.forget), engine))

    assert after(BoundaryShift()) < 0.1
    assert after(BoundaryShrink(**BoundaryShrink.presets["authors"])) > 0.9


def test_targets_are_the_sharpened_output_without_the_class(trained: Classifier, split: Split, engine: Engine) -> None:
    forget = Indexed(Batches(split.forget, 7, shuffle=True))
    found = BoundaryShift(temperature=0.5).targets(trained_copy(trained), forget, (3,), engine)
    for place, x in enumerate(split.forget.read(torch.arange(5)).float() / 255):
        p = trained(x[None]).double().softmax(1)[0].detach() ** 2
        p[3] = 0
        assert torch.allclose(found[place].double(), p / p.sum(), atol=1e-4)


def trained_copy(model: Classifier) -> nn.Module:
    copy = Classifier(type(model.network)(10, width=8), model.card)
    copy.load_state_dict(model.state_dict())
    return copy.eval()


class Untraceable(nn.Module):
    """Decides by its input, which cannot be traced."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) if x.sum() >= 0 else self.inner(-x)  # type: ignore[no-any-return]


def test_a_network_that_cannot_be_cut_is_trained_whole(trained: Classifier, split: Split, engine: Engine) -> None:
    unlearned = BoundaryShift()(Untraceable(trained), forget_only(split), engine)
    assert accuracy(predict(unlearned, Batches(split.forget), engine)) < 0.1


def test_no_learning_rate_need_be_set_and_a_wild_one_is_taken_back(
    trained: Classifier, split: Split, engine: Engine
) -> None:
    for method in (BoundaryShift(), BoundaryShift(lr=300.0, rounds=30)):
        unlearned = method(trained, forget_only(split), engine)
        assert accuracy(predict(unlearned, Batches(split.forget), engine)) < 0.05
        assert accuracy(predict(unlearned, Batches(split.retain), engine)) > 0.8


def test_it_stops_before_the_last_round_when_it_is_there(trained: Classifier, split: Split) -> None:
    short, long = Engine(precision="float32"), Engine(precision="float32")
    BoundaryShift(rounds=20)(trained, forget_only(split), short)
    BoundaryShift(rounds=40)(trained, forget_only(split), long)
    assert short.steps == long.steps > 0


def test_steepness_is_the_ratio_of_weights_to_slope(engine: Engine) -> None:
    layer = nn.Linear(3, 2)
    x, y = torch.randn(5, 3), torch.tensor([0, 1, 0, 1, 1])

    def loss(part: nn.Module, x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(part(x), y)

    loss(layer, x, y).backward()
    weights = torch.cat([layer.weight.flatten(), layer.bias]).norm()
    slope = torch.cat([layer.weight.grad.flatten(), layer.bias.grad]).norm()  # type: ignore[union-attr]
    assert steepness(layer, [(x, y)], loss, engine) == pytest.approx((weights / slope).item(), rel=1e-4)


def test_standing_is_the_divergence_from_the_targets_and_what_is_still_held(engine: Engine) -> None:
    x, q = torch.eye(3), torch.tensor([[0.0, 0.5, 0.5], [0.0, 0.9, 0.1], [0.0, 0.2, 0.8]])
    logits = torch.tensor([[5.0, 1.0, 1.0], [0.0, 2.0, 1.0], [0.0, 1.0, 3.0]])
    layer = nn.Linear(3, 3, bias=False)
    layer.weight.data = logits.T.clone()
    apart, held = standing(layer, [(x, torch.arange(3))], q, (0,), engine)
    p = logits.softmax(1)
    slow = sum(q[n, k] * (q[n, k] / p[n, k]).log() for n in range(3) for k in (1, 2)) / 3
    assert apart == pytest.approx(float(slow), rel=1e-4)
    assert held == pytest.approx(1 / 3)
