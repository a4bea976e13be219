"""Functions of a user traced to a graph, once, against the specs of what they will be called with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.data import element, leaves
from tapeflow.data.mapping import output_element
from tapeflow.function.autograph import tf_convert
from tapeflow.function.compiled import Compiled
from tapeflow.graph.func_graph import FuncGraph

_Eager = _native.EagerTensor


class Traced:
    """A function as a plan.

    Attributes:
      spec: the structure of specs of what it returns.
      inputs: the tensors of the graph around it that it captured; `bound` takes their values.
    """

    def __init__(self, fn: Callable[..., Any], specs: Sequence[Any], transformation: str):
        self._specs = list(specs)
        graph = FuncGraph(f"Dataset_{transformation}")
        with graph.as_default():
            arguments = [self._argument(graph, spec) for spec in specs]
            result = tf_convert(fn)(*arguments)
            if result is None:
                raise TypeError(
                    f"Unsupported return value from function passed to Dataset.{transformation}(): None."
                )
            result = output_element(result)
            flat: list[Any] = []
            self._rebuild = element.map_leaves(lambda leaf: _output(leaf, flat), result)
            graph.outputs = [graph.capture(x) if isinstance(x, _Eager) else _inside(graph, x) for x in flat]
            self.spec = element.spec_of(result)
        self._result = result
        self._compiled = Compiled(graph)
        self.inputs = [outer for outer in graph.external_captures if not isinstance(outer, _Eager)]
        self._plan = self._compiled.plan
        # Of tensors alone, the plan's arguments and results are those of the function.
        self._plain = all(isinstance(spec, TensorSpec) for spec in self._specs)
        self._single = isinstance(self.spec, TensorSpec)
        self._tuple = type(self.spec) is tuple and all(isinstance(s, TensorSpec) for s in self.spec)

    @staticmethod
    def _argument(graph: FuncGraph, spec: Any) -> Any:
        given = [graph.add_input(dtype, shape, "args") for dtype, shape in leaves.outputs(spec)]
        return leaves.from_tensors(spec, given)

    def __call__(self, *arguments: Any) -> Any:
        return self._run((), arguments)

    def bound(self, values: Sequence[Any]) -> _Bound:
        """The function, with the values of what it captured."""
        return _Bound(self, tuple(values))

    def _run(self, captured: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
        if self._plain:
            flat = list(arguments)
        else:
            flat = []
            for spec, value in zip(self._specs, arguments, strict=True):
                flat += leaves.to_tensors(spec, value)
        try:
            found = self._plan(*flat, *captured)
        except StopIteration as error:
            raise InvalidArgumentError(None, None, f"StopIteration: {error}") from None
        if self._single:
            return found[0]
        if self._tuple:
            return tuple(found)
        results = iter(found)
        with context.eager_mode():
            return element.map_leaves(lambda rebuild: rebuild(results), self._rebuild)


class _Bound:
    """A traced function that knows what it captured."""

    def __init__(self, traced: Traced, captured: tuple[Any, ...]):
        self._traced = traced
        self._captured = captured
        self.spec = traced.spec

    def __call__(self, *arguments: Any) -> Any:
        return self._traced._run(self._captured, arguments)


def _inside(graph: FuncGraph, x: Any) -> Any:
    return x if x.op.graph is graph else graph.capture(x)


def _output(leaf: Any, flat: list[Any]) -> Callable[[Any], Any]:
    """Adds the tensors of a leaf of the result; returns what makes the leaf of their values again."""
    if leaf is None:
        return lambda results: None
    if hasattr(leaf, "from_recipe"):
        flat.extend(leaf._inputs)
        count = len(leaf._inputs)
        return lambda results: leaf.with_inputs([next(results) for _ in range(count)])
    spec = element.leaf_spec(leaf)
    tensors = leaves.to_tensors(spec, leaf)
    flat.extend(tensors)
    return lambda results: leaves.from_tensors(spec, [next(results) for _ in tensors])
