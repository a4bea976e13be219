"""Operations without a row, from their `NodeDef`s: constants, placeholders, variables, nodes with bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build import building
from tapeflow.graph.control_flow.conditional import relaxed
from tapeflow.graph.func_graph import copy_handle
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.control.grouping import NoOp
from tapeflow.ops.state.resource import VarHandleOp

if TYPE_CHECKING:
    from tapeflow.graph.nodes.from_node_def import NodeMaker

_Maker = Callable[[Any, Any, Sequence[SymbolicTensor], str, dict[str, Any]], Operation]
SPECIAL: dict[str, _Maker] = {}


def makes(*kinds: str) -> Callable[[_Maker], _Maker]:
    """Decorates what makes the operation of nodes of some types out of a GraphDef."""

    def register(function: _Maker) -> _Maker:
        SPECIAL.update(dict.fromkeys(kinds, function))
        return function

    return register


def _tuple(shape: TensorShape) -> tuple[int | None, ...] | None:
    return None if shape.rank is None else tuple(shape.as_list())


@makes("Const")
def _const(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    value = values["value"]
    if value.dtype != values["dtype"]:
        raise ValueError(
            f"Node '{name}': the value of the constant has dtype {value.dtype.name}, "
            f"its attr dtype is {values['dtype'].name}"
        )
    return building.constant(maker.graph, value, name + "/").op


@makes("Placeholder", "PlaceholderV2")
def _placeholder(
    maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]
) -> Operation:
    shape = _tuple(values["shape"])
    if shape == () and node.op == "Placeholder" and maker.producer < 24:
        shape = None  # where a shape was not known, old writers left out its dimensions
    return building.placeholder(maker.graph, values["dtype"], shape, name + "/").op


@makes("PlaceholderWithDefault")
def _placeholder_with_default(
    maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: Any
) -> Operation:
    op = _plain(maker, node.op, inputs, name, {"dtype": values["dtype"], "shape": values["shape"]})
    op.add_output(values["dtype"], _tuple(values["shape"]))
    return op


def _plain(
    maker: NodeMaker, kind: str, inputs: Sequence[Any], name: str, attrs: dict[str, Any]
) -> Operation:
    return maker.graph.add(kind, None, tuple(inputs), (None,) * len(inputs), attrs, name + "/")


@makes(NoOp.name, "ControlTrigger")
def _no_op(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    return _plain(maker, NoOp.name, inputs, name, {})


@makes("IdentityN")
def _identity_n(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    op = _plain(maker, "IdentityN", inputs, name, {})
    for x in inputs:
        op.add_output(x.dtype, x.shape_tuple)
    return op


@makes(VarHandleOp.name)
def _variable_handle(
    maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]
) -> Operation:
    op = _plain(maker, VarHandleOp.name, (), name, values)
    handle: Any = op.add_output(dtypes.resource, ())
    handle.handle_shape = _tuple(values["shape"])
    handle.handle_dtype = values["dtype"]
    return op


@makes("Assert")
def _assert(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    return python_ops.assertion(inputs[0], inputs[1:], values["summarize"], name + "/")


@makes("EagerPyFunc", "PyFunc", "PyFuncStateless")
def _python(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    op = python_ops.again(node.op, values["token"], inputs, name + "/")
    if op is not None:
        return op
    raise UnimplementedError(
        node, None, f"Node '{name}' ({node.op}) calls a Python function, which is not in the GraphDef."
    )  # fmt: skip


# Nodes with bodies.


@makes("PartitionedCall", "StatefulPartitionedCall")
def _call(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    return maker.call(node, inputs, name, values)


@makes("If", "StatelessIf", "Case", "StatelessCase")
def _branches(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    case = node.op.endswith("Case")
    functions = values["branches"] if case else [values["then_branch"], values["else_branch"]]
    if not functions:
        raise ValueError(f"Node '{name}' has no branches")
    bodies = [maker.body(f, inputs[1:], values["Tout"], name) for f in functions]
    op = _plain(maker, "Case" if case else "If", inputs, name, {"branches": bodies})
    shapes = _shapes(values, len(values["Tout"]))
    for i, dtype in enumerate(values["Tout"]):
        shape = bodies[0].outputs[i].shape_tuple
        for other in bodies[1:]:
            shape = relaxed(shape, other.outputs[i].shape_tuple)
        op.add_output(dtype, shape if shapes is None else _merged(shapes[i], shape, name))
    return op


def _merged(shape: TensorShape, known: Any, name: str) -> tuple[int | None, ...] | None:
    try:
        return _tuple(shape.merge_with(TensorShape(known)))
    except ValueError as error:
        raise ValueError(
            f"output_shapes of node '{name}' contradict its functions: {error}"
        ) from None


def _shapes(values: dict[str, Any], count: int) -> list[TensorShape] | None:
    shapes = values["output_shapes"]
    return shapes if len(shapes) == count else None


@makes("While", "StatelessWhile")
def _while(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, values: dict[str, Any]) -> Operation:
    kinds = values["T"]
    cond = maker.body(values["cond"], inputs, [dtypes.bool], name)
    body = maker.body(values["body"], inputs, kinds, name)
    op = _plain(maker, "While", inputs, name, {"cond": cond, "body": body, "n_vars": len(kinds), "as_read": True})
    shapes = _shapes(values, len(kinds))
    for i, x in enumerate(inputs):
        shape = (
            relaxed(x.shape_tuple, body.outputs[i].shape_tuple)
            if shapes is None
            else _tuple(shapes[i])
        )
        made = op.add_output(x.dtype, shape)
        copy_handle(x, made)
    return op
