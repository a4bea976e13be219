"""Calls of rows while a graph is built: values become tensors of the graph, the call becomes an operation.

Imported once, for its effect: it gives the native core its hooks for graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import context, convert, dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundary
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import dtype_of
from tapeflow.graph import misuse
from tapeflow.graph.build.naming import named, operator, wishes
from tapeflow.graph.build.node_text import node_text
from tapeflow.graph.default_graph import default_graph
from tapeflow.graph.graph import Graph, output_specs
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import binder, shape_inference
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.signature import Argument
from tapeflow.ops.state.rows import ReadVariableOp
from tapeflow.ops.table import REGISTRY

Eager = _native.EagerTensor
_Variable = _native.Variable
_Tensor = _native.Tensor


# Constants, placeholders, variables.


def constant(graph: Graph, value: Any, name: str = "Const") -> SymbolicTensor:
    """The output of a Const operation of an eager tensor; a resource has one in each graph.

    A table is written as the node that makes it. Two nodes would be two tables for TensorFlow.
    """
    if value.dtype == dtypes.resource:
        known = graph.__dict__.setdefault("_constant_resources", {})
        if id(value) not in known:
            known[id(value)] = _constant(graph, value, name)
        return known[id(value)]
    return _constant(graph, value, name)


def _constant(graph: Graph, value: Any, name: str) -> SymbolicTensor:
    op = graph.add("Const", None, (), (), {"value": value, "dtype": value.dtype}, name)
    return op.add_output(value.dtype, tuple(value.shape.as_list()))


def placeholder(
    graph: Graph, dtype: DType, shape: tuple[int | None, ...] | None, name: str = "Placeholder"
) -> SymbolicTensor:
    op = graph.add("Placeholder", None, (), (), {"dtype": dtype, "shape": TensorShape(shape)}, name)
    return op.add_output(dtype, shape)


def as_symbolic(
    graph: Graph, value: Any, dtype: DType | None = None, name: str = "Const"
) -> SymbolicTensor:
    """`value` as a tensor that operations of `graph` can take."""
    if isinstance(value, SymbolicTensor):
        if dtype is not None and value.dtype != dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value if value.op.graph is graph else graph.capture(value)
    # What only represents or holds a variable, or reads it in its own way, converts itself.
    if issubclass(type(value), _Variable) and value._is_cell:
        if dtype is not None and value.dtype != dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
                f"'{value.dtype.name}'"
            )
        return as_symbolic(graph, read(value, graph))
    if isinstance(value, Eager):
        if dtype is not None and value.dtype != dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return graph.capture(value)
    made = _made(value, dtype)
    return (
        constant(graph, made, name) if isinstance(made, Eager) else as_symbolic(graph, made, dtype)
    )


def _made(value: Any, dtype: DType | None) -> Any:
    """A value that is no tensor, as an eager tensor; or as a symbolic one where symbolic ones are inside of it."""
    if binder.holds_tensors(value):
        return convert.convert_other(value, 0 if dtype is None else int(dtype))
    own = getattr(type(value), "__tf_tensor__", None)
    if own is not None or convert.is_registered(value):
        return convert.convert_other(value, 0 if dtype is None else int(dtype))
    with context.eager_mode():
        return _native.convert(value, dtype)


def read(variable: Any, graph: Graph | None = None) -> SymbolicTensor:
    """The value of a variable, read when the graph runs."""
    reader = getattr(variable, "_read_in_graph", None)
    if reader is not None:
        found = reader()
        if found is not None:
            return found
    graph = context.current_graph() if graph is None else graph
    handle = handle_in(graph, variable)
    row = ReadVariableOp
    op = graph.add(row.name, row, (handle,), (None,), {"dtype": dtype_of(variable)}, row.name)
    shape = handle.handle_shape
    return op.add_output(dtype_of(variable), shape)


def handle_in(graph: Graph, variable: Any) -> SymbolicTensor:
    """The resource tensor that stands for a variable in `graph`."""
    variable = getattr(
        variable, "_parent", variable
    )  # one that an assignment returned stands for it
    handle = variable.handle
    if isinstance(handle, Eager):
        handle = graph.capture_variable(variable, handle)
    elif handle.op.graph is not graph:
        handle = graph.capture(handle)
    return handle


# Calls of rows.


def graph_of(values: Sequence[Any]) -> Graph:
    """The graph that a call belongs to: the one being built, else that of its inputs."""
    graph = context.current_graph()
    if graph is not None:
        return graph
    for value in values:
        for x in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(x, SymbolicTensor):
                if x.op.graph.building_function or context.executing_eagerly():
                    raise TypeError(misuse.out_of_scope(x))
                return x.op.graph
    return default_graph()


def build(row: Any, values: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """What native code calls for a row's call while a graph is built: its symbolic outputs."""
    name = wishes.name
    wishes.name = None
    graph = context.current_graph()
    if graph is None:
        graph = graph_of(values)
    op = call(graph, row, values, attrs, name)
    return packed(row, op)


