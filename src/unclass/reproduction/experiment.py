"""Experiments: small TOML files, one for each table or figure, in folders that share a setup.

A folder holds `setup.toml` (data, model, and what to run at each scale) beside its experiments. Those of the paper are
part of the package: `cifar10` and `faces`. docs/paper.md explains every key.
"""

import math
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from unclass.border.offline import reading
from unclass.comparison.plan import choose
from unclass.errors import InputError, unknown
from unclass.metrics import SCORES
from unclass.report.paper.experiment import Experiment, Setup
from unclass.storage import is_there, read_text

SCALES = ("smoke", "fair", "full")
DRAWINGS = ("table", "attack-success", "time", "attention", "decision-space", "entropy", "recalibration")
COSTS = ("seconds", "speed-up", "images of D_r", "seconds for all of D_r", "training + s", "disk GB")
COLUMNS = (*SCORES.values(), *COSTS)
SETUP = "setup.toml"

_EXPERIMENT: dict[str, type] = {
    "title": str, "shows": str, "draw": str, "methods": list, "columns": list, "across": bool, "paper": dict,
    "setup": str,
}  # fmt: skip
_SETUP: dict[str, type] = {
    "title": str, "about": str, "data": str, "size": int, "people": int, "per_class": int, "test_per_class": int,
    "model": str, "model_options": dict, "pretrained": bool, "preset": str, "recipe": dict, "batch_size": int,
    "runs": list, "seeds_of": dict, "without": dict,
}  # fmt: skip
_WORDS = {str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}


def built_in() -> Path:
    """Return the folder that holds the paper's own experiments."""
    return Path(str(resources.files("unclass.reproduction") / "experiments"))


def find(name: str) -> tuple[Path, list[Path]]:
    """Return the setup and the experiments that `cifar10`, `cifar10/table1`, a folder or a file stands for."""
    known = sorted(folder.name for folder in built_in().iterdir() if folder.is_dir())
    for path in (built_in() / name, built_in() / f"{name}.toml", Path(name)):
        if not is_there(path):
            continue
        if path.is_dir() and (path / SETUP).is_file():
            return path / SETUP, sorted(file for file in path.glob("*.toml") if file.name != SETUP)
        if path.is_file() and path.name != SETUP:
            return _setup_of(path), [path]
    raise unknown("experiment", name, [*known, *(f"{one}/{file.stem}" for one in known for file in find(one)[1])])


def read_experiment(path: Path) -> Experiment:
    """Read an experiment and make sure that all of it is known."""
    with reading(f"{path} is no experiment: it", "correct it"):
        return _experiment(path)


def _experiment(path: Path) -> Experiment:
    content = _read(path, _EXPERIMENT, ("title", "draw", "methods"))
    content.pop("setup", None)
    experiment = Experiment(path.stem, **{"shows": "", **content, **_tuples(content, "methods", "columns")})
    if experiment.draw not in DRAWINGS:
        raise unknown("value of draw", experiment.draw, DRAWINGS, f" in {path}")
    if (experiment.draw == "table") != bool(experiment.columns):
        raise InputError(f"{path}: a table needs columns, and a figure has none; choose from: {', '.join(COLUMNS)}")
    for column in experiment.columns:
        _require_column(column, path)
    for method, numbers in experiment.paper.items():
        choose(method, "")
        for column, number in numbers.items():
            _require_column(column, path)
            if not isinstance(number, int | float):
                raise InputError(f"{path}: the paper's {column} of {method} is {number!r}; write a number")
    for method in experiment.methods:
        choose(method, "")
    return experiment


def read_setup(path: Path, scale: str) -> Setup:
    """Read a setup at a scale; what the scale says replaces what stands above it."""
    with reading(f"{path} is no setup: it", "correct it"):
        return _setup(path, scale)


def _setup(path: Path, scale: str) -> Setup:
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    content = _read(path, {**_SETUP, "scale": dict}, ())
    scales = content.pop("scale", {})
    if scale not in scales:
        raise InputError(f"{path} has no [scale.{scale}]; it has: {', '.join(scales) or 'none'}")
    content |= _checked(scales[scale], _SETUP, (), f"{path}, [scale.{scale}]")
    _checked(content, _SETUP, ("title", "data", "model", "runs"), f"{path} at scale {scale}")
    runs = tuple(_run(run, path) for run in content.pop("runs"))
    seeds_of = {method: _seeds(seeds, path) for method, seeds in content.pop("seeds_of", {}).items()}
    setup = Setup(path.parent.name, scale, runs=runs, seeds_of=seeds_of, **content)
    for method in (*setup.without, *setup.seeds_of):
        choose(method, "")
    return setup


def _run(run: Any, path: Path) -> tuple[str | int, tuple[int, ...]]:
    if not isinstance(run, dict) or set(run) != {"class", "seeds"} or not run["seeds"]:
        raise InputError(f"{path}: {run!r} is not a run; write {{ class = NAME, seeds = [0, 1] }}")
    return run["class"], _seeds(run["seeds"], path)


def _seeds(seeds: Any, path: Path) -> tuple[int, ...]:
    if not isinstance(seeds, list) or not all(isinstance(seed, int) for seed in seeds):
        raise InputError(f"{path}: seeds {seeds} are not whole numbers; write a list such as [0, 1]")
    return tuple(seeds)


def _setup_of(path: Path) -> Path:
    """Return the setup of a single file: the one that it names, else the one beside it."""
    named = _read(path, _EXPERIMENT, ()).get("setup")
    candidates = [path.parent / SETUP] if named is None else [built_in() / named / SETUP, path.parent / named]
    found = next((one for one in candidates if one.is_file()), None)
    if found is None:
        raise InputError(f'{path} has no setup; put {SETUP} beside it, or name one in it, such as setup = "cifar10"')
    return found


def _read(path: Path, keys: Mapping[str, type], needed: tuple[str, ...]) -> dict[str, Any]:
    with reading(f"{path} cannot be read as TOML: it", "correct it"):
        content = tomllib.loads(read_text(path))
    check_finite(content, str(path))
    return _checked(content, keys, needed, str(path))


def check_finite(value: Any, where: str) -> None:
    """Raise if a number in TOML is nan or inf."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where} is {value}; write a number")
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in pairs:
        check_finite(one, f"{where}, {key}")


def _checked(content: dict[str, Any], keys: Mapping[str, type], needed: tuple[str, ...], where: str) -> dict[str, Any]:
    """Raise unless every key is known and of its type, and those needed are there."""
    for key, value in content.items():
        if key not in keys:
            raise unknown("key", key, keys, f" in {where}")
        if type(value) is not keys[key]:
            raise InputError(f"{where}: {key} is {value!r}; it must be {_WORDS[keys[key]]}")
    if missing := [key for key in needed if key not in content]:
        raise InputError(f"{where} lacks {', '.join(missing)}; add it")
    return content


def _tuples(content: Mapping[str, Any], *keys: str) -> dict[str, tuple[Any, ...]]:
    return {key: tuple(content[key]) for key in keys if key in content}


def _require_column(column: str, path: Path) -> None:
    if column not in COLUMNS:
        raise unknown("column", column, COLUMNS, f" in {path}")
