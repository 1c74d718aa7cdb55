import torch
from torch import nn

from unclass.methods.jit import Jit, steepness


def test_steepness_is_the_mean_ratio_by_hand(model):
    x, noise = torch.rand(3, 1, 8, 8), 0.1 * torch.randn(3, 4, 1, 8, 8)
    model.eval()
    ratios = [
        (model(x[i : i + 1]) - model((x[i] + noise[i, j])[None])).norm() / noise[i, j].norm()
        for i in range(3)
        for j in range(4)
    ]
    torch.testing.assert_close(steepness(model, x, noise), torch.stack(ratios).mean(), rtol=1e-3, atol=1e-4)


def test_the_steepness_of_a_linear_map_along_its_row_is_its_length():
    layer = nn.Linear(4, 1, bias=False)
    noise = layer.weight.detach()[None].expand(5, 2, 4)
    torch.testing.assert_close(steepness(layer, torch.rand(5, 4), noise), layer.weight.norm())


def test_one_pass_makes_the_forgotten_images_surroundings_flatter(model, split, engine):
    from unclass.data import Batches, TrainingData, Withheld

    forget = Batches(split.forget, 8)
    torch.manual_seed(0)
    flat = Jit(lr=0.1, samples=8)(model, TrainingData(forget, Withheld("D_r"), (3,)), engine)
    x, _ = next(iter(forget))
    noise = 0.1 * torch.randn(len(x), 20, *x.shape[1:])
    with torch.no_grad():
        assert steepness(flat, x, noise) < 0.8 * steepness(model.eval(), x, noise)
