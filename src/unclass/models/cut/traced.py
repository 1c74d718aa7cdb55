"""Places to cut a network that can be traced: where one tensor is all of the images that is still needed.

Sizes need not be carried: a size that does not depend on the number of images is a constant, and one that does is
asked of the tensor that is carried. Nor need what is made of weights alone, which the tail makes again.
"""

import operator
from functools import partial
from typing import Any

import torch
from torch import Tensor, fx, nn

from unclass.errors import InputError
from unclass.models.cut.place import Cut, Place
from unclass.models.cut.work import Work

# Tracing runs somebody's forward with stand-ins for tensors: these are how code that cannot be traced fails.
UNTRACEABLE = (
    fx.proxy.TraceError,
    TypeError,
    RuntimeError,
    AttributeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AssertionError,
)
ASKS = {getattr, len}  # of a tensor, these ask for its shape and kind, not for its numbers
ASKING_METHODS = {"size", "dim", "ndimension", "numel", "stride", "is_contiguous", "get_device"}


def traced_places(model: nn.Module, x: Tensor) -> list[Place]:
    """Return where a network can be cut, first to last, seen with one image."""
    try:
        graph = _Tracer().trace(model)
        walks = _Walk(model, graph), _Walk(model, graph)
        for walk, images in zip(walks, (x, torch.cat([x, x])), strict=True):
            walk.run(images)
    except UNTRACEABLE as error:
        raise InputError(f"{type(model).__name__} cannot be traced: {_first_line(error)}") from error
    return _Traced(model, graph, *walks).places()


class _Tracer(fx.Tracer):
    """Takes every layer as one step: a module without modules inside, or one whose weights are all its own."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        own = list(m.parameters(recurse=False))
        layer = bool(own) and len(own) == len(list(m.parameters()))
        return layer or next(m.children(), None) is None or super().is_leaf_module(m, module_qualified_name)


class _Walk(fx.Interpreter):
    """Runs a traced network step by step, and keeps what each gave (of a tensor, its shape) and what it took."""

    def __init__(self, model: nn.Module, graph: fx.Graph) -> None:
        super().__init__(model, graph=graph)
        self.gave: dict[fx.Node, Any] = {}
        self.work: dict[fx.Node, Work] = {}
        self.tensors: set[fx.Node] = set()

    def run_node(self, n: fx.Node) -> Any:
        with Work() as self.work[n]:
            value = super().run_node(n)
        if isinstance(value, Tensor):
            self.tensors.add(n)
        self.gave[n] = value.shape if isinstance(value, Tensor) else value
        return value


class _Traced:
    """A traced network and its steps: those that hold the images' data, and those that can be done again without."""

    def __init__(self, model: nn.Module, graph: fx.Graph, one: _Walk, two: _Walk) -> None:
        self.model, self.graph, self.one, self.two = model, graph, one, two
        self.order = {node: place for place, node in enumerate(graph.nodes)}
        self.data: set[fx.Node] = set()
        for node in graph.nodes:
            from_data = any(source in self.data for source in node.all_input_nodes)
            if node.op in ("placeholder", "output") or (from_data and not self.asks(node)):
                self.data.add(node)

    def asks(self, node: fx.Node) -> bool:
        """Whether a node takes a tensor's shape or kind, and nothing else of it."""
        asking = node.target in ASKS if node.op == "call_function" else node.target in ASKING_METHODS
        return asking and node.op in ("call_function", "call_method") and node not in self.one.tensors

    def places(self) -> list[Place]:
        """Return the nodes after which a single tensor carries all data on."""
        done = [(self.one.work[node].operations, self.one.work[node].products) for node in self.graph.nodes]
        whole, products = (sum(column) for column in zip(*done, strict=True))
        found, reach, operations = [], -1, 0
        for node, (work, count) in zip(self.graph.nodes, done, strict=True):
            operations, products = operations + work, products - count
            last = max((self.order[user] for user in node.users if user in self.data), default=-1)
            if node in self.data:
                if reach <= self.order[node] < last and self.carries(node):
                    cut = partial(self.cut, node)
                    found.append(Place(_name(node), operations / max(whole, 1), products, self.starts(node), cut))
                reach = max(reach, last)
        return found

    def carries(self, node: fx.Node) -> bool:
        """Whether a node is a tensor inside the network, with rows for the images."""
        inside = node.op not in ("placeholder", "output") and not any(user.op == "output" for user in node.users)
        return inside and node in self.one.tensors and bool(len(self.one.gave[node]))

    def starts(self, node: fx.Node) -> bool:
        """Whether a product or a branch comes after a node."""
        users = [user for user in node.users if user in self.data]
        return len(users) > 1 or any(self.one.work[user].products for user in users)

    def cut(self, at: fx.Node) -> Cut:
        nodes = list(self.graph.nodes)
        stem = fx.Graph()
        copies: dict[fx.Node, Any] = {}
        for node in nodes[: self.order[at] + 1]:
            copies[node] = stem.node_copy(node, copies.__getitem__)
        stem.output(copies[at])
        return Cut(_name(at), fx.GraphModule(self.model, stem), self.tail(at))

    def tail(self, at: fx.Node) -> fx.GraphModule:
        """Return what comes after a node, as a network of its own."""
        tail = fx.Graph()
        copies: dict[fx.Node, Any] = {at: tail.placeholder("features")}

        def again(node: fx.Node) -> Any:
            if node not in copies and self.asks(node):
                copies[node] = self.size(node, at, tail, copies[at])
            if node not in copies:
                copies[node] = tail.node_copy(node, again)
            return copies[node]

        for node in list(self.graph.nodes)[self.order[at] + 1 :]:
            if node in self.data:
                again(node)
        return fx.GraphModule(self.model, tail)

    def size(self, node: fx.Node, at: fx.Node, tail: fx.Graph, features: fx.Node) -> Any:
        """Return what a node says of a shape, for as many images as there are rows in what is carried."""
        rows = self.one.gave[at][0]

        def scaled(one: Any, two: Any) -> Any:
            if isinstance(one, tuple | list):
                return tuple(map(scaled, one, two))
            if one == two:
                return one
            count = tail.call_method("size", (features, 0))
            return tail.call_function(operator.floordiv, (tail.call_function(operator.mul, (count, one)), rows))

        return scaled(self.one.gave[node], self.two.gave[node])


def _name(node: fx.Node) -> str:
    return str(node.target if node.op == "call_module" else node.name)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
