"""Which methods the bench runs, how much of each it measures, and how the time of the whole run follows from that."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import nn

from unclass.benchmark.machine import GIGA
from unclass.benchmark.result import Row
from unclass.benchmark.timing import Cost, Run, count_operations, spread, time_run
from unclass.data import ImageData, ImageSet, Split
from unclass.methods import BENCH, DEFAULT_METHOD, REFERENCE, Counts, Method
from unclass.methods.configure import configure, options_of
from unclass.running import Settings, original_recipe
from unclass.training.engine import Engine

SHIFT = DEFAULT_METHOD
AUTHORS = next(spec for spec in BENCH if spec.endswith("@authors"))  # what all are compared with
COUNTED_IMAGES = 512
WHOLE_SECONDS = 2.0  # a run that takes less is measured with all its epochs
LONG_EPOCHS = 30  # retraining as the paper's text has it


@dataclass(frozen=True)
class Entrant:
    """A method as it is measured: `measured_epochs` of its `epochs`, on a share of its images.

    `searches` is how often the whole does what comes before the training.
    """

    name: str
    method: Method
    split: Split
    images: int
    epochs: int
    operations: Cost
    measured_epochs: int = 1
    share: float = 1.0
    searches: int = 1

    def whole(self, cost: Cost) -> float:
        """Return the whole of a measured cost, which is linear in epochs and images."""
        return cost.whole(self.searches, self.epochs / self.measured_epochs / self.share)

    def time(self, model: nn.Module, engine: Engine, settings: Settings) -> Run:
        return time_run(model, self.split, self.method, engine, settings)

    def seconds(self, runs: Sequence[Run]) -> tuple[float, tuple[float, float]]:
        """Return what the whole takes by these runs: the median, and the least and the most."""
        return spread([self.whole(run.seconds) for run in runs])

    def note(self) -> str:
        """Say in words what of a row was not measured."""
        parts = []
        if self.measured_epochs < self.epochs:
            parts.append(f"{self.measured_epochs} of {self.epochs} epochs measured")
        if self.share < 1:
            parts.append(f"on {round(self.share * self.images):,} of {self.images:,} images")
        if self.searches > 1:
            parts.append(f"the measured search added {self.searches - 1} times, as the released code repeats it")
        return ", ".join(parts)


def entrant(spec: str, model: nn.Module, data: ImageData, split: Split, engine: Engine, settings: Settings) -> Entrant:
    """Return how a boundary method is measured: one epoch, or all of them where they take less than two seconds."""
    name, _, preset = spec.partition("@")
    method = configure(name, data=data.name, preset=preset or None)
    epochs = int(options_of(method).get("epochs", 1))
    images = len(split.forget)
    if stops_by_itself(method, split, settings):
        operations, _ = count_operations(model, split, method, engine, settings)
        return Entrant(spec, method, split, images, epochs, operations, measured_epochs=epochs)
    one = configure(name, data=data.name, preset=preset or None, options={"epochs": 1})
    few = replace(split, forget=first(split.forget, COUNTED_IMAGES))
    scale = images / len(few.forget)
    counted, seconds = count_operations(model, few, one, engine, settings)
    operations = Cost(counted.before * scale, counted.training * scale)
    found = Entrant(spec, one, split, images, epochs, operations, searches=method.searches_as_released)
    if seconds * found.whole(operations) / counted.whole() > WHOLE_SECONDS:
        return found
    whole = Cost(operations.before, epochs * operations.training)
    return replace(found, method=method, measured_epochs=epochs, operations=whole)


def stops_by_itself(method: Method, split: Split, settings: Settings) -> bool:
    """Whether the weights and the images decide when a method ends: then it is always run whole."""
    counts = Counts(len(split.forget), len(split.retain), len(split.classes) + 1, settings.batch_size)
    least, most = method.passes(counts).tail
    return least != most


def retraining(
    model: nn.Module, data: ImageData, split: Split, engine: Engine, settings: Settings, most_images: int
) -> Entrant:
    """Return one epoch of retraining by the original's recipe, on at most so many images."""
    recipe = original_recipe(model, data.name)
    one = replace(recipe, epochs=1)
    some, few = first(split.retain, most_images), first(split.retain, min(COUNTED_IMAGES, most_images))
    counted, _ = count_operations(model, replace(split, retain=few), one, engine, settings)
    scale = len(some) / len(few)
    operations = Cost(counted.before, counted.training * scale)
    share = len(some) / len(split.retain)
    measured = replace(split, retain=some)
    return Entrant(REFERENCE, one, measured, len(split.retain), recipe.epochs, operations, share=share)


def by_epochs(recipe: Entrant) -> list[Entrant]:
    """Return retraining for the epochs of its recipe and, if that is another number, for 30 as in the paper."""
    counts = dict.fromkeys((recipe.epochs, LONG_EPOCHS))
    return [replace(recipe, name=retrain_name(epochs), epochs=epochs) for epochs in counts]


def retrain_name(epochs: int) -> str:
    return f"{REFERENCE} ({epochs} epochs)"


def first(images: ImageSet, count: int) -> ImageSet:
    """Return the first images, or all if there are fewer."""
    return images.select(torch.arange(min(count, len(images))))


def rows(
    found: Sequence[tuple[Entrant, Sequence[Run]]], retrained: str, forward: float, peak: float
) -> tuple[Row, ...]:
    """Return the table. `forward` are the operations of one image's forward pass, `peak` FLOP/s."""
    seconds = {each.name: each.seconds(runs)[0] for each, runs in found}
    return tuple(_row(each, runs, forward, peak, seconds[AUTHORS], seconds[retrained]) for each, runs in found)


def _row(found: Entrant, runs: Sequence[Run], forward: float, peak: float, authors: float, retrained: float) -> Row:
    seconds, bounds = found.seconds(runs)
    before = statistics.median(run.seconds.before for run in runs)
    operations = found.whole(found.operations)
    return Row(
        method=found.name,
        seconds=seconds,
        spread=bounds,
        runs=len(runs),
        epochs=found.epochs,
        measured_epochs=found.measured_epochs,
        before_training_seconds=before,
        seconds_with_one_search=replace(found, searches=1).seconds(runs)[0],
        repeated_search_seconds=(found.searches - 1) * before,
        images=found.images,
        passes=operations / (found.images * forward),
        gflop=operations / GIGA,
        gflop_per_second=operations / seconds / GIGA,
        share_of_peak=operations / seconds / peak,
        peak_memory_gb=max(run.memory.peak for run in runs) / GIGA,
        memory_increase_gb=max(run.memory.increase for run in runs) / GIGA,
        note=found.note(),
        times_faster_than_authors=authors / seconds,
        times_faster_than_retrain=retrained / seconds,
    )
