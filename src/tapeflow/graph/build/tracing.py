"""Tracing: a Python function runs once on symbolic tensors, which makes the graph of its body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core.annotations import TensorLike
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.graph.build import building
from tapeflow.graph.func_graph import FuncGraph, copy_handle
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array import rows as array

_LEAVES = (_native.Tensor, _native.Variable)


def body(
    name: str,
    function: Callable[..., Any],
    like: Sequence[Any],
    names: Sequence[str] = (),
    shapes: Sequence[Any] | None = None,
    into: FuncGraph | None = None,
) -> FuncGraph:
    """The graph of `function(*placeholders)`, one flat placeholder for each tensor of `like`.

    What the function returns becomes `structured_outputs` and, flat, `outputs`.
    """
    graph = FuncGraph(name) if into is None else into
    with graph.as_default():
        for i, x in enumerate(like):
            shape = _shape(x) if shapes is None else shapes[i]
            inner = graph.add_input(x.dtype, shape, names[i] if i < len(names) else f"arg{i}")
            if isinstance(x, SymbolicTensor):
                copy_handle(x, inner)
        finish(graph, function(*graph.inputs[: len(like)]))
    return graph


def _shape(x: Any) -> tuple[int | None, ...] | None:
    if isinstance(x, SymbolicTensor):
        return x.shape_tuple
    shape = x.shape
    return None if shape.rank is None else tuple(shape.as_list())


def finish(graph: FuncGraph, result: Any, identities: bool = False) -> None:
    """Takes what the function returned for the outputs of its graph. In bodies of nodes operations stand for None.

    With `identities`, for functions of programs, each output has a node of its own, and operations are refused.
    Raises TypeError for values that are no tensors and cannot become some.
    """
    returned = nest.map_structure(lambda x: _returned(graph, x, not identities), result)
    if identities:
        returned = nest.map_structure(_identity, returned, expand_composites=True)
    graph.structured_outputs = returned
    graph.outputs = [
        x if x.op.graph is graph else graph.capture(x)
        for x in nest.flatten(graph.structured_outputs, expand_composites=True)
        if x is not None
    ]


def _identity(x: TensorLike) -> Any:
    return array.identity(x) if isinstance(x, SymbolicTensor) else x


def _returned(graph: FuncGraph, value: Any, operations: bool) -> Any:
    if value is None or (operations and isinstance(value, Operation)):
        return None
    if isinstance(value, SymbolicTensor):
        return value if value.op.graph is graph else graph.capture(value)
    if isinstance(value, IndexedSlices) or nest.is_nested_or_composite(value):
        return nest.map_structure(
            lambda x: building.as_symbolic(graph, x), value, expand_composites=True
        )
    try:
        if isinstance(value, Operation):
            raise TypeError
        return building.as_symbolic(graph, value, None, "Const")
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes or "
            f"None values; in compilation of {graph.name}, found return value of type {type(value).__name__}, which is "
            "not a Tensor or ExtensionType."
        ) from None


def spec_of(value: Any) -> TypeSpec:
    """What is known of a tensor or composite."""
    own = getattr(value, "_type_spec", None)
    if own is not None:
        return own
    return TensorSpec(value.shape, value.dtype)
