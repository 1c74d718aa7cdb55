"""Boundary Shift: only the tail moves, and the class does not come back through batch norm."""

import torch
from torch import Tensor, nn

from unclass.audits.recalibration import recalibrate
from unclass.data import Batches, Indexed, Split, TrainingData, Withheld
from unclass.engine import Engine
from unclass.methods.boundary_shift import BoundaryShift, forget_rows
from unclass.methods.boundary_shrink import BoundaryShrink
from unclass.metrics import accuracy
from unclass.models import Classifier
from unclass.predictions import predict


def forget_only(split: Split) -> TrainingData:
    return TrainingData(Batches(split.forget, 16, shuffle=True), Withheld("D_r"), split.classes)


def test_the_stem_keeps_its_weights_and_the_tail_moves(trained: Classifier, split: Split, engine: Engine) -> None:
    unlearned = BoundaryShift(epochs=2)(trained, forget_only(split), engine)
    before, after = dict(trained.named_parameters()), dict(unlearned.named_parameters())
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert "network.head.weight" in moved and "network.blocks.2.conv.weight" in moved
    assert not any(name.startswith(("network.blocks.0", "network.blocks.1")) for name in moved)


def test_the_class_does_not_come_back_by_recalibration(trained: Classifier, split: Split, engine: Engine) -> None:
    def after(method: BoundaryShift | BoundaryShrink) -> float:
        again = recalibrate(method(trained, forget_only(split), engine), split.retain, engine, 0)
        assert again is not None
        return accuracy(predict(again, Batches(split.forget), engine))

    assert after(BoundaryShift(temperature=1.0, epochs=10, lr=0.03)) < 0.1
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


def test_a_forgotten_row_tells_no_class_apart() -> None:
    head = nn.Linear(4, 5)
    forget_rows(head, (1, 3))
    others = [0, 2, 4]
    h = torch.randn(6, 4)
    z = head(h)
    for row in (1, 3):
        torch.testing.assert_close(z[:, row], z[:, others].mean(1))


class Untraceable(nn.Module):
    """Decides by its input, which cannot be traced."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) if x.sum() >= 0 else self.inner(-x)  # type: ignore[no-any-return]


def test_a_network_that_cannot_be_cut_is_trained_whole(trained: Classifier, split: Split, engine: Engine) -> None:
    unlearned = BoundaryShift(epochs=6, lr=0.02)(Untraceable(trained), forget_only(split), engine)
    assert accuracy(predict(unlearned, Batches(split.forget), engine)) < 0.1
