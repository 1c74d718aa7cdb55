from copy import deepcopy

import torch

from unclass.data import Batches, TrainingData
from unclass.methods.bad_teacher import BadTeacher
from unclass.methods.retrain import reset


def test_one_step_is_that_of_both_teachers(model, split, engine):
    forget, retain = Batches(split.forget, len(split.forget)), Batches(split.retain, len(split.retain))
    torch.manual_seed(3)
    method = BadTeacher(epochs=1, lr=0.05, temperature=2.0, batch_norm="frozen")
    unlearned = method(model, TrainingData(forget, retain, (3,)), engine)
    torch.manual_seed(3)
    bad = reset(deepcopy(model)).eval()
    (x, _), (u, _) = next(iter(forget)), next(iter(retain))
    model.eval()

    def kl(teacher, at):
        p, log_q = (teacher(at) / 2).softmax(1).detach(), (model(at) / 2).log_softmax(1)
        return 4 * (p * (p.log() - log_q)).sum(1).mean()

    (kl(bad, x) + kl(deepcopy(model), u)).backward()
    for weight, moved in zip(model.parameters(), unlearned.parameters(), strict=True):
        torch.testing.assert_close(moved, weight - 0.05 * weight.grad, rtol=1e-3, atol=1e-4)


def test_the_bad_teacher_knows_nothing(model):
    bad = reset(deepcopy(model))
    assert all(not torch.equal(a, b) for (n, a), b in zip(model.named_parameters(), bad.parameters(), strict=True)
               if "conv" in n or "head" in n)  # fmt: skip
