"""The negative control hides a class and forgets nothing."""

import pytest
import torch
from torch import nn

from unclass.data import Split, TrainingData, Withheld
from unclass.errors import InputError
from unclass.methods import METHODS, Needs
from unclass.methods.logit_mask import LogitMask
from unclass.models import Classifier
from unclass.training.engine import Engine

DATA = TrainingData(Withheld("D_f"), Withheld("D_r"), (3,))


def test_it_is_in_the_table_and_reads_nothing() -> None:
    assert METHODS["logit-mask"] is LogitMask
    assert LogitMask().needs == Needs.NOTHING and LogitMask().needs.words() == "nothing"


def test_the_class_is_never_said_again(model: Classifier, split: Split, engine: Engine) -> None:
    masked = LogitMask()(model, DATA, engine)
    x = split.forget.read(torch.arange(20)).float() / 255
    assert (model(x).argmax(1) == 3).any()
    assert (masked(x).argmax(1) != 3).all()


def test_all_but_one_bias_stays(model: Classifier, engine: Engine) -> None:
    masked = LogitMask(offset=7.0)(model, DATA, engine)
    for (name, before), after in zip(model.state_dict().items(), masked.state_dict().values(), strict=True):
        changed = (after - before).abs() > 1e-5
        assert changed.nonzero().flatten().tolist() == ([3] if name.endswith("head.bias") else [])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_default_survives_half_precision(dtype: torch.dtype, engine: Engine) -> None:
    masked = LogitMask()(nn.Linear(4, 10).to(dtype), DATA, engine)
    output = masked(torch.rand(5, 4, dtype=dtype))
    assert torch.isfinite(output).all() and (output[:, 3] < output.min(1).values + 1).all()
    assert (output[:, 3] < -90).all()


def test_a_head_without_bias_is_named(engine: Engine) -> None:
    with pytest.raises(InputError, match="no bias"):
        LogitMask()(nn.Linear(4, 10, bias=False), DATA, engine)


def test_a_network_without_linear_layer_or_with_too_few_outputs_is_named(engine: Engine) -> None:
    with pytest.raises(InputError, match="no linear layer"):
        LogitMask()(nn.Conv2d(1, 10, 1), DATA, engine)
    with pytest.raises(InputError, match="2 outputs"):
        LogitMask()(nn.Linear(4, 2), DATA, engine)
