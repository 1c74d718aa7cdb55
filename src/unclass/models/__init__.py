"""Networks, where they come from, their checkpoints and their heads."""

from unclass.models.checkpoint import load, save
from unclass.models.classifier import MODELS, Card, Classifier, build, has_weights, weights_digest
from unclass.models.head import find_head
from unclass.models.opening import Opening, open_model
from unclass.models.origins import SPECS

__all__ = [
    "MODELS",
    "SPECS",
    "Card",
    "Classifier",
    "Opening",
    "build",
    "find_head",
    "has_weights",
    "load",
    "open_model",
    "save",
    "weights_digest",
]
