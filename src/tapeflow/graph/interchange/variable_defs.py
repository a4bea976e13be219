"""Variables of graphs as `VariableDef` messages, and back."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.core.variables import declare, describe, graph_parts
from tapeflow.graph.build.variables import Parts
from tapeflow.graph.graph import Graph
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.ops.state.rows import ReadVariableOp, VarIsInitializedOp
from tapeflow.ops.state.variable import Variable, VariableAggregation, VariableSynchronization


def prepend_scope(name: str, scope: str | None) -> str:
    """`name` below `scope`; the signs of control inputs and colocation stay in front."""
    if not scope:
        return name
    for sign in ("^", "loc:@"):
        if name.startswith(sign):
            return f"{sign}{scope}/{name.removeprefix(sign)}"
    return f"{scope}/{name}"


def strip_scope(name: str, scope: str | None) -> str:
    """`name` without the `scope` that it is in; what is elsewhere stays as it is."""
    if not scope:
        return name
    prefix = scope.rstrip("/") + "/"
    for sign in ("^", "loc:@"):
        if name.startswith(sign + prefix):
            return sign + name.removeprefix(sign + prefix)
    return name.removeprefix(prefix)


def in_scope(name: str, scope: str | None) -> bool:
    return not scope or name.startswith(scope)


def to_proto(variable: Any, export_scope: str | None = None) -> Any:
    """The `VariableDef` of a variable of a graph; None if it is not in `export_scope`.

    Raises RuntimeError for an eager variable.
    """
    parts = graph_parts(variable)
    if parts is None:
        raise RuntimeError("This operation is not supported when eager execution is enabled.")
    if not in_scope(parts.handle.name, export_scope):
        return None
    made = protos.VariableDef(
        variable_name=strip_scope(_value_name(variable), export_scope),
        initializer_name=strip_scope(parts.initializer.name, export_scope),
        snapshot_name=strip_scope(parts.element.name, export_scope),
        is_resource=True,
        trainable=variable.trainable,
        synchronization=variable.synchronization.value,
        aggregation=variable.aggregation.value,
    )
    if parts.initial_value is not None:
        made.initial_value_name = strip_scope(parts.initial_value.name, export_scope)
    return made


def _value_name(variable: Any) -> str:
    """The name of the handle; of a variable that was a reference, that of its value."""
    parts = graph_parts(variable)
    name = variable.name.removesuffix(":0")
    own = parts.graph.get_operation_by_name(name) if name in parts.graph.names else None
    reads = own is not None and own.row is ReadVariableOp and own.inputs[0] is parts.handle
    return variable.name if reads else parts.handle.name


def from_proto(definition: Any, graph: Graph, import_scope: str | None = None) -> Any:
    """The variable whose nodes in `graph` a `VariableDef` names; the same object for the same nodes.

    Raises ValueError if it names none.
    """

    def element(name: str) -> Any:
        try:
            return graph.as_graph_element(prepend_scope(name, import_scope))
        except (KeyError, TypeError) as error:
            raise ValueError(f"VariableDef of '{definition.variable_name}': {error}") from None

    handle = element(definition.variable_name)
    name = handle.op.name
    if handle.op.row is ReadVariableOp:  # a reference variable of 1.x, as imports rewrite them
        handle = handle.op.inputs[0]
    known = graph.variables_by_handle.variable_of(handle)
    if known is not None:
        return known
    if getattr(handle, "dtype", None) != dtypes.resource or handle.op.type != VarHandleOp.name:
        raise ValueError(
            f"VariableDef of '{definition.variable_name}': {handle} is no variable's handle"
        )
    parts = Parts()
    parts.graph = graph
    parts.handle = handle
    parts.initializer = element(definition.initializer_name)
    parts.element = element(definition.snapshot_name)
    parts.initial_value = (
        element(definition.initial_value_name) if definition.initial_value_name else None
    )
    parts.is_initialized = _is_initialized(graph, handle)
    made = Variable.__new__(Variable)
    declare(made, handle.handle_dtype, definition.trainable, TensorShape(handle.handle_shape), parts)
    describe(
        made,
        {
            "full_name": name, "name": None, "constraint": None,
            "synchronization": VariableSynchronization(definition.synchronization),
            "aggregation": VariableAggregation(definition.aggregation),
        },
    )  # fmt: skip
    graph.variables_by_handle[made] = handle
    return made


def _is_initialized(graph: Graph, handle: Any) -> Any:
    for op in graph.consumers_of(handle):
        if op.row is VarIsInitializedOp:
            return op.outputs[0]

    with graph.as_default(), graph.control_dependencies(None):
        return VarIsInitializedOp(handle)
