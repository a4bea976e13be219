"""Ops that are nodes without rows, called by keywords: one node of the graph being built."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tapeflow import protos
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.spelling import snake_case
from tapeflow.graph.build import building
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.graph import Graph, get_default_graph
from tapeflow.graph.interchange import attributes
from tapeflow.graph.nodes import reference_nodes
from tapeflow.graph.nodes.from_node_def import NodeMaker
from tapeflow.graph.nodes.node_kinds import SPECIAL
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops import node_rows


def body_of(attr: str, function: Any) -> Body:
    """The body of the concrete function that an attr is. Raises TypeError for anything else."""
    if not hasattr(function, "graph") or not hasattr(function, "outputs"):
        raise TypeError(
            f"The attr {attr!r} is a concrete function, not {function!r}: use "
            "`tf.function(f).get_concrete_function(...)`"
        )
    return Body(function.graph, list(function.outputs))


class _Given:
    """The concrete functions that attrs of one call are, under names for its node.

    What `function_bodies.Functions` is for a library.
    """

    def __init__(self) -> None:
        self.functions: list[Any] = []

    def add(self, attr: str, function: Any) -> str:
        """The name of the function that an attr is. Raises TypeError for what is not a concrete function."""
        body_of(attr, function)
        self.functions.append(function)
        return str(len(self.functions) - 1)

    def __contains__(self, name: str) -> bool:
        return False  # an op has no such name

    def arity(self, name: str) -> int:
        return len(self.functions[int(name)].graph.inputs)

    def body(self, name: str, where: str, given: Sequence[Any] = ()) -> Body:
        return body_of(where, self.functions[int(name)])


class Call(NamedTuple):
    """A node to be made.

    Attributes:
      node: its `NodeDef`, without inputs.
      inputs: tensors.
      functions: of its attrs.
    """

    node: Any
    inputs: list[Any]
    functions: _Given


@functools.cache
def names() -> frozenset[str]:
    """The ops without a row that can be made."""
    node_rows.load_all()
    return frozenset(kind for kind in SPECIAL if op_defs.known(kind) and not op_defs.has_row(kind))


def check_eager(kind: str) -> None:
    """Raises RuntimeError for an op that takes or makes references."""
    definition = op_defs.op_def(kind)
    references = [a.name for a in (*definition.input_arg, *definition.output_arg) if a.is_ref]
    if references:
        raise RuntimeError(f"{snake_case(kind)} op does not support eager execution. Arg '{references[-1]}' is a ref.")


@functools.cache
def parameters(kind: str) -> dict[str, Any]:
    """The inputs and the attrs that do not follow from them, with their defaults; `...` for those without one."""
    definition = op_defs.op_def(kind)
    inferred = {
        attr
        for argument in definition.input_arg
        for attr in (argument.type_attr, argument.type_list_attr, argument.number_attr)
    }
    found: dict[str, Any] = {argument.name: ... for argument in definition.input_arg}
    found |= {
        a.name: ...
        for a in definition.attr
        if a.name not in inferred and not a.HasField("default_value")
    }
    return found | {k: v for k, v in op_defs.defaults(kind).items() if k not in inferred}


def bound(kind: str, arguments: Mapping[str, Any]) -> Call:
    """What a call with these arguments makes; arguments that are left out have defaults.

    Raises TypeError or ValueError for values that do not suit the op.
    """
    definition = op_defs.op_def(kind)
    node, functions = protos.NodeDef(op=kind), _Given()
    attrs = {attr.name: attr.type for attr in definition.attr}
    inputs: list[Any] = []
    known: dict[str, Any] = {}

    def set_attr(key: str, value: Any) -> None:
        known[key] = value
        try:
            node.attr[key].CopyFrom(attributes.of(value, attrs[key], functools.partial(functions.add, key)))
        except (TypeError, ValueError) as error:
            raise TypeError(f"Expected {attrs[key]} for argument '{key}' not {value!r}: {error}") from None

    for key in attrs:
        if arguments.get(key) is not None:
            set_attr(key, arguments[key])
    for argument in definition.input_arg:
        value = arguments[argument.name]
        is_list = bool(argument.type_list_attr or argument.number_attr)
        if is_list and not isinstance(value, (list, tuple)):
            raise TypeError(
                f"Expected list for '{argument.name}' argument to '{kind}' Op, not {value}."
            )
        wanted = known.get(argument.type_attr)
        if not argument.type_attr and not argument.type_list_attr:
            wanted = dtypes.as_dtype(argument.type)
        tensors = []
        for each in value if is_list else [value]:
            tensors.append(_tensor(each, wanted))
            reference_nodes.check_reference(kind, argument, tensors[-1])
            if argument.type_attr:
                wanted = tensors[-1].dtype.base_dtype
        if argument.type_attr and argument.type_attr not in known and tensors:
            set_attr(argument.type_attr, wanted)
        if argument.type_list_attr:
            set_attr(argument.type_list_attr, [x.dtype.base_dtype for x in tensors])
        if argument.number_attr:
            if known.setdefault(argument.number_attr, len(tensors)) != len(tensors):
                raise ValueError(
                    f"List argument '{argument.name}' to '{kind}' Op with length {len(tensors)} must match length "
                    f"{known[argument.number_attr]} of argument '{argument.number_attr}'."
                )
            set_attr(argument.number_attr, len(tensors))
        inputs += tensors
    return Call(node, inputs, functions)


def _tensor(value: Any, wanted: Any) -> Any:
    handle = getattr(value, "handle", None)
    if wanted == dtypes.resource and handle is not None:
        return handle
    return convert_to_tensor(value, wanted)


def make(call: Call, name: str | None) -> Any:
    """The node in the graph being built, and of its outputs what the op returns.

    Returns:
      The operation for an op without outputs; a tensor or a list for one output; else a named tuple.
    """
    graph: Graph = context.current_graph() or get_default_graph()
    given = [building.as_symbolic(graph, x) for x in call.inputs]
    maker = NodeMaker(graph, call.functions)
    maker.check_known(call.node)
    op = maker.make(call.node, given, graph.unique_name(name or call.node.op))
    return op if not op_defs.op_def(call.node.op).output_arg else packed(call, op.outputs)


def packed(call: Call, outputs: Sequence[Any]) -> Any:
    """The outputs of a node as its op returns them."""
    kind = call.node.op
    definition = op_defs.op_def(kind)
    values, at = [], 0
    for argument in definition.output_arg:
        counted = argument.number_attr or argument.type_list_attr
        if not counted:
            values.append(outputs[at])
            at += 1
            continue
        # Reading a missing attr would make an empty one.
        attr = call.node.attr.get(counted)
        if attr is None:
            default = op_defs.defaults(kind)[counted]
            count = default if argument.number_attr else len(default)
        else:
            count = attr.i if argument.number_attr else len(attr.list.type)
        values.append(list(outputs[at : at + count]))
        at += count
    return values[0] if len(values) == 1 else _result_type(kind)(*values)


@functools.cache
def _result_type(kind: str) -> Any:
    return namedtuple(kind, [a.name for a in op_defs.op_def(kind).output_arg])
