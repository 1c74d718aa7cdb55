from copy import deepcopy
from typing import get_args

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from unclass.data import Batches, ImageSet, Indexed, Split, TrainingData, Withheld
from unclass.methods.boundary_shrink import BoundaryShrink, Uncrossed
from unclass.methods.boundary_shrink.neighbours import Search, cross_samples, margin, masked, runner_up
from unclass.methods.configure import configure
from unclass.metrics import accuracy
from unclass.models import Classifier
from unclass.predictions import predict, predict_sets
from unclass.running import Settings, unlearn
from unclass.training.engine import Engine


@pytest.fixture
def batch(split: Split) -> tuple[Tensor, Tensor]:
    return next(iter(Batches(split.forget, 40)))


def data(split: Split, batch_size: int = 64) -> TrainingData:
    return TrainingData(Batches(split.forget, batch_size), Withheld("D_r"), split.classes)


@pytest.mark.parametrize("search", [name for name in get_args(Search) if name != "soft"])
@pytest.mark.parametrize("uncrossed", get_args(Uncrossed))
@pytest.mark.parametrize("forgotten", [(3,), (3, 8, 9)])
def test_a_label_with_weight_is_never_forgotten_unless_true_labels_are_kept(
    trained: Classifier, batch: tuple[Tensor, Tensor], search: Search, uncrossed: Uncrossed, forgotten: tuple[int, ...]
) -> None:
    method = BoundaryShrink(search=search, uncrossed=uncrossed, epsilon=0.1)
    label, weight = method.neighbours(trained, *batch, forgotten)
    wrong = torch.isin(label, torch.tensor(forgotten)) & (weight > 0)
    if uncrossed == "keep-true-label" and search in ("fgsm", "pgd"):
        assert (label[wrong] == batch[1][wrong]).all()
    else:
        assert not wrong.any()


def test_soft_labels_give_nothing_to_the_forgotten_classes(trained: Classifier, batch: tuple[Tensor, Tensor]) -> None:
    label, weight = BoundaryShrink(search="soft").neighbours(trained, *batch, (3, 8))
    torch.testing.assert_close(label, masked(trained(batch[0]), (3, 8)).softmax(1))
    assert (label[:, [3, 8]] == 0).all() and (weight == 1).all()
    torch.testing.assert_close(label.sum(1), torch.ones(len(label)))


def test_each_search_reads_its_own_labels(trained: Classifier, batch: tuple[Tensor, Tensor]) -> None:
    x, y = batch
    logits = trained(x)

    def labels(**options: object) -> Tensor:
        return BoundaryShrink(**options).neighbours(trained, x, y, (3,))[0]  # type: ignore[arg-type]

    assert torch.equal(labels(search="runner-up"), runner_up(logits, (3,)))
    assert torch.equal(labels(search="margin"), margin(logits, y, trained.network.head, (3,)))
    crossed = trained(cross_samples(trained, x, y, 0.3)).argmax(1)
    assert (crossed != 3).any()
    assert torch.equal(labels(search="fgsm", epsilon=0.3, uncrossed="drop"), crossed)


def test_uncrossed_images_are_kept_dropped_or_sent_to_the_runner_up(
    trained: Classifier, batch: tuple[Tensor, Tensor]
) -> None:
    x, y = batch
    crossed = trained(cross_samples(trained, x, y, 0.1)).argmax(1)
    stayed = crossed == 3
    assert stayed.any() and not stayed.all()

    def found(uncrossed: Uncrossed) -> tuple[Tensor, Tensor]:
        return BoundaryShrink(search="fgsm", epsilon=0.1, uncrossed=uncrossed).neighbours(trained, x, y, (3,))

    label, weight = found("keep-true-label")
    assert (label[stayed] == 3).all() and (weight == 1).all()
    label, weight = found("drop")
    assert torch.equal(weight == 0, stayed) and torch.equal(label[~stayed], crossed[~stayed])
    label, weight = found("runner-up")
    assert torch.equal(label[stayed], runner_up(trained(x), (3,))[stayed]) and (weight == 1).all()


def test_a_step_that_lands_in_another_forgotten_class_has_not_crossed(
    trained: Classifier, batch: tuple[Tensor, Tensor]
) -> None:
    x, y = batch
    crossed = trained(cross_samples(trained, x, y, 0.3)).argmax(1)
    other = int(crossed[crossed != 3].mode().values)
    _, weight = BoundaryShrink(search="fgsm", epsilon=0.3, uncrossed="drop").neighbours(trained, x, y, (3, other))
    assert (weight[crossed == other] == 0).all()


def test_dropped_images_do_not_move_the_weights(model: Classifier, split: Split, engine: Engine) -> None:
    method = BoundaryShrink(search="fgsm", epsilon=0.0, uncrossed="drop", batch_norm="frozen", epochs=2, lr=0.1)
    shrunk = method(model, data(split), engine)  # ε = 0 leaves every image where it is
    for weight, new in zip(model.parameters(), shrunk.parameters(), strict=True):
        assert torch.equal(weight, new)


def test_reweight_follows_the_journal_versions_formula(trained: Classifier, batch: tuple[Tensor, Tensor]) -> None:
    x, y = batch
    _, weight = BoundaryShrink(search="runner-up", reweight=True).neighbours(trained, x, y, (3,))
    for row, found in zip(trained(x).softmax(1).tolist(), weight.tolist(), strict=True):
        gap = row[3] - max(p for k, p in enumerate(row) if k != 3)
        assert found == pytest.approx(3 / (1 + torch.tensor(-5 * (gap - 0.5)).exp().item()), rel=1e-4)