def call(
    graph: Graph, row: Any, values: Sequence[Any], attrs: dict[str, Any], name: str | None = None
) -> Operation:
    """The operation that a call of `row` becomes."""
    schema = row.schema
    name = graph.take_name(name or row.node_name or row.name)
    try:
        inputs, sizes = schema.bind(values, converter(graph, name))
    except ValueError:
        _check_graphs(graph, values)
        raise
    return node(graph, row, tuple(inputs), tuple(sizes), schema.checked(attrs), name + "/")


def node(
    graph: Graph, row: Any, inputs: tuple[SymbolicTensor, ...], sizes: tuple[int | None, ...], attrs: dict[str, Any],
    name: str,
) -> Operation:  # fmt: skip
    """The operation of `row` on tensors of `graph`, with its outputs.

    Raises TypeError for dtypes that do not fit, ValueError for shapes that do not.
    """
    lists = [s for s in sizes if s is not None]
    kinds = row.schema.output_dtypes([x.dtype for x in inputs], attrs, lists)
    try:
        shapes = shape_inference.infer(row, inputs, attrs, lists)
    except InvalidArgumentError as error:
        message = getattr(error, "message", str(error))
        raise ValueError(f"{message} for {node_text(row, inputs, sizes, attrs, name.rstrip('/'))}") from None
    op = graph.add(row.name, row, inputs, sizes, attrs, name)
    for kind, shape in zip(kinds, shapes, strict=True):
        op.add_output(kind, shape)
    handle = getattr(row, "handle", None)
    if handle is not None:
        known, op.outputs[0].handle_dtype = handle(attrs)
        op.outputs[0].handle_shape = None if known.rank is None else tuple(known.as_list())
    elif row.forwards and len(inputs) == len(op.outputs):
        for given, output in zip(inputs, op.outputs, strict=True):
            if output.dtype == dtypes.resource:
                output.handle_dtype = getattr(given, "handle_dtype", None)
                output.handle_shape = getattr(given, "handle_shape", None)
    return op


def packed(row: Any, op: Operation) -> Any:
    """The outputs of an operation as a call of its row returns them."""
    outputs = op.outputs
    schema = row.schema
    if not schema.outputs:
        return op
    if len(schema.outputs) == 1:
        return list(outputs) if schema.outputs[0].is_list else outputs[0]
    if schema.plain:
        return row.result_type(*outputs)
    return row.result_type(*schema.split(outputs, schema.output_counts(op.attrs, op.list_sizes)))


def converter(graph: Graph, name: str) -> binder.Convert:
    """What makes tensors of the graph of the inputs of a node: constants below its name."""

    def convert(argument: Argument, value: Any, dtype: DType | None, place: int | None) -> SymbolicTensor:
        if isinstance(value, SymbolicTensor):
            return value if value.op.graph is graph else graph.capture(value)
        if argument.fixed is dtypes.resource and isinstance(value, _Variable):
            return handle_in(graph, value)
        own = argument.name if place is None else f"{argument.name}_{place}"
        return as_symbolic(graph, value, dtype, f"{name}/{own}/")

    return convert


def _check_graphs(graph: Graph, values: Sequence[Any]) -> None:
    """Raises ValueError where tensors of another graph are given to an operation of `graph`."""
    tensors = [x for x in nest.flatten(values) if isinstance(x, SymbolicTensor)]
    strangers = [x for x in tensors if x.op.graph is not graph]
    if strangers and not graph.building_function:
        raise ValueError(misuse.other_graph(strangers[0], graph, tensors)) from None


def create(
    graph: Graph, kind: str, inputs: list[Any], kinds: Any, attrs: dict[str, Any], name: str | None
) -> Operation:
    """An operation of any type on tensors, for those who build graphs node by node."""
    for x in inputs:
        if not isinstance(x, SymbolicTensor):
            raise TypeError(f"Input #{inputs.index(x)} is not a tensor: {x!r}")
    load_all_rows()  # that of the type may be among those that nothing used yet
    row = REGISTRY.get(kind)
    if row is None:
        op = graph.add(kind, None, tuple(inputs), (None,) * len(inputs), dict(attrs), name)
        for dtype, shape in output_specs(kinds):
            op.add_output(dtype, shape)
        return op
    schema = row.schema
    at = iter(schema.sizes(len(inputs)))
    own = {key: value for key, value in attrs.items() if key in row.attrs}
    return node(
        graph,
        row,
        tuple(inputs),
        tuple(next(at) if a.is_list else None for a in schema.inputs),
        own,
        name or kind,
    )


# Names.


# Conversions.


def convert_in_graph(value: Any, dtype: Any) -> Any:
    """What `convert_to_tensor` does while a graph is built."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    if isinstance(value, Eager):
        if dtype is not None and value.dtype != dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if isinstance(value, SymbolicTensor) and (dtype is None or value.dtype == dtype):
        return value
    graph = context.current_graph()
    name, wishes.name = wishes.name, None
    return as_symbolic(graph, value, dtype, name or "Const")


_native.set_hook("build_graph", boundary(build))
_native.set_hook("graph_convert", boundary(convert_in_graph))
_native.set_hook("graph_read", read)
_native.set_hook("graph_named", named)
_native.set_hook("graph_scoped", lambda function: hasattr(function, "graph_scope"))
_native.set_hook("graph_operator", boundary(operator))
