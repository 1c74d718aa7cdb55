"""Choosing a method's settings on training images that were held back, never on test images."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import nn

from unclass.api import evaluate, forget, record_of, train
from unclass.arguments import Classes, Model, case_for, engine_for, images_of, labels_of, method_for
from unclass.border.generators import generators_as_they_were
from unclass.border.plain_types import plain_arguments
from unclass.border.several import some_seeds_of
from unclass.data import DataOptions, ImageData, load_data
from unclass.data.sources import held_back
from unclass.errors import Diverged, InputError
from unclass.methods import Method
from unclass.methods.configure import name_of, option_names, options_of, own_method, told_options
from unclass.methods.lookup import find_method
from unclass.metrics.evaluation import Evaluation
from unclass.models import Classifier, load, save, weights_digest
from unclass.storage import check_folder, read_json, write_json
from unclass.training.engine import Engine

SHARE = 0.1
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the learning rate, where nobody says what to try


@dataclass(frozen=True)
class Tried:
    """Settings, and the means over classes and seeds of what they leave on the images held back.

    `kept` is the accuracy on the other classes, `forgotten` that on the forgotten one; retraining has the highest
    `score`, the first less the second. `failed` says why there are no figures.
    """

    options: Mapping[str, Any]
    kept: float = 0.0
    forgotten: float = 0.0
    seconds: float = 0.0
    failed: str = ""

    @property
    def score(self) -> float:
        return float("-inf") if self.failed else self.kept - self.forgotten

    def shown(self) -> list[str]:
        """Return the accuracies and the score in %, and the seconds, as text."""
        if self.failed:
            return ["failed", "", "", ""]
        return [*(f"{100 * value:.1f}" for value in (self.kept, self.forgotten, self.score)), f"{self.seconds:.1f}"]


@dataclass(frozen=True, repr=False)
class Tuning:
    """What was tried for a method, the model before, and the share of the training images that judged.

    Example: `unclass.tune("digits", 3, "random-labels").best.options`
    """

    method: str
    data: str
    classes: tuple[str, ...]
    share: float
    before: Tried
    tried: tuple[Tried, ...] = field(default=())

    @property
    def best(self) -> Tried:
        """The settings with the highest score; of equal ones those that were tried first."""
        best = max(self.tried, key=lambda one: one.score)
        if best.failed:
            raise InputError(f"no setting of {self.method} worked ({best.failed}); try a smaller learning rate")
        return best

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "best": dict(self.best.options)}

    def __repr__(self) -> str:
        worked = [one for one in self.tried if not one.failed]
        best = ", ".join(f"{name}={value}" for name, value in self.best.options.items()) if worked else "none worked"
        return f"<Tuning of {self.method} on {self.data}: {len(self.tried)} tried, best {best}>"

    def _repr_html_(self) -> str:
        from unclass.report.notebook import table_html  # the page of results is not for everybody who imports this

        names = list(self.tried[0].options) if self.tried else []
        lines = [
            [*(str(one.options.get(name, "before")) for name in names), *one.shown()]
            for one in (self.before, *self.tried)
        ]
        title = f"{self.method}: accuracy on images held back, in %"
        return table_html([*names, "others", "forgotten", "score", "seconds"], lines, title)


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
    tell: Callable[[Tried], None] | None = None,
    **options: Any,
) -> Tuning:
    """Try every combination of a grid of options, forgetting each class by itself, and judge by images held back.

    `share` of the training images of each class are held back: neither the model nor the method sees them, and test
    images are not used at all. Without `model` one is trained on the rest; one that is given must have been trained on
    the rest (`unclass train DATA --validation 0.1`). Without `grid` five learning rates are tried. With a folder `out`
    what is done stays done, and a killed run goes on. `tell` is given each setting as soon as it was tried.

    Example: `unclass.tune("digits", [3, 8], "random-labels", {"lr": [1e-4, 1e-3]}).best.options`
    """
    folder, walked = None if out is None else Path(out), some_seeds_of("seeds", seeds)
    if folder is not None:
        check_folder(folder)
    images = _without_judges(data, share, data_options)
    labels = [images.classes[images.index(label)] for label in labels_of(classes)]
    if not labels:
        raise InputError(f"no class to forget was given; choose from: {', '.join(images.classes)}")
    name = method if isinstance(method, str) else name_of(own_method(method))
    original = _original(model, images, labels[0], folder, batch_size, engine, device)
    grid = _learning_rates(original, images, method, preset, options) if grid is None else grid
    for option, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Iterable) or not list(values):
            raise InputError(f"the values of {option} to try are {values!r}; give a list of one or more")
    bench = _Bench(original, images, walked, batch_size, engine_for(original, engine, device), folder)
    share = images.details["validation"]
    found = Tuning(name, images.name, tuple(labels), share, bench.before(labels))
    for values in product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        one = bench.tried(chosen, method_for(original, images, method, preset, {**options, **chosen}), labels)
        found = replace(found, tried=(*found.tried, one))
        if tell is not None:
            tell(one)
    if folder is not None:
        write_json(folder / "tuning.json", found.as_dict())
    return found


@dataclass(frozen=True)
class _Bench:
    """Where settings are tried: the original, the images with those held back in place of test images."""

    original: nn.Module
    images: ImageData
    seeds: Sequence[int]
    batch_size: int
    engine: Engine
    folder: Path | None

    def judge(self, model: nn.Module, label: str) -> Evaluation:
        """Return the scores on the images held back alone."""
        only = replace(self.images, train=self.images.train.of_classes(()))
        return evaluate(model, only, [label], engine=self.engine)

    def before(self, labels: Sequence[str]) -> Tried:
        found = [self.judge(self.original, label).as_dict() for label in labels]
        kept, forgotten = (fmean(one[name] for one in found) for name in _JUDGED)
        return Tried({}, kept, forgotten)

    def tried(self, chosen: Mapping[str, Any], method: Method, labels: Sequence[str]) -> Tried:
        cells = list(self.cells(method, labels))
        if failed := [one["failed"] for one in cells if one["failed"]]:
            return Tried(chosen, failed=failed[0])
        kept, forgotten, seconds = (fmean(one[name] for one in cells) for name in (*_JUDGED, "seconds"))
        return Tried(chosen, kept, forgotten, seconds)

    def cells(self, method: Method, labels: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Return the figures for each class and seed; those that an earlier run left are read."""
        for label, seed in product(labels, self.seeds):
            path = None if self.folder is None else self.folder / "cells" / f"{self.key(method, label, seed)}.json"
            if path is not None and path.exists():
                yield _read_cell(path)
                continue
            cell = self.cell(method, label, seed)
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_json(path, cell)
            yield cell

    def cell(self, method: Method, label: str, seed: int) -> dict[str, Any]:
        about = {"method": name_of(method), "options": options_of(method), "class": label, "seed": seed}
        try:
            unlearned = forget(
                self.original, self.images, [label], method,
                seed=seed, batch_size=self.batch_size, engine=replace(self.engine), evaluated=False,
            )  # fmt: skip
        except Diverged as error:
            return {**about, "failed": str(error)}
        scores, cost = self.judge(unlearned, label).as_dict(), record_of(unlearned).cost
        seconds = 0.0 if cost is None else cost.seconds
        return {**about, "failed": "", **{name: scores[name] for name in _JUDGED}, "seconds": seconds}

    def key(self, method: Method, label: str, seed: int) -> str:
        """Return a name for what determines a cell's figures."""
        model, data = weights_digest(self.original), self.images.train.digest
        about = (
            name_of(method),
            told_options(method),
            label,
            seed,
            self.batch_size,
            self.engine.precision,
            model,
            data,
        )
        return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()[:24]


