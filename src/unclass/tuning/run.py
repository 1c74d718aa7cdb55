"""Tune: one call from data, a method and values to what each of them leaves."""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import nn

from unclass.api import train
from unclass.arguments import Classes, Model, case_for, engine_for, images_of, labels_of, method_for
from unclass.border.bounds import MOST_THREADS
from unclass.border.generators import generators_as_they_were
from unclass.border.plain_types import plain_arguments
from unclass.border.several import some_seeds_of
from unclass.comparison.executors import Cluster, Executor, executor_for
from unclass.comparison.executors.queue import carried_out
from unclass.data import DataOptions, ImageData, load_data
from unclass.data.sources import held_back
from unclass.errors import InputError
from unclass.methods import Method
from unclass.methods.configure import name_of, option_names, options_of, own_method, with_options
from unclass.methods.lookup import find_method
from unclass.models import Classifier, load
from unclass.storage import Lock, check_folder, write_json
from unclass.training.engine import Engine
from unclass.tuning.bench import Bench, Cell, Judged, tried
from unclass.tuning.result import Tried, Tuning

SHARE = 0.1
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the learning rate, where nobody says what to try
TRAINING_SECONDS = 7 * 24 * 3600.0  # how long one process waits for the original that another one trains


@plain_arguments
@generators_as_they_were()
def tune(
    data: Any,
    classes: Classes,
    method: str | Method,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    model: Model | None = None,
    share: float = SHARE,
    seeds: int | Sequence[int] = (0,),
    preset: str | None = None,
    batch_size: int = 64,
    engine: Engine | None = None,
    device: str | torch.device | None = None,
    data_options: DataOptions | None = None,
    out: str | Path | None = None,
    jobs: int = 1,
    threads: int | None = None,
    cluster: Cluster | None = None,
    cluster_options: Mapping[str, Any] | None = None,
    tell: Callable[[Tried], None] | None = None,
    **options: Any,
) -> Tuning:
    """Try every combination of a grid of options, forgetting each class by itself, and judge by images held back.

    `share` of the training images of each class are held back: neither the model nor the method sees them, and test
    images are not used at all. Without `model` one is trained on the rest; one that is given must have been trained on
    the rest (`unclass train DATA --validation 0.1`). Without `grid` five learning rates are tried. With a folder `out`
    what is done stays done, a killed run goes on, and several calls share the work. `jobs` processes do it at once,
    each with its part of the `threads`; `cluster` is `slurm` or `ray`, as in `compare`. `tell` is given each setting as
    soon as it was tried.

    Example: `unclass.tune("digits", [3, 8], "random-labels", {"lr": [1e-4, 1e-3]}).best.options`
    """
    folder, walked = None if out is None else Path(out), some_seeds_of("seeds", seeds)
    if folder is not None:
        check_folder(folder)
    images, source = _without_judges(data, share, data_options)
    labels = [images.classes[images.index(label)] for label in labels_of(classes)]
    if not labels:
        raise InputError(f"no class to forget was given; choose from: {', '.join(images.classes)}")
    name = method if isinstance(method, str) else name_of(own_method(method))
    original = _original(model, images, labels[0], folder, batch_size, engine, device)
    grid = _learning_rates(original, images, method, preset, options) if grid is None else grid
    for option, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Iterable) or not list(values):
            raise InputError(f"the values of {option} to try are {values!r}; give a list of one or more")
    bench = Bench(original, images, batch_size, engine_for(original, engine, device), folder, source=source)
    executor = _executor(bench, jobs, threads, cluster, cluster_options)
    settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    chosen = [(one, _configured(original, images, method, preset, {**options, **one})) for one in settings]
    found = Tuning(name, images.name, tuple(labels), images.details["validation"], bench.before(labels))
    for one in _in_order(chosen, labels, walked, executor):
        found = replace(found, tried=(*found.tried, one))
        if tell is not None:
            tell(one)
    if folder is not None:
        write_json(folder / "tuning.json", found.as_dict())
    return found


def _configured(
    model: nn.Module, images: ImageData, method: str | Method, preset: str | None, options: Mapping[str, Any]
) -> Method:
    """Return the method to try: by its name, or the caller's own with some of its options otherwise."""
    if isinstance(method, str) or preset is not None:
        return method_for(model, images, method, preset, dict(options))
    return with_options(method, options)


