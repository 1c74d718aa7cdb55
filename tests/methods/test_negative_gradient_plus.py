import torch
from torch.nn import functional as F

from unclass.data import Batches, TrainingData
from unclass.methods.method import Counts
from unclass.methods.negative_gradient_plus import NegativeGradientPlus, both_sides


def test_one_step_is_that_of_the_weighted_difference(model, split, engine):
    forget, retain = Batches(split.forget, len(split.forget)), Batches(split.retain, len(split.retain))
    method = NegativeGradientPlus(alpha=0.8, epochs=1, lr=0.05, weight_decay=0.0, batch_norm="frozen")
    unlearned = method(model, TrainingData(forget, retain, (3,)), engine)
    (x, y), (u, v) = next(iter(forget)), next(iter(retain))
    model.eval()
    (0.8 * F.cross_entropy(model(u), v) - 0.2 * F.cross_entropy(model(x), y)).backward()
    for weight, moved in zip(model.parameters(), unlearned.parameters(), strict=True):
        torch.testing.assert_close(moved, weight - 0.05 * weight.grad, rtol=1e-3, atol=1e-4)


def test_an_epoch_meets_as_many_forgotten_images_as_remaining_ones():
    passes = both_sides(Counts(forget=100, retain=900, classes=10, batch_size=64), 2, sample=450)
    assert (passes.forget_trains * 100, passes.retain_trains * 900) == (900, 900)
