import pytest
import torch
from torch.nn import functional as F

from unclass.data import Batches, TrainingData, Withheld
from unclass.methods.unsir import Unsir


def test_the_noise_is_taken_least_for_the_class(model, split, engine):
    x, _ = next(iter(Batches(split.retain, 8)))
    torch.manual_seed(0)
    learned = Unsir(noises=8).noise(model.eval(), x, (3, 5), engine)
    torch.manual_seed(0)
    drawn = Unsir(noises=8, noise_steps=0).noise(model, x, (3, 5), engine)
    assert learned.labels.tolist() == [3] * 8 + [5] * 8
    with torch.no_grad():
        loss = [F.cross_entropy(model(one.source), one.labels) for one in (drawn, learned)]
    assert loss[1] > loss[0] + 3


@pytest.mark.parametrize("size", ["mean", "sum"])
def test_the_noise_goes_the_way_of_adam(model, split, engine, size):
    x, _ = next(iter(Batches(split.retain, 8)))
    torch.manual_seed(0)
    found = Unsir(noises=4, noise_steps=3, noise_size=size).noise(model.eval(), x, (3,), engine).source
    torch.manual_seed(0)
    n = torch.randn(4, 1, 8, 8).requires_grad_(True)
    first, second, y = torch.zeros_like(n), torch.zeros_like(n), torch.full((4,), 3)
    for step in range(1, 4):
        norms = n.square().mean() if size == "mean" else sum(one.square().sum() for one in n) / len(n)
        loss = -F.cross_entropy(model(n), y) + 0.1 * norms
        (gradient,) = torch.autograd.grad(loss, n)
        with torch.no_grad():
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            n -= 0.1 * (first / (1 - 0.9**step)) / ((second / (1 - 0.999**step)).sqrt() + 1e-8)
    torch.testing.assert_close(found, n.detach(), rtol=1e-3, atol=1e-3)


def test_images_of_the_class_are_never_read(model, split, engine):
    data = TrainingData(Withheld("D_f"), Batches(split.retain, 32), (3,))
    unlearned = Unsir(noises=32, noise_steps=10)(model, data, engine)
    with torch.no_grad():
        x, y = next(iter(Batches(split.forget, 100)))
        assert F.cross_entropy(unlearned(x), y) > F.cross_entropy(model.eval()(x), y)


def test_the_noise_is_of_the_precision_of_the_images(model, split, engine):
    x, _ = next(iter(Batches(split.retain, 8)))
    assert (
        Unsir(noises=2, noise_steps=1).noise(model.double().eval(), x.double(), (3,), engine).source.dtype
        == x.double().dtype
    )
