"""One run, one table: the boundary methods and retraining on the same model and images, and how time grows."""

import os
import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial

import torch
from torch import nn

from unclass.benchmark.entrants import Entrant, by_epochs, entrant, retraining, rows
from unclass.benchmark.growth import growth
from unclass.benchmark.machine import GIGA, gemm_peak
from unclass.benchmark.promises import bars
from unclass.benchmark.result import Bench, Row, Subject
from unclass.benchmark.stem import time_stem
from unclass.benchmark.timing import Conditions, Run, interleave
from unclass.border.bounds import MOST_IMAGES_IN_A_BENCH, MOST_REPEATS
from unclass.data import ImageData, Split
from unclass.errors import InputError
from unclass.methods import BENCH, REFERENCE
from unclass.models import Classifier
from unclass.models.cut import flops
from unclass.progress import silent
from unclass.records import environment
from unclass.running import Settings
from unclass.training.engine import Engine

RETRAIN_IMAGES = 2_560


def check_counts(repeats: int, retrain_images: int) -> None:
    """Raise unless methods can be timed so often, and retraining with so many images."""
    for what, value, least, most in (
        ("repeats", repeats, 1, MOST_REPEATS), ("retrain_images", retrain_images, 2, MOST_IMAGES_IN_A_BENCH),
    ):  # fmt: skip
        if not least <= value <= most:
            raise InputError(f"`{what}` is {repr(value)[:80]}; use {least} to {most:,}")


def measure_methods(
    model: nn.Module,
    data: ImageData,
    split: Split,
    engine: Engine,
    settings: Settings,
    *,
    repeats: int = 3,
    retrain_images: int = RETRAIN_IMAGES,
    grow: bool = True,
) -> Bench:
    """Measure; the result has bars only for the data and the network that something was promised for."""
    check_counts(repeats, retrain_images)
    load = busy()
    quiet = replace(engine, progress=silent)  # drawing a bar would be timed too
    peaks = {name: gemm_peak(name, engine.device) for name in dict.fromkeys(("float32", engine.precision))}
    specs = engine.progress(BENCH, "counting operations", len(BENCH))
    entrants = [entrant(spec, model, data, split, quiet, settings) for spec in specs]
    entrants.append(retraining(model, data, split, quiet, settings, retrain_images))
    runs = {each.name: partial(each.time, model, quiet, settings) for each in entrants}
    began = time.perf_counter(), time.process_time()
    timed = interleave(runs, repeats, engine.progress, "bench")
    wall, worked = time.perf_counter() - began[0], time.process_time() - began[1]
    conditions = Conditions(quiet, settings, repeats, engine.progress)
    shift, peak = entrants[0].method, peaks[engine.precision]
    result = Bench(
        data=data.name,
        model=subject(model),
        forget_classes=tuple(data.classes[index] for index in split.classes),
        counts={"forget": len(split.forget), "retain": len(split.retain)},
        precision=engine.precision,
        hardware={**environment().hardware, "threads": torch.get_num_threads(), "load": load},
        repeats=repeats,
        processor_share=worked / wall,
        rows=_rows(entrants, timed, _forward(model, split, engine), peak),
        peak={name: value / GIGA for name, value in peaks.items()},
        memory_is_by_row=all(run.memory.is_own for found in timed.values() for run in found),
        stem=time_stem(model, split.forget, shift, conditions, peak),
        growth=growth(model, split, shift, conditions) if grow else None,
    )
    return replace(result, bars=bars(result))


def subject(model: nn.Module) -> Subject:
    architecture = model.card.architecture if isinstance(model, Classifier) else type(model).__name__
    return Subject(architecture, sum(weight.numel() for weight in model.parameters()))


def busy() -> float:
    """Return how many processes kept the machine busy in the last minute; 0 where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _rows(
    entrants: Sequence[Entrant], timed: Mapping[str, Sequence[Run]], forward: float, peak: float
) -> tuple[Row, ...]:
    """Return the table's rows; the last one measured, retraining, gives a row for each number of epochs."""
    retrained = by_epochs(entrants[-1])
    found = [(each, timed[each.name]) for each in entrants[:-1]]
    found += [(each, timed[REFERENCE]) for each in retrained]
    return rows(found, retrained[0].name, forward, peak)


def _forward(model: nn.Module, split: Split, engine: Engine) -> int:
    """Return the operations of one forward pass of one picture."""
    pixels = split.forget.read(torch.tensor([0])).float().div_(255)
    return flops(engine.place(deepcopy(model)).eval(), engine.move(pixels, split.forget.labels[:1])[0])
