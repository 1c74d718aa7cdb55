"""Make a trained image classifier forget a class, and see how close that comes to retraining."""

from unclass.api import evaluate, forget, train
from unclass.audits.audit import audit
from unclass.compare import Plan, compare
from unclass.data import DataOptions, ImageData, image_data, load_data
from unclass.doctor import Finding, doctor
from unclass.engine import Budget, Engine
from unclass.errors import Diverged, InputError
from unclass.methods import METHODS
from unclass.methods.updates import UpdateRecorder
from unclass.models import MODELS, Card, Classifier, load, save

__version__ = "0.1.0"
__all__ = [
    "METHODS",
    "MODELS",
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
