import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from unclass.data import Batches, Split
from unclass.methods.boundary_shrink.neighbours import cross_samples, cross_samples_pgd, margin, masked, runner_up
from unclass.models import Classifier


@pytest.fixture
def batch(split: Split) -> tuple[Tensor, Tensor]:
    return next(iter(Batches(split.forget, 12)))


class Renormalised(nn.Module):
    """The same function of pixels with another normalisation: (x − m) / s, undone by the first layer."""

    def __init__(self, model: nn.Module, mean: float, std: float) -> None:
        super().__init__()
        self.model, self.mean, self.std = model, mean, std

    def forward(self, x: Tensor) -> Tensor:
        normalised = (x - self.mean) / self.std
        return self.model(normalised * self.std + self.mean)


@settings(deadline=None)
@given(st.integers(0, 2**31), st.sets(st.integers(0, 5), min_size=1, max_size=4))
def test_runner_up_is_the_best_class_that_stays(seed: int, forgotten: set[int]) -> None:
    logits = torch.randn(7, 6, generator=torch.Generator().manual_seed(seed))
    found = runner_up(logits, tuple(forgotten)).tolist()
    for row, label in zip(logits.tolist(), found, strict=True):
        assert label == max((k for k in range(6) if k not in forgotten), key=lambda k: row[k])


@settings(deadline=None)
@given(st.integers(0, 2**31), st.sets(st.integers(0, 5), min_size=1, max_size=4))
def test_masking_leaves_the_other_classes_proportions(seed: int, forgotten: set[int]) -> None:
    logits = torch.randn(7, 6, generator=torch.Generator().manual_seed(seed))
    soft = masked(logits, tuple(forgotten)).softmax(1)
    assert (soft[:, list(forgotten)] == 0).all()
    for row, p in zip(soft, logits.softmax(1), strict=True):
        kept = sum(p[k] for k in range(6) if k not in forgotten)
        for k in set(range(6)) - forgotten:
            torch.testing.assert_close(row[k], p[k] / kept)


@pytest.mark.parametrize("head", [nn.Linear(4, 6), nn.Conv2d(4, 6, 1)], ids=["linear", "1x1-conv"])
def test_margin_is_the_exact_distance_to_the_nearest_boundary(head: nn.Linear | nn.Conv2d) -> None:
    torch.manual_seed(0)
    features, forgotten = torch.randn(9, 4), (1, 4)
    y = torch.tensor([1, 4, 1, 4, 1, 1, 4, 4, 1])
    weight, bias = head.weight.detach().flatten(1), head.bias.detach()  # type: ignore[union-attr]
    logits = features @ weight.T + bias
    found = margin(logits, y, head, forgotten).tolist()
    for i, label in enumerate(found):
        distance = {}
        for k in set(range(6)) - set(forgotten):
            normal = weight[y[i]] - weight[k]
            distance[k] = (((logits[i, y[i]] - logits[i, k]) / normal.norm()).item(), normal)
        assert label == min(distance, key=lambda k: distance[k][0])
        gap, normal = distance[label]
        at_boundary = features[i] - gap * normal / normal.norm()  # walking that far makes the two classes equal
        new = at_boundary @ weight.T + bias
        torch.testing.assert_close(new[y[i]], new[label], rtol=1e-4, atol=1e-4)


def test_margin_prefers_the_nearer_boundary_to_the_larger_logit() -> None:
    head = nn.Linear(2, 3)
    head.weight.data = torch.tensor([[1.0, 0.0], [0.9, 0.0], [-9.0, 0.0]])
    logits = torch.tensor([[2.0, 1.5, 1.0]])  # to class 1: 0.5 / 0.1, to class 2: 1 / 10
    assert runner_up(logits, (0,)).item() == 1
    assert margin(logits, torch.tensor([0]), head, (0,)).item() == 2


def test_fgsm_equals_a_loop_over_single_images(trained: Classifier, batch: tuple[Tensor, Tensor]) -> None:
    x, y = batch
    found = cross_samples(trained, x, y, 0.07)
    for i in range(len(x)):
        image = x[i : i + 1].clone().requires_grad_(True)
        F.cross_entropy(trained(image), y[i : i + 1]).backward()
        assert image.grad is not None
        expected = (x[i] + 0.07 * image.grad[0].sign()).clamp(0, 1)
        torch.testing.assert_close(found[i], expected)


def test_epsilon_is_in_pixels_whatever_the_normalisation(trained: Classifier, batch: tuple[Tensor, Tensor]) -> None:
    x, y = batch
    inside = x * 0.6 + 0.2  # so that nothing is clamped
    moved = [cross_samples(Renormalised(trained, *how), inside, y, 0.1) for how in ((0.0, 1.0), (0.48, 0.2))]
    for found in moved:
        step = (found - inside).abs()
        torch.testing.assert_close(step[step > 1e-3], torch.full_like(step[step > 1e-3], 0.1))
    same = torch.isclose(*moved, rtol=0, atol=1e-5)
    assert same.float().mean() > 0.99  # a gradient of exactly zero may round to either sign


def test_fgsm_raises_the_loss_and_stays_an_image(trained: Classifier, batch: tuple[Tensor, Tensor]) -> None:
    x, y = batch
    found = cross_samples(trained, x, y, 0.1)
    assert found.min() >= 0 and found.max() <= 1
    assert F.cross_entropy(trained(found), y) > F.cross_entropy(trained(x), y)


@pytest.mark.parametrize("epsilon, step", [(0.05, 0.02), (0.1, 0.5), (0.3, 0.1)])
def test_pgd_stays_in_the_ball_and_an_image(
    trained: Classifier, batch: tuple[Tensor, Tensor], epsilon: float, step: float
) -> None:
    x, y = batch
    found = cross_samples_pgd(trained, x, y, epsilon, step, 5)
    assert (found - x).abs().max() <= epsilon + 1e-6
    assert found.min() >= 0 and found.max() <= 1
    assert (found - x).abs().max() > 0.9 * min(epsilon, 5 * step)


def test_one_large_step_of_pgd_is_fgsm(trained: Classifier, batch: tuple[Tensor, Tensor]) -> None:
    x, y = batch
    torch.testing.assert_close(cross_samples_pgd(trained, x, y, 0.1, 0.1, 1), cross_samples(trained, x, y, 0.1))


def test_several_small_steps_raise_the_loss_at_least_as_much(trained: Classifier, batch: tuple[Tensor, Tensor]) -> None:
    x, y = batch
    far = F.cross_entropy(trained(cross_samples_pgd(trained, x, y, 0.1, 0.02, 20)), y)
    assert far >= F.cross_entropy(trained(cross_samples(trained, x, y, 0.1)), y) - 1e-3


def test_the_search_leaves_no_gradient_in_the_model(model: Classifier, batch: tuple[Tensor, Tensor]) -> None:
    cross_samples(model, *batch, 0.1)
    cross_samples_pgd(model, *batch, 0.1, 0.03, 3)
    assert all(parameter.grad is None for parameter in model.parameters())
