import torch
import torch.nn.functional as F

from unclass.data import Batches, Split, TrainingData, Withheld
from unclass.methods.finetune import Finetune
from unclass.models import Classifier, weights_digest
from unclass.training.engine import Engine


def test_it_goes_on_from_the_original(model: Classifier, split: Split, engine: Engine) -> None:
    data = TrainingData(Withheld("D_f"), Batches(split.retain, 32), split.classes)
    assert weights_digest(Finetune(epochs=0)(model, data, engine)) == weights_digest(model)


def test_one_step_equals_plain_sgd_on_a_retain_batch(model: Classifier, split: Split, engine: Engine) -> None:
    data = TrainingData(Withheld("D_f"), Batches(split.retain, len(split.retain)), split.classes)
    tuned = Finetune(epochs=1, lr=0.03, weight_decay=0.01)(model, data, engine)
    x, y = next(iter(data.retain))
    model = engine.place(model.train())  # layers laid out as in `fit`: another layout rounds otherwise
    F.cross_entropy(model(x), y).backward()
    for (name, weight), new in zip(model.named_parameters(), tuned.parameters(), strict=True):
        assert weight.grad is not None
        expected = weight - 0.03 * (weight.grad + 0.01 * weight)
        torch.testing.assert_close(new, expected, rtol=1e-4, atol=1e-6, msg=name)
