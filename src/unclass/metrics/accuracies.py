"""How well a model does what it should: accuracies."""

import torch
from torch import Tensor

from unclass.predictions import Predictions


def accuracy(predictions: Predictions) -> float:
    """Share of images whose highest logit is their label, in [0, 1]."""
    return (predictions.classes == predictions.labels).float().mean().item()


def confusion(predictions: Predictions) -> Tensor:
    """K × K counts: row = true class, column = predicted class."""
    count = predictions.logits.shape[1]
    cells = predictions.labels * count + predictions.classes
    return torch.bincount(cells, minlength=count * count).view(count, count)
