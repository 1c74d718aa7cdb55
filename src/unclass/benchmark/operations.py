"""Counting floating-point operations while a method runs."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry


class OperationCounter(TorchDispatchMode):
    """Counts the operations of every convolution and matrix product inside it, two for each multiply-add.

    torch's own FlopCounterMode has the same formulas, but follows modules by hooks on gradients, and those do not
    allow the gradient with respect to an image that a search for neighbours takes.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.total = 0

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
            self.total += int(formula(*args, **kwargs, out_val=result))
        return result