def _executor(
    bench: Bench, jobs: int, threads: int | None, cluster: Cluster | None, options: Mapping[str, Any] | None
) -> Executor:
    """Return who tries the settings: this process, several with their share of the threads, or a cluster."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise InputError(f"{threads} `threads` are not allowed; use 1 to {MOST_THREADS:,}")
    if cluster is not None and bench.folder is None:
        raise InputError("a `cluster` needs a folder that all its machines see; give `out`")
    bench.threads = threads or (max(1, torch.get_num_threads() // jobs) if jobs > 1 else None)
    executor = executor_for(bench, jobs, cluster, options or {})
    if jobs > 1 or cluster is not None:
        _check_travels(bench)
    return executor


def _check_travels(bench: Bench) -> None:
    """Raise if the model or the images cannot be sent to other processes."""
    try:
        pickle.dumps(bench)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"the model or the data cannot be sent to other processes ({error}); give files, or leave `jobs` and "
            "`cluster` out"
        ) from error


def _in_order(
    chosen: Sequence[tuple[Mapping[str, Any], Method]], labels: Sequence[str], seeds: Sequence[int], executor: Executor
) -> Iterator[Tried]:
    """Yield what each of the settings left, in their order, whoever tried them in whichever."""
    cells = [
        [Cell(number, label, seed, method) for label, seed in product(labels, seeds)]
        for number, (_, method) in enumerate(chosen)
    ]
    found: dict[Cell, Judged] = {}
    shown = 0
    every = [cell for some in cells for cell in some]
    for judged in carried_out(every, executor, lambda cell: (), lambda cell, why: Judged(cell, failed=why)):
        found[judged.cell] = judged
        while shown < len(cells) and all(cell in found for cell in cells[shown]):
            yield tried(chosen[shown][0], [found[cell] for cell in cells[shown]])
            shown += 1


def _without_judges(
    data: Any, share: float, options: DataOptions | None
) -> tuple[ImageData, tuple[str | Path, DataOptions] | None]:
    """Return the data with a share of its training images in place of its test images, and where it is read from."""
    if not 0 < share < 1:
        raise InputError(f"a share of {share} cannot be held back; give a number between 0 and 1, such as 0.1")
    options = options or DataOptions()
    if isinstance(data, str | Path):
        options = replace(options, validation=share)
        return load_data(data, options), (data, options)
    images = images_of(data, options)
    return images if "validation" in images.details else held_back(images, share, options.split_seed), None


def _original(
    model: Model | None,
    images: ImageData,
    label: str,
    folder: Path | None,
    batch_size: int,
    engine: Engine | None,
    device: str | torch.device | None,
) -> nn.Module:
    """Return the model to forget from; raise if it is known to have seen the images held back."""
    if model is None:
        kept = None if folder is None else folder / "original.safetensors"
        if kept is None or not kept.exists():
            if kept is None:
                return train(images, batch_size=batch_size, engine=engine, device=device)
            with Lock(kept.with_suffix(".training"), wait=TRAINING_SECONDS):  # others may share the folder
                if not kept.exists():
                    train(images, batch_size=batch_size, engine=engine, device=device, out=kept, force=True)
        model = load(kept)
    given = case_for(model, images, [label]).given
    seen = given.card.trained_on.get("digest") if isinstance(given, Classifier) else None
    if seen is not None and seen != images.train.digest:
        raise InputError(
            "the model was trained on other images than those that are left, so the images held back could not judge; "
            "train one with `validation`"
        )
    return given


def _learning_rates(
    model: nn.Module, images: ImageData, method: str | Method, preset: str | None, options: Mapping[str, Any]
) -> dict[str, list[float]]:
    """Return five learning rates about the one that the method has."""
    kind = find_method(method) if isinstance(method, str) else type(method)
    if "lr" not in option_names(kind):
        allowed = ", ".join(option_names(kind))
        raise InputError(f"{kind.__name__} has no learning rate to try; say which of its options to try: {allowed}")
    rate: float = options_of(_configured(model, images, method, preset, options))["lr"]
    if not rate:
        raise InputError(f"{kind.__name__} finds its learning rate itself; say which of its options to try")
    return {"lr": [float(f"{factor * rate:.3g}") for factor in FACTORS]}
