import torch
from torch.nn import functional as F

from unclass.data import Batches, TrainingData
from unclass.methods.salun import Salun, gradients, largest


def test_gradients_are_the_sum_over_single_images(model, split, engine):
    model.eval()
    found = gradients(model, Batches(split.forget, 16), engine)
    slow = {name: torch.zeros_like(weight) for name, weight in model.named_parameters()}
    x, y = next(iter(Batches(split.forget, len(split.forget))))
    for i in range(len(x)):
        parts = torch.autograd.grad(F.cross_entropy(model(x[i : i + 1]), y[i : i + 1]), list(model.parameters()))
        for name, part in zip(slow, parts, strict=True):
            slow[name] += part
    torch.testing.assert_close(found, slow, rtol=1e-3, atol=1e-3)


def test_the_mask_holds_the_largest_over_all_layers():
    found = {"a": torch.tensor([[1.0, -9.0], [3.0, 4.0]]), "b": torch.tensor([5.0, 0.5, -6.0, 2.0])}
    masks = largest(found, 0.5)
    assert masks["a"].tolist() == [[0, 1], [0, 1]] and masks["b"].tolist() == [1, 0, 1, 0]
    assert not any(mask.any() for mask in largest(found, 0.0).values())
    assert all(mask.all() for mask in largest(found, 1.0).values())


def test_only_the_salient_weights_move(model, split, engine):
    data = TrainingData(Batches(split.forget, 32), Batches(split.retain, 32), (3,))
    masks = largest(gradients(model.eval(), data.forget, engine), 0.2)
    unlearned = Salun(share=0.2, epochs=2, lr=0.05)(model, data, engine)
    for (name, before), after in zip(model.named_parameters(), unlearned.parameters(), strict=True):
        still = masks[name] == 0
        assert torch.equal(before[still], after[still])
    share = sum((a != b).sum() for a, b in zip(model.parameters(), unlearned.parameters(), strict=True))
    assert share / sum(weight.numel() for weight in model.parameters()) > 0.15
