import torch
from torch.nn import functional as F

from unclass.data import Batches, TrainingData, Withheld
from unclass.methods.delete import Delete
from unclass.methods.targets import divergence, without_classes


def test_one_step_is_that_of_the_divergence_from_the_masked_output(model, split, engine):
    forget = Batches(split.forget, len(split.forget))
    (x, _), lr = next(iter(forget)), 0.05
    unlearned = Delete(epochs=1, lr=lr)(model, TrainingData(forget, Withheld("D_r"), (3,)), engine)
    p = model(x).softmax(1).detach()
    q = torch.stack([torch.stack([p[i, k] / (1 - p[i, 3]) if k != 3 else 0 * p[i, k] for k in range(10)])
                     for i in range(len(x))])  # fmt: skip
    after = model(x).softmax(1)
    by_hand = sum(q[i, k] * (q[i, k] / after[i, k]).log() for i in range(len(x)) for k in range(10) if k != 3) / len(x)
    by_hand.backward()
    for (name, weight), moved in zip(model.named_parameters(), unlearned.parameters(), strict=True):
        torch.testing.assert_close(moved, weight - lr * weight.grad, rtol=1e-3, atol=1e-4, msg=name)


def test_the_target_keeps_the_proportions_of_the_classes_that_stay():
    logits = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    q = without_classes(logits, (3,))
    assert q[0, 3] == 0 and torch.allclose(q[0, :3], logits[0, :3].softmax(0))


def test_the_divergence_is_zero_at_the_target_alone():
    logits = torch.randn(5, 4)
    assert divergence(logits.softmax(1), logits).abs() < 1e-6
    assert divergence((logits / 2).softmax(1), logits, temperature=2.0).abs() < 1e-6
    assert divergence(F.one_hot(torch.arange(4), 4).float(), torch.zeros(4, 4)).item() > 1
