"""Weights averaged while they are trained: steadier than the last of them."""

import torch
from torch import Tensor, nn


class Average:
    """Averages the weights over the steps after the first few."""

    def __init__(self, after: int) -> None:
        self.after, self.count = after, 0
        self.weights: dict[str, Tensor] = {}

    def start(self, model: nn.Module) -> None:
        self.weights = {}

    @torch.no_grad()
    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        if step <= self.after:
            return
        self.count += 1
        for name, weight in model.named_parameters():
            kept = self.weights.setdefault(name, weight.detach().clone())
            kept.add_((weight - kept) / self.count)

    @torch.no_grad()
    def use(self, model: nn.Module) -> None:
        """Put the average in place, where there is one."""
        for name, weight in model.named_parameters():
            if name in self.weights:
                weight.copy_(self.weights[name])
