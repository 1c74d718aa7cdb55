"""Networks, their checkpoints and their heads."""

from unclass.models.checkpoint import load, save
from unclass.models.classifier import MODELS, Card, Classifier, build, weights_digest
from unclass.models.head import find_head

__all__ = ["MODELS", "Card", "Classifier", "build", "find_head", "load", "save", "weights_digest"]