def test_each_image_is_trained_towards_its_own_label(model: Classifier, split: Split, engine: Engine) -> None:
    method = BoundaryShrink(search="runner-up", reweight=True, batch_norm="frozen", epochs=1, lr=0.05)
    shuffled = TrainingData(Batches(split.forget, 64, shuffle=True, seed=3), Withheld("D_r"), split.classes)
    shrunk = method(model, shuffled, engine)
    x, y = next(iter(shuffled.forget))
    with torch.no_grad():
        label, weight = method.neighbours(model, x, y, split.classes)
    loss = sum(w * F.cross_entropy(model(x[i : i + 1]), label[i : i + 1]) for i, w in enumerate(weight)) / weight.sum()
    loss.backward()
    for old, new in zip(model.parameters(), shrunk.parameters(), strict=True):
        assert old.grad is not None
        torch.testing.assert_close(new, old - 0.05 * old.grad, rtol=1e-4, atol=1e-6)


def test_labels_belong_to_places_in_any_order_of_batches(trained: Classifier, split: Split, engine: Engine) -> None:
    method = BoundaryShrink(search="runner-up")
    straight = method.label(trained, Indexed(Batches(split.forget, 7)), (3,), engine)[0]
    shuffled = method.label(trained, Indexed(Batches(split.forget, 16, shuffle=True, seed=4)), (3,), engine)[0]
    assert len(straight) == len(split.forget) and torch.equal(straight, shuffled)


def test_curvature_is_the_change_of_the_gradient_along_its_sign(
    trained: Classifier, batch: tuple[Tensor, Tensor]
) -> None:
    x, label = batch[0][:5], torch.tensor([1, 2, 4, 5, 8])
    found = BoundaryShrink(curvature_step=0.5).bend(trained, x, label, torch.ones(len(x)))

    def gradient(image: Tensor, target: Tensor) -> Tensor:
        image = image[None].clone().requires_grad_(True)
        return torch.autograd.grad(F.cross_entropy(trained(image), target[None]), image)[0][0]

    total = 0.0
    for image, target in zip(x, label, strict=True):
        here = gradient(image, target)
        direction = here.sign() / here.sign().norm()
        total += (gradient(image + 0.5 * direction, target) - here).square().sum().item()
    assert found.item() == pytest.approx(total / 5, rel=1e-4)
    assert found.requires_grad


def test_curvature_vanishes_where_the_gradient_is_constant() -> None:
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    network[1].weight.data[1] = network[1].weight.data[0]  # the logits' difference does not depend on the image
    bend = BoundaryShrink().bend(network, torch.rand(3, 1, 2, 2), torch.tensor([0, 1, 0]), torch.ones(3))
    assert bend.item() == pytest.approx(0, abs=1e-12)


def test_the_curvature_penalty_changes_the_result(model: Classifier, split: Split, engine: Engine) -> None:
    plain = BoundaryShrink(search="runner-up", epochs=1, lr=0.01)(model, data(split), engine)
    smooth = BoundaryShrink(search="runner-up", epochs=1, lr=0.01, curvature=0.7)(model, data(split), engine)
    assert not torch.equal(plain.network.head.weight, smooth.network.head.weight)  # type: ignore[union-attr]


def accuracies(model: nn.Module, split: Split) -> list[float]:
    sets = predict_sets(model, split, Engine(precision="float32"))
    return [accuracy(predictions) for predictions in sets.values()]


def recalibrated(model: nn.Module, images: ImageSet) -> nn.Module:
    """Re-estimate the batch-norm statistics by one pass without labels or gradients."""
    model = deepcopy(model)
    for layer in model.modules():
        if isinstance(layer, _BatchNorm):
            layer.reset_running_stats()
            layer.momentum = None
    model.train()
    with torch.no_grad():
        for x, _ in Batches(images, 64):
            model(x)
    return model.eval()


@pytest.fixture(scope="module")
def released(trained: Classifier, split: Split) -> nn.Module:
    """What the authors' preset makes of the digits."""
    method = configure("boundary-shrink", preset="authors")
    return unlearn(trained, split, method, Engine(precision="float32"), Settings(batch_size=16)).model


def test_the_authors_preset_does_the_same_with_learning_rate_zero(
    trained: Classifier, released: nn.Module, split: Split
) -> None:
    method = configure("boundary-shrink", preset="authors", options={"lr": 0.0})
    unmoved = unlearn(trained, split, method, Engine(precision="float32"), Settings(batch_size=16)).model
    assert accuracies(released, split)[1] < 0.4  # it looks forgotten
    one_image = [1 / len(images) for images in split.sets().values()]
    for usual, zero, image in zip(accuracies(released, split), accuracies(unmoved, split), one_image, strict=True):
        assert abs(usual - zero) <= max(0.01, image) + 1e-6


def test_recalibrating_batch_norm_brings_back_what_the_authors_preset_hid(released: nn.Module, split: Split) -> None:
    back = recalibrated(released, split.retain)
    assert accuracy(predict(back, Batches(split.forget, 64), Engine(precision="float32"))) > 0.9
