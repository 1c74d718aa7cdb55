import torch

from unclass.data import Batches, TrainingData, Withheld
from unclass.methods.mu_mis import MuMis, Recovery, sensitivities


def test_sensitivities_are_the_squared_gradients_of_single_logits(model, split):
    model.eval()
    x, y = next(iter(Batches(split.forget, 4)))
    drawn = torch.tensor([0.0, 0.3, 0.6, 0.99])
    own, other = sensitivities(model, x, y, drawn)
    for i in range(4):
        c = (int(y[i]) + 1 + int(drawn[i] * 9)) % 10
        assert c != y[i]
        one = x[i : i + 1].clone().requires_grad_(True)
        logits = model(one)[0]
        for value, k in ((own, int(y[i])), (other, c)):
            (gradient,) = torch.autograd.grad(logits[k], one, retain_graph=True)
            torch.testing.assert_close(value[i], gradient.square().sum(), rtol=1e-3, atol=1e-4)


def test_every_other_class_can_be_drawn_and_never_the_own():
    drawn, y = torch.linspace(0, 0.999, 90), torch.full((90,), 7)
    assert set(((y + 1 + (drawn * 9).long()) % 10).tolist()) == set(range(10)) - {7}


def test_it_is_over_when_the_figure_has_come_back():
    watch = Recovery(times=2.0, window=1)
    found = []
    for value in (8.0, 4.0, 2.0, 3.0, 4.0):
        watch.see(value)
        found.append(watch.over())
    assert found == [False, False, False, False, True]
    never = Recovery(times=0.0, window=1)
    never.see(1.0)
    never.see(100.0)
    assert not never.over()


def test_the_own_sensitivity_falls_against_the_others(model, split, engine):
    forget = Batches(split.forget, 32, shuffle=True)
    unlearned = MuMis(epochs=6, lr=1e-4, recovery=0.0)(model, TrainingData(forget, Withheld("D_r"), (3,)), engine)
    x, y = next(iter(forget))
    drawn = torch.rand(len(x))
    (own, other), (own_after, other_after) = (sensitivities(one.eval(), x, y, drawn) for one in (model, unlearned))
    assert own_after.mean() / other_after.mean() < 0.7 * own.mean() / other.mean()
