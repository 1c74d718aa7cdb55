"""Make a trained image classifier forget a class, and see how close that comes to retraining."""

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
