import pytest
import torch
from torch import nn

from unclass.data import Batches, TrainingData
from unclass.methods.subspace_projection import SubspaceProjection, layer_inputs, second_moments, space


def slow_space(rows, alpha):
    """As the paper has it: the SVD of the inputs themselves."""
    U, sigma, _ = torch.linalg.svd(rows.T, full_matrices=False)
    s = sigma**2 / (sigma**2).sum()
    return U @ torch.diag(alpha * s / ((alpha - 1) * s + 1)) @ U.T


def test_the_space_is_that_of_the_singular_vectors():
    rows = torch.randn(40, 6, dtype=torch.float64)
    torch.testing.assert_close(space(rows.T @ rows, 30.0), slow_space(rows, 30.0))


@pytest.mark.parametrize(
    "layer", [nn.Conv2d(2, 4, 3, stride=2, padding=1), nn.Conv2d(2, 4, 3, padding="same"), nn.Linear(5, 4)]
)
def test_a_layer_is_its_weight_times_its_inputs(layer):
    x = torch.rand(3, 2, 8, 8) if isinstance(layer, nn.Conv2d) else torch.rand(3, 5)
    rows = layer_inputs(layer, x)
    out = layer(x) if x.dim() == 2 else layer(x).flatten(2).transpose(1, 2).flatten(0, 1)
    torch.testing.assert_close(rows @ layer.weight.flatten(1).T + layer.bias, out)


def test_every_layer_is_projected_by_the_formula(model, split, engine):
    data = TrainingData(Batches(split.forget, 20), Batches(split.retain, 60), (3,))
    unlearned = SubspaceProjection(30.0, 5.0, forget_sample=0, retain_sample=0)(model, data, engine)
    moments = [second_moments(model.eval(), batches, engine) for batches in (data.forget, data.retain)]
    names = {module: name for name, module in model.named_modules()}
    assert len(moments[0]) == 4
    for layer in moments[0]:
        gone, kept = space(moments[0][layer], 5.0), space(moments[1][layer], 30.0)
        P = torch.eye(len(gone)).double() - (gone - gone @ kept)
        wanted = (layer.weight.flatten(1).double() @ P.T).view_as(layer.weight).float()
        torch.testing.assert_close(unlearned.get_submodule(names[layer]).weight, wanted, rtol=1e-3, atol=1e-4)


def test_what_only_the_class_uses_goes_and_what_others_use_stays():
    gone, kept = torch.zeros(4, 4).double(), torch.zeros(4, 4).double()
    gone[0, 0] = gone[1, 1] = 1.0  # directions 0 and 1 of the class, 1 and 2 of the others
    kept[1, 1] = kept[2, 2] = 1.0
    M_f, M_r = space(gone, 1e6), space(kept, 1e6)
    P = torch.eye(4).double() - (M_f - M_f @ M_r)
    torch.testing.assert_close(P.diagonal(), torch.tensor([0.0, 1.0, 1.0, 1.0]).double(), atol=1e-5, rtol=0)
