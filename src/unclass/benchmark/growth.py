"""How the time of our method grows: with the images to forget, those that stay, the classes, and the model."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import nn

from unclass.benchmark.result import ClassCurve, Curve, Growth, Point, RetainCurve
from unclass.benchmark.timing import Conditions, Run, interleave, spread
from unclass.data import ImageSet, Split
from unclass.methods import BENCH, DEFAULT_METHOD, Method
from unclass.methods.configure import configure, name_of
from unclass.models import MODELS
from unclass.models.cut import flops

FORGET_SIZES = (250, 500, 1000, 2000)
RETAIN_TIMES = (1, 10)
CLASS_COUNTS = (10, 1_000, 100_000)
WIDTHS = (0.25, 0.5, 1.0)
PICTURE = (3, 32, 32)
HEAD_FEATURES_WIDTH = 64  # of a small CNN: 128 features, so that a head of 10⁵ rows is 51 MB
TIMED = tuple(dict.fromkeys(spec.partition("@")[0] for spec in BENCH))
PLAIN_TRAINING = "random-labels"  # trains all weights on D_f, and adds nothing to the model


def growth(model: nn.Module, split: Split, method: Method, conditions: Conditions) -> Growth:
    """Return seconds against |D_f|, |D_r|, the number of classes and the size of the model."""
    return Growth(
        forget_growth(model, split, method, conditions),
        retain_growth(model, split, method, conditions),
        class_growth(conditions),
        model_growth(conditions),
    )


def forget_growth(
    model: nn.Module, split: Split, method: Method, conditions: Conditions, sizes: Sequence[int] = FORGET_SIZES
) -> Curve:
    """Time against |D_f|; where there are too few images, they are repeated."""
    splits = {size: replace(split, forget=repeated(split.forget, size)) for size in sizes}
    conditions.time(model, splits[sizes[0]], method)
    runs = {size: partial(conditions.time, model, each, method) for size, each in splits.items()}
    return curve(interleave(runs, conditions.repeats, conditions.progress, "growth with D_f"), name_of(method))


def retain_growth(model: nn.Module, split: Split, method: Method, conditions: Conditions) -> RetainCurve:
    """Time against |D_r|, the same images repeated tenfold, with few images to forget."""
    count = len(split.retain)
    forget = repeated(split.forget, FORGET_SIZES[0])
    splits = {
        times * count: replace(split, forget=forget, retain=repeated(split.retain, times * count))
        for times in RETAIN_TIMES
    }
    runs = {size: partial(conditions.time, model, each, method) for size, each in splits.items()}
    results = interleave(runs, max(3, conditions.repeats), conditions.progress, "growth with D_r")
    found = curve(results, name_of(method))
    few, many = found.points
    noise = max((point.spread[1] - point.spread[0]) / point.seconds for point in (few, many))
    return RetainCurve(found.points, found.exponent, many.seconds / few.seconds, noise)


def model_growth(conditions: Conditions, widths: Sequence[float] = WIDTHS, images: int = 64) -> Curve:
    """Time against the operations of one forward pass: All-CNN of several widths on random pictures."""
    models = [MODELS["all-cnn"](10, channels=PICTURE[0], width=width).eval() for width in widths]
    sizes = [flops(model, torch.rand(1, *PICTURE)) for model in models]
    split, method = random_split(images), configure(DEFAULT_METHOD)
    conditions.time(models[0], split, method)
    runs = {size: partial(conditions.time, model, split, method) for size, model in zip(sizes, models, strict=True)}
    return curve(interleave(runs, conditions.repeats, conditions.progress, "growth with the model"), DEFAULT_METHOD)


def class_growth(
    conditions: Conditions, names: Sequence[str] = TIMED, counts: Sequence[int] = CLASS_COUNTS, images: int = 8
) -> ClassCurve:
    """Time and memory against the number of classes, on a small CNN and random pictures.

    `extra_heads` is the memory that a method takes beyond plain training of the same model, in heads of the largest
    count: a full copy of the head for one shadow neuron would show as 1.
    """
    methods = {name: configure(name) for name in (*names, PLAIN_TRAINING)}
    split = random_split(images)
    runs: dict[tuple[str, int], Callable[[], Run]] = {}
    for count in sorted(counts):
        model = MODELS["small-cnn"](count, channels=PICTURE[0], width=HEAD_FEATURES_WIDTH).eval()
        if not runs:
            for method in methods.values():  # what the very first run of a method takes is no growth
                conditions.time(model, split, method)
        runs |= {(name, count): partial(conditions.time, model, split, method) for name, method in methods.items()}
    results = interleave(runs, conditions.repeats, conditions.progress, "growth with the classes")
    increase = {key: statistics.median(run.memory.increase for run in found) for key, found in results.items()}
    head = 4 * max(counts) * 2 * HEAD_FEATURES_WIDTH
    plain = increase[PLAIN_TRAINING, max(counts)]
    return ClassCurve(
        tuple(
            replace(point(count, name, found), memory_increase_mb=increase[name, count] / 1e6)
            for (name, count), found in results.items()
        ),
        head_mb=head / 1e6,
        extra_heads={name: (increase[name, max(counts)] - plain) / head for name in names},
    )


def curve(results: Mapping[int, Sequence[Run]], method: str) -> Curve:
    """Return the points of a curve, and the exponent that fits them best."""
    points = tuple(point(size, method, runs) for size, runs in results.items())
    return Curve(points, exponent([(point.size, point.seconds) for point in points]))


def point(size: int, method: str, runs: Sequence[Run]) -> Point:
    return Point(size, method, *spread([run.seconds.whole() for run in runs]))


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the least-squares line through the logarithms."""
    x, y = ([math.log(point[axis]) for point in points] for axis in (0, 1))
    return statistics.linear_regression(x, y).slope


def repeated(images: ImageSet, count: int) -> ImageSet:
    """Return so many images, from the first on and around again."""
    return images.select(torch.arange(count) % len(images))


def random_split(count: int) -> Split:
    """Return pictures of noise: those to forget are of class 0, those that stay of class 1."""
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (count, *PICTURE), dtype=torch.uint8, generator=generator)
    forget, retain = (ImageSet.of(pixels, torch.full((count,), label)) for label in (0, 1))
    return Split((0,), retain, forget, retain, forget)
