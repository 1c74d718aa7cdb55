"""How large a network may be that a file describes: no larger than the weights that come with it."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from unclass.border.bounds import MOST_CLASSES
from unclass.errors import InputError

MOST_WEIGHTS = 1 << 29  # of a network that comes without weights: 2 GB
_MOST_TENSORS = 100_000
_SPARE = 1 << 24  # numbers beside the weights, such as tables of positions
_SIZED = {torch.empty, torch.zeros, torch.ones, torch.rand, torch.randn, torch.full}
_LARGEST_NUMBER, _LONGEST, _DEEPEST = 10**6, 10_000, 6


class Room(TorchFunctionMode):
    """Within it a network is made of so many numbers at most. More is refused before memory is asked for."""

    def __init__(self, numbers: int, what: str) -> None:
        super().__init__()
        self.numbers, self.what, self.made, self.tensors = numbers, what, 0, 0

    @classmethod
    def of(cls, tensors: Iterable[Tensor] | None, what: str) -> "Room":
        """Return room for a network of these weights; for one of a reasonable size where there are none."""
        known = None if tensors is None else sum(tensor.numel() for tensor in tensors)
        return cls(MOST_WEIGHTS if known is None else 2 * known + _SPARE, what)

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if function in _SIZED:
            self.made += _count(args, kwargs or {})
            self.tensors += 1
            if self.made > self.numbers or self.tensors > _MOST_TENSORS:
                raise InputError(
                    f"{self.what} describes a network of more than {self.numbers / 1e6:,.0f} million numbers, which "
                    "its weights do not have; its options or its class count are wrong"
                )
        return function(*args, **(kwargs or {}))


def _count(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """Return how many numbers a tensor will have that is asked for with these arguments."""
    size = kwargs.get("size", args[0] if args and not isinstance(args[0], int) else args)
    return math.prod(abs(int(one)) for one in size if isinstance(one, int)) if isinstance(size, list | tuple) else 0


def check_reasonable(value: Any, where: str, depth: int = 0) -> None:
    """Raise if options that were read from a file hold numbers, texts or lists beyond what a network can mean."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float) and not abs(value) <= _LARGEST_NUMBER:
        raise InputError(f"{where} is {str(value)[:30]}, which no network has; make the file again")
    if isinstance(value, str) and len(value) > _LONGEST:
        raise InputError(f"{where} is a text of {len(value):,} characters; make the file again")
    if isinstance(value, Mapping | list | tuple):
        if depth > _DEEPEST or len(value) > MOST_CLASSES:
            raise InputError(f"{where} is too long or too deep; make the file again")
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, one in pairs:
            check_reasonable(one, f"{where}, {str(key)[:60]}", depth + 1)
