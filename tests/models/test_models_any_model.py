"""A model of any kind comes back as the same kind, with its keys and precision."""

from copy import deepcopy

import pytest
import torch
from torch import nn

import unclass
from unclass.compatibility import usable
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.models import Classifier, weights_digest
from unclass.models.any_model import inner
from unclass.training.engine import Engine


class Bare(nn.Module):
    """A network that scales pixels as it learned them, and returns logits, a dict or a tuple."""

    def __init__(self, network: nn.Module, kind: type = torch.Tensor) -> None:
        super().__init__()
        self.net, self.kind = network, kind

    def forward(self, x: torch.Tensor):
        h = self.net.blocks(2 * x - 1).mean(dim=(2, 3))
        logits = self.net.head(h)
        return {dict: {"features": h, "out": logits}, tuple: (h, logits)}.get(self.kind, logits)


KINDS = {
    "dict": lambda network: Bare(network.net, dict),
    "tuple": lambda network: Bare(network.net, tuple),
    "compiled": torch.compile,
    "data-parallel": nn.DataParallel,
    "bfloat16": lambda network: network.bfloat16(),
    "float16": lambda network: network.half(),
    "compiled data-parallel half": lambda network: torch.compile(nn.DataParallel(network.bfloat16())),
}


@pytest.mark.parametrize("method", ["boundary-expanding", "boundary-shrink"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_forgets_and_stays_of_its_kind(
    kind: str, method: str, trained: Classifier, digits: ImageData, engine: Engine
) -> None:
    model = KINDS[kind](Bare(deepcopy(trained.network))).eval()
    before = weights_digest(model)
    found = unclass.forget(model, digits, ["3"], method, engine=engine, epochs=6, lr=0.02)
    assert type(found) is type(model) and type(inner(found)) is type(inner(model))
    assert weights_digest(model) == before != weights_digest(found)
    old, new = model.state_dict(), found.state_dict()
    assert [(key, tensor.shape, tensor.dtype) for key, tensor in new.items()] == [
        (key, tensor.shape, tensor.dtype) for key, tensor in old.items()
    ]
    first, second = (unclass.evaluate(one, digits, ["3"], engine=engine).accuracy_forget for one in (model, found))
    assert first > 0.5 > second


def test_small_steps_do_not_vanish_in_half_precision(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    half = deepcopy(trained).bfloat16()
    found = unclass.forget(half, digits, ["3"], "negative-gradient", engine=engine, epochs=1, lr=1e-4)
    wide = unclass.forget(deepcopy(half).float(), digits, ["3"], "negative-gradient", engine=engine, epochs=1, lr=1e-4)
    for ours, theirs in zip(found.parameters(), wide.parameters(), strict=True):
        assert ours.dtype == torch.bfloat16 and torch.equal(ours, theirs.bfloat16())


def test_a_plain_model_is_used_as_it_is(trained: Classifier, digits: ImageData) -> None:
    assert usable(trained, digits) is trained
    assert usable(trained.network, digits) is trained.network
    assert usable(nn.DataParallel(trained.network), digits) is trained.network


def test_another_number_of_outputs_is_named(digits: ImageData) -> None:
    with pytest.raises(InputError, match="the model has 7 outputs, the data 10 classes"):
        usable(nn.Sequential(nn.Flatten(), nn.Linear(64, 7)), digits)
