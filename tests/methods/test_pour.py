import torch

from unclass.data import Batches, TrainingData, Withheld
from unclass.methods.pour import Pour, projection
from unclass.models.head import find_head, head_inputs


def data_of(split, classes=(3,)):
    return TrainingData(Batches(split.forget, len(split.forget)), Withheld("D_r"), classes)


def features(model, x):
    with head_inputs(find_head(model, x)) as seen, torch.no_grad():
        model(x)
    return seen[0]


def test_the_projection_takes_out_one_direction_and_nothing_else():
    w, h = torch.randn(1, 7), torch.randn(7)
    by_hand = torch.eye(7) - w.T @ w / w.norm() ** 2
    torch.testing.assert_close(projection(w), by_hand)
    assert (w @ projection(w) @ h).abs() < 1e-5
    orthogonal = h - (w[0] @ h) / (w[0] @ w[0]) * w[0]
    torch.testing.assert_close(projection(w) @ orthogonal, orthogonal)


def test_of_several_classes_all_directions_go():
    rows = torch.randn(3, 7)
    P = projection(rows)
    assert (rows @ P).abs().max() < 1e-5
    torch.testing.assert_close(P @ P, P, rtol=1e-4, atol=1e-5)


def test_the_head_alone_can_project(model, split, engine):
    x, _ = next(iter(Batches(split.forget, 9)))
    projected = Pour(form="projection")(model, data_of(split), engine)
    bias = model.network.head.bias[3]
    torch.testing.assert_close(projected(x)[:, 3], bias.expand(9), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(features(projected, x), features(model, x))


def test_features_move_to_where_the_projection_has_them_and_the_head_stays(model, split, engine):
    x, _ = next(iter(Batches(split.forget, len(split.forget))))
    target = features(model, x) @ projection(model.network.head.weight[3:4].detach())
    unlearned = Pour(epochs=60, lr=1e-3)(model, data_of(split), engine)
    before, after = ((features(one, x) - target).square().sum() for one in (model, unlearned))
    assert after < 0.2 * before
    assert torch.equal(unlearned.network.head.weight, model.network.head.weight)
