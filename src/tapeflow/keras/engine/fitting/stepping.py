"""How a step of training runs: as plain Python, as a compiled function, or as nodes of a graph in a session."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import EagerTensor, Tensor
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.distribute.values import select
from tapeflow.function.function import function as compile_function
from tapeflow.graph.build.placeholders import placeholder
from tapeflow.keras.session import get_session

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

_LEAF = object()
_TENSORS = {EagerTensor}


class Step:
    """`method(data)` of a model, compiled once per structure of the data unless it is to run eagerly.

    In graph mode it is a part of the current graph, made once per structure, and run in the session of Keras.
    """

    def __init__(
        self, method: Callable[..., Any], eagerly: bool = False, jit_compile: bool = False, in_replicas: bool = True
    ):
        self._method, self._eagerly = method, eagerly
        self._strategy = getattr(getattr(method, "__self__", None), "distribute_strategy", None)
        if in_replicas and self._strategy is not None and self._strategy.extended.processes.size > 1:
            self._method = functools.partial(_in_replicas, self._strategy, method)
        self._model = getattr(method, "__self__", None)
        self._jit = jit_compile is True and importlib.util.find_spec("jax") is not None
        self._functions: dict = {}  # by structure; for tuples of tensors, by how many there are
        self._in_graphs: dict = {}
        # Whether the first axis of the data may change from step to step; asked when a step is compiled.
        self.batch_varies = False

    def __call__(self, data):
        graph = context.current_graph()
        if graph is not None:
            return self._in_session(data, graph)
        if self._eagerly or context.functions_run_eagerly():
            return self._method(data)
        leaves: list = []
        if type(data) is tuple and {*map(type, data)} == _TENSORS:  # the usual batch
            leaves, key = data, len(data)
        else:
            key = _structure(data, leaves)
        found = self._functions.get(key)
        if found is None:
            if leaves is data:
                found = self._functions[key] = self._compile(("tuple", *[_LEAF] * key))
            else:
                found = self._functions[key] = self._compile(key)
            if self.batch_varies and all(type(leaf) is EagerTensor for leaf in leaves):
                found[0].get_concrete_function(*map(_any_batch, leaves))
        function, results = found
        if self._strategy is None:
            return results.packed(function(*leaves))
        with self._strategy._shares_out():
            return results.packed(function(*leaves))

    def _compile(self, key):
        """(function, results): it returns flat tensors, which is quicker; what they are is known once traced."""
        method, results = self._method, _Results()

        def step(*leaves):
            result = method(_rebuilt(key, iter(leaves)))
            flat: list = []
            results.describe(_structure(result, flat))
            return tuple(flat)

        options = {"jit_compile": True} if self._jit else {}
        return compile_function(step, reduce_retracing=True, **options), results

    def _in_session(self, data: Sequence[np.ndarray], graph: Graph):
        leaves: list = []
        key = _structure(data, leaves)
        leaves = [leaf if isinstance(leaf, Tensor) else np.asarray(leaf) for leaf in leaves]
        kinds = tuple(
            id(leaf) if isinstance(leaf, Tensor) else (leaf.dtype, leaf.ndim) for leaf in leaves
        )
        found = self._in_graphs.get((graph, key, kinds))
        if found is None:
            given = [
                leaf if isinstance(leaf, Tensor)
                else placeholder(leaf.dtype, [None] * (leaf.ndim > 0) + list(leaf.shape[1:]))
                for leaf in leaves
            ]  # fmt: skip
            function, results = self._compile(key)
            outputs = function(*given)
            restore_slots(self._model)
            found = (given, outputs, results)
            self._in_graphs[graph, key, kinds] = found
        feeds = {
            tensor: leaf for tensor, leaf in zip(found[0], leaves) if not isinstance(leaf, Tensor)
        }
        outputs = list(found[1])
        values = get_session(graph).run(outputs, feeds) if outputs else []
        return found[2].packed(values)


def _in_replicas(strategy, method, data: Tensor):
    """What the first replica of this process returns of a step of all, each of which has a part of the batch."""
    results = strategy.run(method, (strategy.extended.shares_of_replicas(data),))
    return select(0, results)


def restore_slots(model):
    """Gives the slots that an optimizer has made for a graph the values of the checkpoint that was loaded."""
    restoration = None if model is None else model.__dict__.get("_restored_in_graph")
    if restoration is not None:
        for number, value in list(restoration.objects.items()):
            restoration.restore_slots(number, value)


class _Results:
    """What a step returns: flat values in their structure."""

    def __init__(self):
        self._structure = self._names = None

    def describe(self, structure):
        """Sets the structure that `packed` gives values."""
        self._structure, self._names = structure, None
        if type(structure) is tuple and structure[0] == "dict" and len(structure) > 1:
            if all(part is _LEAF for _, part in structure[1:]):  # logs, the usual case
                self._names = [name for name, _ in structure[1:]]

    def packed(self, values: Sequence[Tensor]):
        """The values as the step has returned them."""
        if self._names is not None:
            return dict(zip(self._names, values))
        return _rebuilt(self._structure, iter(values))


def _any_batch(leaf: Tensor):
    shape = leaf.shape.as_list()
    return TensorSpec([None, *shape[1:]] if shape else [], leaf.dtype)


def _structure(data: TensorLike | dict[str, Any], leaves: Any):
    """A hashable description of the structure of `data`, whose leaves are appended to `leaves`."""
    if data is None:
        return None
    if isinstance(data, Mapping):
        return ("dict", *((name, _structure(data[name], leaves)) for name in data))
    if isinstance(data, (tuple, list)):
        kind = type(data) if hasattr(data, "_fields") else "list" if type(data) is list else "tuple"
        return (kind, *[_structure(item, leaves) for item in data])
    leaves.append(data)
    return _LEAF


def _rebuilt(key, leaves):
    if key is None:
        return None
    if key is _LEAF:
        return next(leaves)
    kind, *parts = key
    if kind == "dict":
        return {name: _rebuilt(part, leaves) for name, part in parts}
    items = [_rebuilt(part, leaves) for part in parts]
    if kind == "list":
        return items
    return tuple(items) if kind == "tuple" else kind(*items)
