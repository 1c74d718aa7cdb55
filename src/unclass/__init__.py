"""Make a trained image classifier forget a class, and see how close that comes to retraining."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unclass.api import evaluate, forget, train
    from unclass.audits.result import Audit
    from unclass.audits.run import audit
    from unclass.checkup import Finding, doctor
    from unclass.comparison.run import Plan, compare
    from unclass.data import DataOptions, ImageData, image_data, load_data
    from unclass.errors import Diverged, InputError
    from unclass.methods import METHODS
    from unclass.methods.amnesiac.recorder import UpdateRecorder
    from unclass.models import MODELS, Card, Classifier, load, save
    from unclass.training.engine import Budget, Engine

__version__ = "0.1.0"
__all__ = [
    "METHODS",
    "MODELS",
    "Audit",
    "Budget",
    "Card",
    "Classifier",
    "DataOptions",
    "Diverged",
    "Engine",
    "Finding",
    "ImageData",
    "InputError",
    "Plan",
    "UpdateRecorder",
    "audit",
    "compare",
    "doctor",
    "evaluate",
    "forget",
    "image_data",
    "load",
    "load_data",
    "save",
    "train",
]

# Where each name stands. A part is imported when a name of it is asked for: torch takes seconds, and nobody who wants
# one thing should wait for all.
_HOMES = {
    "unclass.api": "evaluate forget train",
    "unclass.audits.result": "Audit",
    "unclass.audits.run": "audit",
    "unclass.checkup": "Finding doctor",
    "unclass.comparison.run": "Plan compare",
    "unclass.data": "DataOptions ImageData image_data load_data",
    "unclass.errors": "Diverged InputError",
    "unclass.methods": "METHODS",
    "unclass.methods.amnesiac.recorder": "UpdateRecorder",
    "unclass.models": "MODELS Card Classifier load save",
    "unclass.training.engine": "Budget Engine",
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names.split():
            return globals().setdefault(name, getattr(import_module(home), name))
    raise AttributeError(f"module 'unclass' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
