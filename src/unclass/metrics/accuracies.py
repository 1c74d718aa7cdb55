"""How well a model does what it should: accuracies."""

import torch
from torch import Tensor

from unclass.predictions import Outputs, as_predictions


def accuracy(outputs: Outputs, labels: Tensor | None = None) -> float:
    """1/N Σᵢ [argmaxₖ zᵢₖ = yᵢ]: share of images whose highest logit is their label, in [0, 1].

    >>> logits = torch.tensor([[2.0, 1.0], [0.0, 3.0], [1.0, 0.0], [5.0, 4.0]])
    >>> accuracy(logits, torch.tensor([0, 1, 0, 1]))
    0.75
    """
    predictions = as_predictions(outputs, labels)
    return (predictions.classes == predictions.labels).double().mean().item()


def confusion(outputs: Outputs, labels: Tensor | None = None) -> Tensor:
    """C_jk = #{i : yᵢ = j, argmax zᵢ = k}: K × K counts, row = true class, column = predicted class.

    >>> confusion(torch.tensor([[2.0, 1.0], [0.0, 3.0], [5.0, 4.0]]), torch.tensor([0, 1, 1]))
    tensor([[1, 0],
            [1, 1]])
    """
    predictions = as_predictions(outputs, labels)
    count = predictions.logits.shape[1]
    cells = predictions.labels * count + predictions.classes
    return torch.bincount(cells, minlength=count * count).view(count, count)
