import torch
from torch.nn import functional as F

from unclass.data import Batches, TrainingData
from unclass.methods.scrub import Scrub


def data_of(split):
    forget, retain = Batches(split.forget, len(split.forget)), Batches(split.retain, len(split.retain))
    return TrainingData(forget, retain, (3,))


def test_without_ascent_a_step_is_that_of_the_sum_on_the_remaining_images(model, split, engine):
    T, a, g, lr = 2.0, 0.7, 0.3, 0.05
    method = Scrub(a, g, T, ascent_epochs=0, epochs=2, lr=lr, weight_decay=0.0, optimiser="sgd", batch_norm="frozen")
    data = data_of(split)
    unlearned = method(model, data, engine)
    (u, v), momentum = next(iter(data.retain)), {}
    by_hand, teacher = model.eval(), (model(u) / T).softmax(1).detach()
    for _ in range(2):
        logits = by_hand(u)
        kl = (teacher * (teacher.log() - (logits / T).log_softmax(1))).sum(1).mean() * T**2
        gradients = torch.autograd.grad(a * kl + g * F.cross_entropy(logits, v), list(by_hand.parameters()))
        with torch.no_grad():
            for place, (weight, gradient) in enumerate(zip(by_hand.parameters(), gradients, strict=True)):
                momentum[place] = 0.9 * momentum.get(place, 0) + gradient
                weight -= lr * momentum[place]
    for weight, moved in zip(by_hand.parameters(), unlearned.parameters(), strict=True):
        torch.testing.assert_close(moved, weight, rtol=1e-3, atol=1e-4)


def test_ascent_leads_away_from_the_original_on_forgotten_images_only_in_its_epochs(model, split, engine):
    data = data_of(split)
    engine.observer = seen = Labels()
    Scrub(ascent_epochs=1, epochs=3, lr=1e-3)(model, data, engine)
    assert [set(labels) == {3} for labels in seen.labels] == [True, False, False, False]
    far = Scrub(alpha=0.0, gamma=0.0, ascent_epochs=3, epochs=3, lr=1e-3)(model, data, engine)
    x, _ = next(iter(data.forget))
    with torch.no_grad():
        p, q = model.eval()(x).softmax(1), far(x).softmax(1)
    assert (p * (p / q.clamp_min(1e-12)).log()).sum(1).mean() > 0.05


class Labels:
    def __init__(self):
        self.labels = []

    def start(self, model):
        pass

    def after_step(self, step, model, y):
        self.labels.append(y.tolist())
