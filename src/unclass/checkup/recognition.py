"""How well a model knows a sample: under its own normalisation, under the usual others, in another order of classes."""

import math
from collections.abc import Sequence

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

from unclass.checkup.finding import Finding, doubtful, good, wrong
from unclass.checkup.sample import Sample
from unclass.models import Classifier
from unclass.models.any_output import looking
from unclass.models.origins import IMAGENET, Normalisation
from unclass.running import PLAIN
from unclass.training.engine import Engine

USUAL: dict[str, Normalisation] = {
    "none at all": ((0.0,), (1.0,)),
    "mean and std of 0.5": PLAIN,
    "ImageNet's mean and std": IMAGENET,
    "pixels of [0, 255]": ((0.0,), (1 / 255,)),
}
CLEARLY, DEVIATIONS = 0.05, 3.0  # better by so much, and by so many standard deviations of the paired difference


def own_normalisation(model: nn.Module) -> Normalisation:
    """Return what a model does to pixels itself."""
    return (model.card.mean, model.card.std) if isinstance(model, Classifier) else ((0.0,), (1.0,))


def alternatives(model: nn.Module, sample: Sample) -> dict[str, Normalisation]:
    """Return the usual normalisations that are not the model's own; none where somebody else's code normalises."""
    own, channels = own_normalisation(model), sample.x.shape[1]
    fitting = {name: one for name, one in USUAL.items() if len(one[0]) in (1, channels)}
    return {name: one for name, one in fitting.items() if not _same(one, own)} if sample.pixels else {}


def classify(model: nn.Module, x: Tensor, engine: Engine, other: Normalisation | None = None) -> Tensor:
    """Return the class that a model sees in each picture, if need be normalised in another way."""
    if other is not None:
        (mean, std), (own_mean, own_std) = map(_tensors, (other, own_normalisation(model)))
        x = (x - mean) / std * own_std + own_mean  # what the model does to it itself is undone beforehand
    with looking(model):
        parts = [model(engine.move(part, part)[0]).argmax(1).cpu() for part in x.split(64)]
    return torch.cat(parts)


def check_normalisation(
    model: nn.Module, sample: Sample, seen: Tensor, others: dict[str, Tensor], count: int, one_class: bool
) -> tuple[Finding, Tensor]:
    """Compare the usual normalisations; return with the finding what was seen under the best of them.

    Another one is to blame only if it explains more than another order of the `count` classes does.
    """
    own = "the model's own normalisation" if isinstance(model, Classifier) else "pixels in [0, 1]"
    if not others:
        return good("normalisation", "done by your own code, so no other was tried"), seen
    shares = {name: _share(other == sample.y) for name, other in others.items()}
    best = max(shares, key=lambda name: shares[name])
    moved = None if one_class else reordered(sample.y, seen, count)
    if moved is not None and moved[0] > shares[best]:
        says = f"{moved[0]:.0%} are right under {own}, in another order of classes; {shares[best]:.0%} under {best}"
        return good("normalisation", says), seen
    right = seen == sample.y
    says = f"{_share(right):.0%} of {len(sample)} {sample.kind} images are right under {own}"
    guessed = not one_class and near_chance(shares[best], count, len(sample))
    if guessed or not clearly_better(others[best] == sample.y, right):
        return good("normalisation", f"{says}, under others not clearly more ({best}: {shares[best]:.0%})"), seen
    found = doubtful if one_class else wrong
    return found("normalisation", f"{says}, {shares[best]:.0%} under {best}", option_of(model, USUAL[best])), others[
        best
    ]


def check_accuracy(sample: Sample, seen: Tensor, classes: Sequence[str], one_class: bool) -> Finding:
    """A model should know its classes better than by guessing, and in the order of the data's."""
    share, chance = _share(seen == sample.y), 1 / len(classes)
    says = f"{share:.0%} of {len(sample)} {sample.kind} images are right"
    if one_class:
        found = f"{says}, all of one class, so that guessing cannot be told from knowing"
        advice = "check weights and normalisation with images of every class"
        return good("accuracy", found) if share >= 0.5 else doubtful("accuracy", found, advice)
    if moved := reordered(sample.y, seen, len(classes)):
        fitted, order = moved
        pairs = [f"{classes[theirs]} where the data says {classes[ours]}" for ours, theirs in order.items()]
        shown = ", ".join(pairs[:3]) + (", …" if len(pairs) > 3 else "")
        return wrong(
            "accuracy",
            f"{says}, but {fitted:.0%} in another order of classes: the model says {shown}",
            "put the classes in the order of training: name folders or labels by the model's index, 0, 1, …",
        )
    if near_chance(share, len(classes), len(sample)):
        return wrong(
            "accuracy", f"{says}, as by guessing ({chance:.0%})", "give the weights, data and `size` of training"
        )
    return good("accuracy", f"{says}, {chance:.1%} by guessing")


def reordered(labels: Tensor, seen: Tensor, count: int) -> tuple[float, dict[int, int]] | None:
    """Return the order of classes that fits clearly better than the given one, and how well; None if none does.

    Every second image of each class tells the order, the others test it, so that chance is not taken for an order.
    """
    turn = torch.zeros_like(labels)
    for label in labels.unique():
        rows = (labels == label).nonzero().flatten()
        turn[rows] = torch.arange(len(rows)) % 2
    tells, tests = turn == 0, turn == 1
    if not tests.any():
        return None
    present, row = labels.unique(return_inverse=True)
    table = 0.1 * (torch.arange(count) == present[:, None])  # if two orders fit equally well, keep the given one
    table.index_put_((row[tells], seen[tells]), torch.ones(()), accumulate=True)
    order = torch.from_numpy(linear_sum_assignment(table.numpy(), maximize=True)[1])
    fitted, given = order[row[tests]] == seen[tests], labels[tests] == seen[tests]
    if not clearly_better(fitted, given):
        return None
    pairs = zip(present.tolist(), order.tolist(), strict=True)
    return _share(fitted), {ours: theirs for ours, theirs in pairs if ours != theirs}


def near_chance(share: float, classes: int, images: int) -> bool:
    """Whether so many images may be right by guessing."""
    chance = 1 / classes
    return share <= chance + DEVIATIONS * math.sqrt(chance * (1 - chance) / images)


def clearly_better(new: Tensor, old: Tensor) -> bool:
    """Whether `new` is right more often than `old` on the same images, and not by chance (McNemar's test)."""
    gained, lost = int((new & ~old).sum()), int((old & ~new).sum())
    return gained - lost >= CLEARLY * len(old) and gained - lost > DEVIATIONS * math.sqrt(gained + lost)


def option_of(model: nn.Module, normalisation: Normalisation) -> str:
    """Return how to say that pictures are to be normalised in another way."""
    mean, std = (",".join(f"{value:.4g}" for value in values) for values in normalisation)
    if not isinstance(model, Classifier):
        return f"normalise the images with mean {mean} and std {std}"
    return f"give `model` {model.card.architecture} `mean` {mean} `std` {std}"


def _share(right: Tensor) -> float:
    return right.float().mean().item()


def _tensors(normalisation: Normalisation) -> tuple[Tensor, Tensor]:
    mean, std = (torch.tensor(values).view(-1, 1, 1) for values in normalisation)
    return mean, std


def _same(one: Normalisation, other: Normalisation) -> bool:
    return all(
        torch.allclose(*torch.broadcast_tensors(a, b)) for a, b in zip(_tensors(one), _tensors(other), strict=True)
    )
