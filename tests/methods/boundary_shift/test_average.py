"""Averaged weights: the mean over the later steps."""

import pytest
import torch
from torch import nn

from unclass.methods.boundary_shift.average import Average


def test_weights_are_averaged_over_the_later_steps() -> None:
    layer = nn.Linear(1, 1, bias=False)
    average = Average(after=2)
    average.start(layer)
    for step, value in enumerate((9.0, 9.0, 1.0, 2.0, 6.0), 1):
        layer.weight.data.fill_(value)
        average.after_step(step, layer, torch.zeros(1))
    average.use(layer)
    assert layer.weight.item() == pytest.approx(3.0)