_JUDGED = ("accuracy_retain_test", "accuracy_forget_test")


def _read_cell(path: Path) -> dict[str, Any]:
    """Return the figures that an earlier run left; raise if they are none."""
    cell = read_json(path)
    figures = [] if cell.get("failed") else [cell.get(name) for name in (*_JUDGED, "seconds")]
    if not isinstance(cell.get("failed"), str) or not all(isinstance(one, int | float) for one in figures):
        raise InputError(f"{path} does not hold what a setting came to; delete it, and it is tried again")
    return cell


def _without_judges(data: Any, share: float, options: DataOptions | None) -> ImageData:
    """Return the data with a share of its training images in place of its test images."""
    if not 0 < share < 1:
        raise InputError(f"a share of {share} cannot be held back; give a number between 0 and 1, such as 0.1")
    options = options or DataOptions()
    if isinstance(data, str | Path):
        return load_data(data, replace(options, validation=share))
    images = images_of(data, options)
    return images if "validation" in images.details else held_back(images, share, options.split_seed)


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
            trained = train(images, batch_size=batch_size, engine=engine, device=device)
            if kept is None:
                return trained
            kept.parent.mkdir(parents=True, exist_ok=True)
            save(trained, kept)
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
    rate: float = options_of(method_for(model, images, method, preset, dict(options)))["lr"]
    if not rate:
        raise InputError(f"{kind.__name__} finds its learning rate itself; say which of its options to try")
    return {"lr": [float(f"{factor * rate:.3g}") for factor in FACTORS]}
