"""Places to cut a network that cannot be traced: it is watched while it runs, then run with its first part left out.

Whatever its `forward` does, it calls modules. To run it from the end of one call on, that call is answered with what
is carried, and those before it with zeros of the right shape. Whether what is carried is all that the rest needs is
seen by trying (`Cut.holds`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from unclass.errors import InputError
from unclass.models.cut.place import Cut, Place
from unclass.models.cut.work import Work


@dataclass(eq=False)
class Call:
    """A module's call: its place among all beginnings and ends, what it gave, and the work done by its end."""

    name: str
    module: nn.Module
    began: int
    products_before: int
    ended: int = 0
    output: Any = None
    operations: int = 0
    products: int = 0

    def inside(self, other: "Call") -> bool:
        return other.began < self.began and self.ended < other.ended


def recorded_places(model: nn.Module, x: Tensor) -> list[Place]:
    """Return the ends of calls that give a single tensor, first to last, seen with one image."""
    calls, whole = record(model, x)
    twice, _ = record(model, torch.cat([x, x]))
    if [call.module for call in calls] != [call.module for call in twice]:
        raise InputError(f"{type(model).__name__} calls other modules for other images")
    outputs = {call: (call.output, other.output) for call, other in zip(calls, twice, strict=True)}
    found = []
    for call in sorted(calls, key=lambda call: call.ended):
        one, two = outputs[call]
        if call.module is model or not isinstance(one, Tensor) or len(two) != 2 * len(one):
            continue
        following = next((other for other in calls if other.began > call.ended), None)
        starts = following is not None and following.products > following.products_before
        behind, left = call.operations / max(whole.operations, 1), whole.products - call.products
        found.append(Place(call.name, behind, left, starts, partial(_cut, model, x, call, calls, outputs)))
    return found


@torch.no_grad()
def record(model: nn.Module, x: Tensor) -> tuple[list[Call], Work]:
    """Return every call of a module while a network runs, in the order of their beginnings, and all that was done."""
    calls: list[Call] = []
    running: list[Call] = []
    events = iter(range(1, 10**9))
    names = {module: name for name, module in model.named_modules()}

    def begin(module: nn.Module, _: Any) -> None:
        running.append(Call(names[module], module, next(events), work.products))
        calls.append(running[-1])

    def end(_: nn.Module, __: Any, output: Any) -> None:
        call = running.pop()
        call.ended, call.output = next(events), output
        call.operations, call.products = work.operations, work.products

    hooks = [module.register_forward_pre_hook(begin) for module in model.modules()]
    hooks += [module.register_forward_hook(end) for module in model.modules()]
    try:
        with Work() as work:
            model(x)
    finally:
        for hook in hooks:
            hook.remove()
    return calls, work


Outputs = dict[Call, tuple[Any, Any]]


def _cut(model: nn.Module, x: Tensor, at: Call, calls: Sequence[Call], outputs: Outputs) -> Cut:
    past = [call for call in calls if call.ended <= at.ended]
    turn = sum(call.module is at.module for call in past)
    return Cut(at.name, Stem(model, at.module, turn, _top(past)), Rest(model, x, at, calls, outputs))


def _top(calls: Sequence[Call]) -> list[nn.Module]:
    """Return the modules of calls, without those that are inside others."""
    return [call.module for call in calls if not any(call.inside(other) for other in calls)]


class _Reached(BaseException):
    """Raised at the end of the stem. Not an Exception, so that a network's own `except Exception` lets it through."""


class Stem(nn.Module):
    """A network up to the end of a module's n-th call."""

    def __init__(self, model: nn.Module, module: nn.Module, turn: int, parts: Sequence[nn.Module]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(dict.fromkeys(parts))
        self._run, self._module, self._turn = (model,), (module,), turn  # in tuples: not all of them are its parts

    def forward(self, x: Tensor) -> Tensor:
        outputs: list[Tensor] = []

        def reach(_: nn.Module, __: Any, output: Tensor) -> None:
            outputs.append(output)
            if len(outputs) == self._turn:
                raise _Reached

        hook = self._module[0].register_forward_hook(reach)
        try:
            self._run[0](x)
        except _Reached:
            pass
        finally:
            hook.remove()
        return outputs[-1]


class Rest(nn.Module):
    """A network from the end of a call on: it runs whole, but calls until there are answered at once."""

    def __init__(self, model: nn.Module, x: Tensor, at: Call, calls: Sequence[Call], outputs: Outputs) -> None:
        super().__init__()
        after = [call for call in calls if call.began > at.ended]
        self.parts = nn.ModuleList(dict.fromkeys(_top(after)))
        self._model, self._x, self._rows = (model,), x, len(at.output)
        past = [call for call in calls if call.ended <= at.ended]
        self._answers: dict[nn.Module, list[Any]] = defaultdict(list)
        for call in calls:
            if not any(call.inside(other) for other in past):  # else it is not called
                self._answers[call.module].append(_answer(call, at, past, outputs))

    def forward(self, features: Tensor) -> Tensor:
        images = len(features) // self._rows
        x = self._x.new_zeros((images, *self._x.shape[1:]))
        with self._answering(features, images):
            logits: Tensor = self._model[0](x)
        return logits

    @contextmanager
    def _answering(self, features: Tensor, images: int) -> Iterator[None]:
        """Let modules answer the calls of the first part without running."""
        patched = []
        for module, answers in self._answers.items():
            if any(answers):
                patched.append((module, vars(module).get("forward")))
                module.forward = _turns(module.forward, answers, features, images)
        try:
            yield
        finally:
            for module, own in patched:
                del module.forward
                if own is not None:
                    module.forward = own


def _answer(call: Call, at: Call, past: Sequence[Call], outputs: Outputs) -> Any:
    """Return how a call is answered, given the features and the number of images; None if it runs."""
    if call is at:
        return lambda features, images: features
    if call in past:
        return lambda features, images: tree_map(partial(_zeros, images), *outputs[call])
    return None


def _zeros(images: int, one: Any, two: Any) -> Any:
    """Return zeros for so many images, in the shape seen for one and for two; what is no tensor stays as it is."""
    if not isinstance(one, Tensor):
        return one
    return one.new_zeros([a if a == b else a * images for a, b in zip(one.shape, two.shape, strict=True)])


def _turns(forward: Callable[..., Any], answers: Sequence[Any], features: Tensor, images: int) -> Callable[..., Any]:
    """Return a forward that answers its n-th call as planned."""
    waiting = iter(answers)

    def answer(*args: Any, **kwargs: Any) -> Any:
        planned = next(waiting, None)
        return forward(*args, **kwargs) if planned is None else planned(features, images)

    return answer
