"""Stand-ins are taken for the other classes, and batch norms find in them what they keep of D_r."""

import torch
from torch import nn

from unclass.data import Batches, Split, TrainingData, Withheld
from unclass.methods.boundary_shift import BoundaryShift
from unclass.methods.boundary_shift.stand_ins import Distances, how_many, others, stand_ins
from unclass.methods.boundary_shift.strangers import mix
from unclass.models import Classifier
from unclass.training.engine import Engine


def test_the_classes_that_stay_share_them() -> None:
    assert others(5, (1, 3), 6).tolist() == [0, 0, 2, 2, 4, 4]
    assert len(others(1000, (7,), 10).unique()) == 10 and not (others(1000, (7,), 999) == 7).any()


def test_they_are_taken_for_every_class_that_stays_and_suit_the_batch_norms(
    model: Classifier, split: Split, engine: Engine
) -> None:
    data = TrainingData(Batches(split.forget, 16, shuffle=True), Withheld("D_r"), split.classes)
    tail = BoundaryShift().look(model, data, engine)
    tail.versions.use(0)
    start = mix(tail.forget.features[0], 90)
    made = stand_ins(tail.part, start, others(10, split.classes, 90), engine)

    def distance(features: torch.Tensor) -> float:
        with torch.no_grad(), Distances() as seen:
            tail.part(features)
        return float(sum(seen.found))

    assert set(tail.part(made).argmax(1).tolist()) == set(range(10)) - {3}
    assert distance(made) < distance(start) / 2
    low, high = start.amin(0), start.amax(0)
    assert (made >= low).all() and (made <= high).all()


def test_the_part_is_left_as_it_was_and_needs_no_batch_norm(engine: Engine) -> None:
    torch.manual_seed(0)
    part = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 4)).requires_grad_(False)
    before = {name: weight.clone() for name, weight in part.state_dict().items()}
    made = stand_ins(part, torch.randn(40, 8), others(4, (1,), 40), engine)
    assert torch.isfinite(made).all() and made.shape == (40, 8)
    assert all(torch.equal(before[name], weight) for name, weight in part.state_dict().items())
    assert all(weight.grad is None for weight in part.parameters())


def test_fewer_are_made_of_large_features_or_for_many_classes() -> None:
    small, large = torch.zeros(1, 8), torch.zeros(1, 2**18)
    assert how_many(small, 10) == 128 and how_many(large, 10) == 64
    assert how_many(small, 2**16) == 64 and how_many(large, 2**20) == 32
