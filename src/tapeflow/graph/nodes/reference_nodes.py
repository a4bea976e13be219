"""Nodes of ops on references to variables, as the first versions of TensorFlow had them.

A reference is the value of a variable here, which its node read: an op on it changes the variable behind its handle,
and gives the value after that. Graphs that are imported are rewritten before: see `reference_variables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.graph.build import building
from tapeflow.graph.nodes.node_kinds import SPECIAL, _variable_handle, makes
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.op_defs import reference_definitions
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import OF_REFERENCE
from tapeflow.ops.state.rows import ReadVariableOp, VarIsInitializedOp
from tapeflow.ops.state.variable_parts import ResourceCountUpTo
from tapeflow.ops.table import REGISTRY
from tapeflow.ops.validate import type_text

if TYPE_CHECKING:
    from tapeflow.graph.nodes.from_node_def import NodeMaker

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

HANDLE = "/resource_handle"
UPDATE = "/resource_update"


def is_reference(value: Any) -> bool:
    """Whether a tensor is the value of a variable that an op on references may change."""
    op = getattr(value, "op", None)
    return op is not None and getattr(op, "row", None) is ReadVariableOp


def check_reference(kind: str, argument: Any, value: Any) -> None:
    """Raises TypeError for what is no reference."""
    if argument.is_ref and not is_reference(value):
        raise TypeError(
            f"'{kind}' Op requires that input '{argument.name}' be a mutable tensor (e.g.: a tf.Variable)"
        )


def _handles(node: protos.NodeDef, inputs: Any) -> list[Any]:
    """The inputs, with the handles of variables for references."""
    found = []
    for i, (argument, x) in enumerate(zip(op_defs.schema(node.op).inputs, inputs, strict=True)):
        if argument.is_ref and not is_reference(x):
            raise ValueError(
                f"Input {i} of node {node.name} was passed {type_text(x.dtype)} from {x.name} incompatible "
                f"with expected {type_text(x.dtype)}_ref."
            )
        found.append(x.op.inputs[0] if argument.is_ref else x)
    return found


def _row(graph: Graph, row: Any, inputs: Any, attrs: dict[str, Any], name: str) -> Operation:
    own = {key: value for key, value in attrs.items() if key in row.attrs}
    return building.node(graph, row, tuple(inputs), (None,) * len(inputs), own, name + "/")


def _read(graph: Graph, handle: Any, dtype: Any, name: str) -> Operation:
    return _row(graph, ReadVariableOp, [handle], {"dtype": dtype}, name)


@makes("Variable", "VariableV2", "TemporaryVariable")
def _variable(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    shared = values.get("shared_name") or values.get("var_name") or name
    attrs = {"container": values.get("container", ""), "shared_name": shared, "dtype": values["dtype"],
             "shape": values["shape"]}  # fmt: skip
    handle = _variable_handle(maker, node, (), name + HANDLE, attrs)
    handle.take_attrs({OF_REFERENCE: True})
    return _read(maker.graph, handle.outputs[0], values["dtype"], name)


def _update(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    """The update of the variable, and what reads it after that."""
    sources = [x.op for x, own in zip(inputs, op_defs.schema(node.op).inputs, strict=True) if own.is_ref]
    handles = _handles(node, inputs)
    with maker.graph.control_dependencies(sources):
        made = _row(maker.graph, REGISTRY[reference_definitions.counterpart(node.op)], handles, values, name + UPDATE)
    with maker.graph.control_dependencies([made]):
        return _read(maker.graph, handles[0], inputs[0].dtype, name)


@makes("CountUpTo")
def _count(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    return _row(maker.graph, ResourceCountUpTo, _handles(node, inputs), values, name)


@makes("RefIdentity", "DestroyTemporaryVariable", "DebugGradientRefIdentity")
def _identity(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    with maker.graph.control_dependencies([inputs[0].op]):
        return _read(maker.graph, _handles(node, inputs)[0], inputs[0].dtype, name)


@makes("IsVariableInitialized")
def _is_initialized(
    maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]
) -> Operation:
    return _row(maker.graph, VarIsInitializedOp, _handles(node, inputs), {}, name)


SPECIAL.update(dict.fromkeys(reference_definitions.UPDATES, _update))
