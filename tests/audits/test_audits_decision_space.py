"""Where images lie for each model, drawn in two dimensions."""

import torch
from torch import nn
from torch.utils.data import TensorDataset

import unclass
from unclass.audits.decision_space import embed
from unclass.training.engine import Engine


def test_features_that_are_all_alike_are_one_point() -> None:
    dead = {"original": torch.zeros(20, 6), "unlearned": torch.zeros(20, 6)}
    assert embed(dead, 0) == {role: ((0.0, 0.0),) * 20 for role in dead}


def test_a_dead_network_beside_a_live_one_is_drawn() -> None:
    live = torch.randn(20, 6, generator=torch.Generator().manual_seed(0))
    found = embed({"original": live, "unlearned": torch.zeros(20, 6)}, 0)
    assert torch.tensor(list(found.values())).isfinite().all() and len(set(found["original"])) > 10


def test_an_audit_of_networks_that_tell_no_image_from_another_ends_in_a_verdict(engine: Engine) -> None:
    dead = nn.Sequential(nn.Flatten(), nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 3))
    nn.init.constant_(dead[1].bias, -100.0)
    pictures = TensorDataset(torch.rand(48, 3, 2, 2), torch.arange(48) % 3)
    found = unclass.audit(dead, dead, (pictures, pictures), 1, engine=engine)
    assert found.verdict.status in ("failed", "undecided")
    assert found.check("same-features").values["unlearned"] is None
