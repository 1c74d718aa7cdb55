import torch
from torch.nn import functional as F

from unclass.data import Batches, TrainingData, Withheld
from unclass.methods.l1_sparse import L1Sparse, absolute_sum
from unclass.training.engine import Engine


def data_of(split):
    return TrainingData(Withheld("D_f"), Batches(split.retain, len(split.retain)), (3,))


def test_the_penalty_falls_in_a_straight_line(model, split, engine):
    lr, gamma, epochs = 0.05, 1e-3, 4
    data = data_of(split)
    unlearned = L1Sparse(gamma, epochs, lr, batch_norm="frozen")(model, data, engine)
    (x, y), momentum, by_hand = next(iter(data.retain)), {}, model.eval()
    for epoch in range(epochs):
        weights = list(by_hand.parameters())
        loss = F.cross_entropy(by_hand(x), y) + gamma * (1 - epoch / epochs) * sum(w.abs().sum() for w in weights)
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for place, (weight, gradient) in enumerate(zip(weights, gradients, strict=True)):
                momentum[place] = 0.9 * momentum.get(place, 0) + gradient
                weight -= lr * momentum[place]
    for weight, moved in zip(by_hand.parameters(), unlearned.parameters(), strict=True):
        torch.testing.assert_close(moved, weight, rtol=1e-3, atol=1e-4)


def test_weights_grow_smaller_with_the_penalty(model, split):
    plain, sparse = (
        L1Sparse(gamma, epochs=10, lr=0.05)(model, data_of(split), Engine(precision="float32")) for gamma in (0.0, 0.02)
    )
    assert absolute_sum(sparse) < 0.8 * absolute_sum(plain)
