"""Strangers are features of no class; their outputs tell when the other classes are moved."""

import torch
from torch import nn

from unclass.methods.boundary_shift.strangers import Strangers, mix
from unclass.training.engine import Engine


def test_each_channel_of_a_stranger_is_one_of_two_images() -> None:
    features = torch.arange(5.0)[:, None, None].expand(5, 8, 2).contiguous()
    mixed = mix(features, 100)
    assert mixed.shape == (100, 8, 2)
    assert torch.equal(mixed[..., 0], mixed[..., 1])
    assert max(len(one.unique()) for one in mixed) == 2


def test_strangers_do_not_move_with_the_forgotten_class_and_do_with_the_others(engine: Engine) -> None:
    torch.manual_seed(0)
    part, features = nn.Linear(8, 4), torch.randn(50, 8)
    strangers = Strangers.of(part, features, (1,), 16, engine)
    assert abs(strangers.moved(part, engine)) < 1e-6
    with torch.no_grad():
        part.bias[1] -= 9
        part.weight[1] *= -3
    assert abs(strangers.moved(part, engine)) < 1e-6
    with torch.no_grad():
        part.weight[2] *= -3
    assert strangers.moved(part, engine) > 0.1


def test_a_network_that_computes_nothing_any_more_has_moved_beyond_every_limit(engine: Engine) -> None:
    part, features = nn.Linear(8, 4), torch.randn(50, 8)
    strangers = Strangers.of(part, features, (1,), 16, engine)
    with torch.no_grad():
        part.weight[2] = float("nan")
    assert not strangers.moved(part, engine) <= 1e9
