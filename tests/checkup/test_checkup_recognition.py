"""Wrong normalisations and shuffled classes are told from a network that knows nothing."""

from dataclasses import replace

import torch
from consulting import consult, relabelled
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from unclass.checkup import worst
from unclass.checkup.recognition import clearly_better, reordered
from unclass.data import Batches, ImageData
from unclass.models import Classifier
from unclass.models.networks.small_cnn import SmallCNN


class Shifted(nn.Module):
    """A network that is far off unless its pictures are normalised."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        return self.network(torch.where(x.amin(dim=(1, 2, 3), keepdim=True) < 0, x, -9 * x))  # type: ignore[no-any-return]


def test_wrong_normalisation_is_told_with_both_accuracies_and_the_option(
    trained: Classifier, digits: ImageData
) -> None:
    card = replace(trained.card, mean=(0.0,), std=(1 / 255,))
    found = consult(Classifier(trained.network, card), digits)["normalisation"]
    assert found.status == "wrong"
    assert found.says.count("%") == 2 and "mean and std of 0.5" in found.says
    assert found.advice == "give `model` small-cnn `mean` 0.5 `std` 0.5"


def test_a_bare_network_is_told_to_normalise_its_images(trained: Classifier, digits: ImageData) -> None:
    found = consult(Shifted(trained.network), digits)["normalisation"]
    assert found.status == "wrong" and found.advice == "normalise the images with mean 0.5 and std 0.5"


def test_what_somebody_normalised_already_is_taken_as_it_is(trained: Classifier, digits: ImageData) -> None:
    x, y = next(iter(Batches(digits.train, len(digits.train))))
    found = consult(trained.network, TensorDataset(2 * x - 1, y))
    assert "done by your own code" in found["normalisation"].says
    assert found["accuracy"].status == "good" and "training images" in found["accuracy"].says
    assert worst(found.values()) == "good"


def test_shuffled_labels_are_told_from_a_model_that_knows_nothing(trained: Classifier, digits: ImageData) -> None:
    order = [(index + 3) % 10 for index in range(10)]
    found = consult(trained, relabelled(digits, order))
    shuffled = found["accuracy"]
    assert found["normalisation"].status == "good"
    assert shuffled.status == "wrong" and "in another order of classes" in shuffled.says
    assert "the model says 7 where the data says 0" in shuffled.says
    torch.manual_seed(0)
    ignorant = Classifier(SmallCNN(10, width=4), trained.card)
    guessing = consult(ignorant, digits)["accuracy"]
    assert guessing.status == "wrong" and "as by guessing (10%)" in guessing.says


def test_two_classes_that_were_swapped_are_named(trained: Classifier, digits: ImageData) -> None:
    found = consult(trained, relabelled(digits, [1, 0, *range(2, 10)]))["accuracy"]
    assert found.status == "wrong"
    assert "the model says 1 where the data says 0, 0 where the data says 1" in found.says


def test_chance_is_never_taken_for_an_order_of_classes() -> None:
    labels = torch.arange(10).repeat(25)
    for seed in range(50):
        seen = torch.randint(10, (250,), generator=torch.Generator().manual_seed(seed))
        assert reordered(labels, seen, 10) is None
    assert reordered(labels, (labels + 1) % 10, 10) == (1.0, {index: (index + 1) % 10 for index in range(10)})
    assert reordered(labels, labels, 10) is None


def test_better_means_clearly_better() -> None:
    all_right, half = torch.ones(100, dtype=torch.bool), torch.arange(100) % 2 == 0
    assert clearly_better(all_right, half) and not clearly_better(half, all_right)
    assert not clearly_better(half, half) and not clearly_better(half, ~half)
