"""Counting what a network does: floating-point operations, and the products that they are in."""

from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.backends import mha
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry


class Work(TorchDispatchMode):
    """Counts every convolution and matrix product inside it, and their operations, two for each multiply-add.

    torch's own FlopCounterMode has the same formulas, but follows modules by hooks on gradients, and those do not
    allow the gradient with respect to an image that a search for neighbours takes.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations = 0
        self.products = 0
        self.fused: list[bool] = []

    def __enter__(self) -> Self:
        """Attention is done in parts that can be counted, where without gradients it would be one."""
        self.fused.append(mha.get_fastpath_enabled())
        mha.set_fastpath_enabled(False)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        mha.set_fastpath_enabled(self.fused.pop())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        formula = flop_registry.get(func._overloadpacket)
        if formula is None:
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        result = func(*args, **kwargs)
        if formula is not None:
            self.operations += int(formula(*args, **kwargs, out_val=result))
            self.products += 1
        return result


@torch.no_grad()
def flops(model: nn.Module, x: Tensor) -> int:
    """Return the floating-point operations of one forward pass."""
    with Work() as work:
        model(x)
    return work.operations
