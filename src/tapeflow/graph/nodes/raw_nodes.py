"""Ops that are nodes without rows, called by keywords: one node of the graph being built."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tapeflow import protos
from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.spelling import snake_case
from tapeflow.graph.build import building
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import attributes
from tapeflow.graph.nodes import reference_nodes
from tapeflow.graph.nodes.from_node_def import NodeMaker
from tapeflow.graph.nodes.node_kinds import SPECIAL
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops import node_rows
from tapeflow.ops.signature import Argument


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

    node: protos.NodeDef
    inputs: list[Any]
    functions: _Given


@functools.cache
def names() -> frozenset[str]:
    """The ops without a row that can be made."""
    node_rows.load_all()
    return frozenset(kind for kind in SPECIAL if op_defs.known(kind) and not op_defs.has_row(kind))


def check_eager(kind: str) -> None:
    """Raises RuntimeError for an op that takes or makes references."""
    schema = op_defs.schema(kind)
    references = [a.name for a in (*schema.inputs, *schema.outputs) if a.is_ref]
    if references:
        raise RuntimeError(f"{snake_case(kind)} op does not support eager execution. Arg '{references[-1]}' is a ref.")


@functools.cache
def parameters(kind: str) -> dict[str, Any]:
    """The inputs and the attrs that do not follow from them, with their defaults; `...` for those without one."""
    schema, definition = op_defs.schema(kind), op_defs.op_def(kind)
    inferred = {attr for argument in schema.inputs for attr in (argument.variable, argument.kinds, argument.length)}
    found: dict[str, Any] = {argument.name: ... for argument in schema.inputs}
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
    schema = op_defs.schema(kind)
    node, functions = protos.NodeDef(op=kind), _Given()
    attrs = {attr.name: attr.type for attr in op_defs.op_def(kind).attr}

    def set_attr(key: str, value: Any) -> None:
        try:
            node.attr[key].CopyFrom(attributes.of(value, attrs[key], functools.partial(functions.add, key)))
        except (TypeError, ValueError) as error:
            raise TypeError(f"Expected {attrs[key]} for argument '{key}' not {value!r}: {error}") from None

    for key in attrs:
        if arguments.get(key) is not None:
            set_attr(key, arguments[key])

    def convert(argument: Argument, value: Any, dtype: DType | None, place: int | None) -> Any:
        made = _tensor(value, dtype, argument.fixed)
        reference_nodes.check_reference(kind, argument, made)
        return made

    flat, sizes = schema.bind([arguments[a.name] for a in schema.inputs], convert)
    given = [x.dtype.base_dtype for x in flat]
    schema.check(given, [size for size in sizes if size is not None])
    for key, value in schema.inferred(given, sizes).items():
        set_attr(key, value)
    return Call(node, flat, functions)


def _tensor(value: Any, dtype: DType | None, fixed: DType | None) -> Any:
    handle = getattr(value, "handle", None)
    if fixed is dtypes.resource and handle is not None:
        return handle
    return convert_to_tensor(value, dtype)


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
    return op if not op_defs.schema(call.node.op).outputs else packed(call, op.outputs)


def packed(call: Call, outputs: Sequence[Any]) -> Any:
    """The outputs of a node as its op returns them."""
    kind = call.node.op
    schema, given = op_defs.schema(kind), call.node.attr
    known = op_defs.defaults(kind) | {name: attributes.own_value(given[name]) for name in given}
    values = schema.split(outputs, schema.output_counts(known, ()))
    return values[0] if len(values) == 1 else _result_type(kind)(*values)


@functools.cache
def _result_type(kind: str) -> Any:
    return namedtuple(kind, [a.name for a in op_defs.schema(kind).outputs])
