"""Cutting a network in two, stem and tail, wherever a single tensor carries everything from one part to the other."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, fx, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.flop_counter import FlopCounterMode

from unclass.errors import InputError


@dataclass(frozen=True, eq=False)
class Cut:
    """model(x) == tail(stem(x)). Both parts share the model's weights: training the tail trains the model."""

    name: str
    stem: nn.Module
    tail: nn.Module


class _Tracer(fx.Tracer):
    """Takes every module without modules inside as one step, a library's own linear layer too."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return next(m.children(), None) is None or super().is_leaf_module(m, module_qualified_name)


@dataclass(frozen=True, eq=False)
class Places:
    """A traced network and the nodes after which a single tensor carries everything on."""

    model: nn.Module
    graph: fx.Graph
    nodes: list[fx.Node]
    order: dict[fx.Node, int]

    def cut(self, place: int) -> Cut:
        return _cut(self.model, self.graph, self.nodes[place], self.order)


def places(model: nn.Module) -> Places:
    """Return where a network can be cut, first to last."""
    try:
        graph = _Tracer().trace(model)
    except (fx.proxy.TraceError, TypeError, RuntimeError, NotImplementedError, AttributeError, ValueError) as error:
        raise InputError(f"{type(model).__name__} cannot be traced ({error}); train it whole") from error
    order = {node: place for place, node in enumerate(graph.nodes)}
    last_use = {node: max((order[user] for user in node.users), default=-1) for node in graph.nodes}
    values = [node for node in graph.nodes if node.op != "get_attr"]
    found, reach = [], -1
    for before, node in zip([None, *values], values, strict=False):
        reach = max(reach, last_use[before]) if before is not None else reach
        inside = node.op not in ("placeholder", "output")
        if inside and reach <= order[node] < last_use[node] and not any(user.op == "output" for user in node.users):
            found.append(node)
    return Places(model, graph, found, order)


def cuts(model: nn.Module) -> list[Cut]:
    """Return every place where a network can be cut, first to last."""
    where = places(model)
    return [where.cut(place) for place in range(len(where.nodes))]


def _cut(model: nn.Module, graph: fx.Graph, at: fx.Node, order: dict[fx.Node, int]) -> Cut:
    stem = _part(model, graph, [node for node in graph.nodes if order[node] <= order[at]], None, at)
    tail = _part(model, graph, [node for node in graph.nodes if order[node] > order[at]], at, None)
    return Cut(str(at.target if at.op == "call_module" else at.name), stem, tail)


def _part(
    model: nn.Module, graph: fx.Graph, nodes: Sequence[fx.Node], start: fx.Node | None, end: fx.Node | None
) -> nn.Module:
    part = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    if start is not None:
        copies[start] = part.placeholder("features")
    for node in nodes:
        for needed in node.all_input_nodes:
            if needed not in copies and needed.op == "get_attr":
                copies[needed] = part.node_copy(needed, lambda n: copies[n])
        copies[node] = part.node_copy(node, lambda n: copies[n])
    if end is not None:
        part.output(copies[end])
    return fx.GraphModule(model, part)


@torch.no_grad()
def flops(model: nn.Module, x: Tensor) -> int:
    """Return the floating-point operations of one forward pass."""
    with FlopCounterMode(display=False) as counter:
        model(x)
    return int(counter.get_total_flops())


@torch.no_grad()
def tail_of_share(model: nn.Module, x: Tensor, share: float) -> Cut:
    """Return the earliest cut whose tail does at most `share` of the work but still holds a convolution or attention.

    Where every such tail does more, the smallest of them.
    """
    model.eval()
    limit, where = share * flops(model, x[:1]), places(model)

    def small(place: int) -> bool:
        cut = where.cut(place)
        return flops(cut.tail, cut.stem(x[:1])) <= limit

    count = len(where.nodes)
    first = bisect_left(range(count), True, key=small)
    for place in (*range(first, count), *reversed(range(first))):
        cut = where.cut(place)
        if _mixes(cut.tail) and _starts_block(cut):
            return cut
    raise InputError(f"{type(model).__name__} has no place to cut before its last layers; train it whole")


def _mixes(tail: nn.Module) -> bool:
    """Whether a part does more than average and classify: it has a normalisation layer before the head."""
    kinds = (nn.Conv2d, nn.LayerNorm, nn.GroupNorm, nn.MultiheadAttention)
    return sum(isinstance(module, kinds) for module in tail.modules()) >= 1


def _starts_block(cut: Cut) -> bool:
    """Whether a part begins with a layer or a branch, so that no cut parts a layer from its norm and activation."""
    graph = cut.tail.graph
    assert isinstance(graph, fx.Graph)
    (features,) = graph.find_nodes(op="placeholder")
    first = next(iter(features.users))
    norm = first.op == "call_module" and isinstance(
        cut.tail.get_submodule(str(first.target)), _BatchNorm | nn.GroupNorm
    )
    return len(features.users) > 1 or (first.op == "call_module" and not norm)
