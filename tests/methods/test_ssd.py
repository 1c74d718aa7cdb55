import torch
from torch.nn import functional as F

from unclass.data import Batches, TrainingData
from unclass.methods.ssd import Ssd, squared_gradients


def slow_squares(model, images):
    total = {name: torch.zeros_like(weight) for name, weight in model.named_parameters()}
    x, y = next(iter(Batches(images, len(images))))
    for i in range(len(x)):
        parts = torch.autograd.grad(-F.cross_entropy(model(x[i : i + 1]), y[i : i + 1]), list(model.parameters()))
        for name, part in zip(total, parts, strict=True):
            total[name] += part.square()
    return total


def test_each_image_is_squared_by_itself(model, split, engine):
    model.eval()
    found, count = squared_gradients(model, Batches(split.forget, 16), engine)
    assert count == len(split.forget)
    torch.testing.assert_close(found, slow_squares(model, split.forget), rtol=1e-3, atol=1e-4)


def test_weights_are_dampened_where_they_matter_more_to_the_class(model, split, engine):
    alpha, strength = 2.0, 0.5
    data = TrainingData(Batches(split.forget, 32), Batches(split.retain, 32), (3,))
    unlearned = Ssd(alpha, strength)(model, data, engine)
    own, others = (slow_squares(model.eval(), images) for images in (split.forget, split.retain))
    n, m = len(split.forget), len(split.retain)
    dampened = 0
    for (name, before), after in zip(model.named_parameters(), unlearned.parameters(), strict=True):
        f, all_of = own[name] / n, (own[name] + others[name]) / (n + m)
        sure = (f - alpha * all_of).abs() > 1e-3 * f  # elsewhere rounding decides
        wanted = torch.where(f > alpha * all_of, (strength * all_of / f).clamp(max=1) * before, before)
        torch.testing.assert_close(after[sure], wanted[sure], rtol=1e-3, atol=1e-5)
        dampened += int((f > alpha * all_of).sum())
    assert dampened > 10
