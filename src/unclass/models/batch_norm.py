"""Finding the batch norms of a network: what of it depends on other images than the one that it looks at."""

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

BatchNorm = _BatchNorm


def batch_norms(model: nn.Module) -> list[BatchNorm]:
    """Return the batch norms of a network, of any number of dimensions and over processes too."""
    return [module for module in model.modules() if isinstance(module, BatchNorm)]


def with_statistics(model: nn.Module) -> list[BatchNorm]:
    """Return those batch norms that keep running statistics, and so answer alike whatever else is in the batch."""
    return [layer for layer in batch_norms(model) if layer.running_mean is not None]
