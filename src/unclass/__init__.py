"""Make a trained image classifier forget a class, and see how close that comes to retraining."""

# Nothing is imported here: `unclass` has to come to where Ctrl-C is one line before anything else. Type checkers take
# TYPE_CHECKING for true, whoever defines it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from unclass.api import evaluate, forget, record_of, train
    from unclass.audits.result import Audit
    from unclass.audits.run import audit
    from unclass.benchmark import Bench, bench
    from unclass.checkup import Finding, doctor
    from unclass.comparison import Comparison, Plan
    from unclass.comparison.run import compare
    from unclass.data import DataOptions, ImageData, image_data, load_data
    from unclass.errors import Diverged, InputError
    from unclass.methods import METHODS
    from unclass.methods.amnesiac.recorder import UpdateRecorder
    from unclass.metrics import Evaluation
    from unclass.models import MODELS, Card, Classifier, Opening, load, open_model, save
    from unclass.predictions import Predictions
    from unclass.records import Record, read_record
    from unclass.reproduction.run import Paper, paper
    from unclass.training.engine import Budget, Engine
    from unclass.tuning import Tuning, tune

__version__ = "0.2.0"
__all__ = [
    "METHODS",
    "MODELS",
    "Audit",
    "Bench",
    "Budget",
    "Card",
    "Classifier",
    "Comparison",
    "DataOptions",
    "Diverged",
    "Engine",
    "Evaluation",
    "Finding",
    "ImageData",
    "InputError",
    "Opening",
    "Paper",
    "Plan",
    "Predictions",
    "Record",
    "Tuning",
    "UpdateRecorder",
    "audit",
    "bench",
    "compare",
    "doctor",
    "evaluate",
    "forget",
    "image_data",
    "load",
    "load_data",
    "open_model",
    "paper",
    "read_record",
    "record_of",
    "save",
    "train",
    "tune",
]

# Where each name stands. A part is imported when a name of it is asked for: torch takes seconds, and nobody who wants
# one thing should wait for all.
_HOMES = {
    "unclass.api": "evaluate forget record_of train",
    "unclass.audits.result": "Audit",
    "unclass.audits.run": "audit",
    "unclass.benchmark": "Bench bench",
    "unclass.checkup": "Finding doctor",
    "unclass.comparison": "Comparison Plan",
    "unclass.comparison.run": "compare",
    "unclass.data": "DataOptions ImageData image_data load_data",
    "unclass.errors": "Diverged InputError",
    "unclass.methods": "METHODS",
    "unclass.methods.amnesiac.recorder": "UpdateRecorder",
    "unclass.metrics": "Evaluation",
    "unclass.models": "MODELS Card Classifier Opening load open_model save",
    "unclass.predictions": "Predictions",
    "unclass.records": "Record read_record",
    "unclass.reproduction.run": "Paper paper",
    "unclass.training.engine": "Budget Engine",
    "unclass.tuning": "Tuning tune",
}


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names.split():
            return globals().setdefault(name, getattr(import_module(home), name))
    raise AttributeError(f"module 'unclass' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
