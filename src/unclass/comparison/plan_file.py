"""A comparison as one TOML file, such as the appendix of a paper: the arguments of `compare` by their names.

data = "cifar10"
classes = ["deer", "airplane"]
methods = ["finetune", "boundary-shrink@paper", { method = "delete", options = { epochs = 5 } }]
seeds = [0, 1]
unlearn_seeds = [0, 1, 2]
model = "all-cnn"
model_options = { width = 0.5 }
[data_options]
root = "cifar10"
[engine]
precision = "float32"
"""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from unclass.data import DataOptions
from unclass.errors import InputError, unknown
from unclass.methods import Method
from unclass.methods.configure import configure
from unclass.models.origins import SOURCES
from unclass.storage import read_toml
from unclass.training.engine import Budget, Engine

TABLES = ("model_options", "recipe", "cluster_options")
KINDS: dict[str, tuple[type, ...]] = {
    "data": (str,), "classes": (list, str, int), "methods": (list, str), "seeds": (list, int),
    "unlearn_seeds": (list, int), "together": (bool,), "model": (str,), "preset": (str,), "originals": (list,),
    "retrained": (list,), "out": (str,), "batch_size": (int,), "audited": (bool,), "jobs": (int,), "threads": (int,),
    "cluster": (str,), "engine": (dict,), "data_options": (dict,), **dict.fromkeys(TABLES, (dict,)),
}  # fmt: skip
ENGINE = ("device", "precision", "compile", "max_steps", "max_seconds")
DATA = tuple(one.name for one in fields(DataOptions) if one.name not in ("progress", "classes", "shape", "only"))


def read_plan(path: Path) -> dict[str, Any]:
    """Return the arguments of `compare` that a plan file holds. It names data, methods and numbers, never code."""
    content = read_toml(path)
    for key, value in content.items():
        if key not in KINDS:
            raise unknown("key", key, KINDS, f" in {path}")
        if not isinstance(value, KINDS[key]) or (isinstance(value, bool) and bool not in KINDS[key]):
            words = " or ".join(kind.__name__ for kind in KINDS[key])
            raise InputError(f"{key} in {path} is {type(value).__name__}, not {words}; correct it")
    found = dict(content)
    _check_lists(found, path)
    if "model" in found:
        _no_code(found["model"], "model", path)
    if "methods" in found:
        given = found["methods"] if isinstance(found["methods"], list) else [found["methods"]]
        found["methods"] = [_method(one, found.get("data", ""), path) for one in given]
    if "engine" in found:
        found["engine"] = _engine(found["engine"], path)
    if "data_options" in found:
        found["data_options"] = DataOptions(**_known(found["data_options"], DATA, "data option", path))
    return found


def _check_lists(found: Mapping[str, Any], path: Path) -> None:
    for key in ("seeds", "unlearn_seeds"):
        given = found.get(key, [])
        for one in given if isinstance(given, list) else [given]:
            if not isinstance(one, int) or isinstance(one, bool):
                raise InputError(f"{key} in {path} holds {one!r}; give whole numbers, such as [0, 1]")
    for one in found["classes"] if isinstance(found.get("classes"), list) else []:
        if not isinstance(one, str | int) or isinstance(one, bool):
            raise InputError(f"classes in {path} holds {one!r}; give names or indices")
    for key in ("batch_size", "jobs", "threads"):
        if found.get(key, 1) < 1:
            raise InputError(f"{key} in {path} is {found[key]}; use 1 or more")


def _method(given: Any, data: str, path: Path) -> str | Method:
    """Return a method: its name, or what { method, preset, options } stands for."""
    if isinstance(given, str):
        _no_code(given, "methods", path)
        return given
    if not isinstance(given, dict) or not isinstance(given.get("method"), str):
        raise InputError(f"methods in {path} holds {given!r}; give a name or {{ method = NAME, options = {{ … }} }}")
    _known(given, ("method", "preset", "options"), "key of a method", path)
    _no_code(given["method"], "methods", path)
    return configure(given["method"], data=data, preset=given.get("preset"), options=given.get("options", {}))


def _engine(given: Mapping[str, Any], path: Path) -> Engine:
    known = _known(given, ENGINE, "engine option", path)
    budget = Budget(known.pop("max_steps", None), known.pop("max_seconds", None))
    return Engine(**known, budget=budget)


def _known(given: Mapping[str, Any], allowed: tuple[str, ...], what: str, path: Path) -> dict[str, Any]:
    for key in given:
        if key not in allowed:
            raise unknown(what, key, allowed, f" in {path}")
    return dict(given)


def _no_code(name: str, key: str, path: Path) -> None:
    """Raise if a file would choose code to run: it may have come with somebody else's paper."""
    source, colon, _ = name.partition(":")
    if colon and source not in SOURCES:
        raise InputError(f"{path} names code to run, {name}, which a file may not choose; give `{key}` yourself")
