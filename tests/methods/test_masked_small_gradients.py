import pytest
import torch
from torch import nn
from torch.nn import functional as F

from unclass.data import Batches, TrainingData
from unclass.errors import InputError
from unclass.methods.masked_small_gradients import MaskedSmallGradients, draw_again, smallest


def test_the_smallest_differences_of_each_convolution_are_drawn_anew(model, split, engine):
    data = TrainingData(Batches(split.forget, 40), Batches(split.retain, 40), (3,))
    method = MaskedSmallGradients(share=0.3, epochs=0)
    torch.manual_seed(0)
    again = method(model, data, engine)
    slow = {name: torch.zeros_like(weight) for name, weight in model.named_parameters()}
    for sign, batches in ((-1, data.forget), (1, data.sample(len(split.forget)))):
        for x, y in batches:
            loss = F.cross_entropy(model.eval()(x), y, reduction="sum")
            for name, part in zip(slow, torch.autograd.grad(loss, list(model.parameters())), strict=True):
                slow[name] += sign * part
    for (name, before), after in zip(model.named_parameters(), again.parameters(), strict=True):
        changed = (before != after).flatten()
        if "conv" not in name:
            assert not changed.any()
            continue
        order = slow[name].abs().flatten().argsort()
        wanted = set(order[: round(0.3 * len(order))].tolist())
        found = set(changed.nonzero().flatten().tolist())
        assert len(found ^ wanted) <= 0.02 * len(order)  # ties and rounding


def test_the_others_move_slowly(model, split, engine):
    data = TrainingData(Batches(split.forget, 40), Batches(split.retain, 400), (3,))
    one, none = (
        MaskedSmallGradients(share=0.0, others_pace=pace, epochs=1, lr=0.1, weight_decay=0.0, batch_norm="frozen")(
            model, data, engine
        )
        for pace in (1.0, 0.1)
    )
    for start, fast, slow in zip(model.parameters(), one.parameters(), none.parameters(), strict=True):
        torch.testing.assert_close(slow - start, 0.1 * (fast - start), rtol=1e-2, atol=1e-5)


def test_weights_are_drawn_as_the_layer_draws_them():
    torch.manual_seed(0)
    layer = nn.Sequential(nn.Conv2d(16, 32, 3))
    mask = torch.rand(32, 16, 3, 3) < 0.5
    before = layer[0].weight.detach().clone()
    layer[0].weight.data *= 100
    draw_again(layer, {"0.weight": mask})
    assert layer[0].weight[mask].std().item() == pytest.approx(before.std().item(), rel=0.05)
    assert torch.equal(layer[0].weight[~mask], 100 * before[~mask])
    assert list(smallest(layer, {"0.weight": before}, 0.5)) == ["0.weight"]


def test_a_network_without_convolutions_is_refused(split, engine):
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    data = TrainingData(Batches(split.forget, 40), Batches(split.retain, 40), (3,))
    with pytest.raises(InputError, match="no convolution"):
        MaskedSmallGradients()(network, data, engine)
