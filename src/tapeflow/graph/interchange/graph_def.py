"""Graphs as `GraphDef` messages: nodes, and a library with the functions that nodes call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.func_graph import USER_NAME
from tapeflow.graph.interchange import attributes, written_loops
from tapeflow.graph.interchange.node_values import values_of
from tapeflow.graph.interchange.written_as import is_composed, type_of
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import needed
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.binder import dtypes_of
from tapeflow.ops.lookup.table_object import Table
from tapeflow.ops.nn.batch_norm import FusedBatchNormGrad
from tapeflow.ops.state.resource_op import object_of

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

# The version of GraphDef that is written; those that read it must be as new as the second number.
# Nodes with bodies: the type to write where nothing in the bodies has effects.
_STATELESS = {"If": "StatelessIf", "Case": "StatelessCase", "While": "StatelessWhile"}


def to_graph_def(graph: Graph, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """The `GraphDef` of a graph.

    Args:
      from_version: only the nodes added after the graph had this version.
      add_shapes: whether to note the shapes of outputs, as the attr `_output_shapes`.

    Raises ValueError if it would be larger than 2GB.
    """
    first = 0 if from_version is None else from_version
    return of_operations(graph, graph.operations[first:] if first else graph.operations, add_shapes)


def of_operations(graph: Graph, operations: Iterable[Operation], add_shapes: bool = False, counted: bool = True) -> Any:
    """The `GraphDef` of some operations of a graph.

    Args:
      counted: whether loops have the leading variables; else their nodes are as their operations are.
    """
    made = protos.GraphDef()
    made.versions.producer = graph.producer_version
    made.versions.min_consumer = graph.min_consumer
    library = Library()
    size = 0
    for op in operations:
        leading = written_loops.add_constants(op, made.node) if counted else []
        node = made.node.add()
        write_node(op, node, library.name_of, reference, leading)
        if add_shapes and op.outputs:
            _add_shapes(op, node)
        if leading:
            written_loops.add_results(op, made.node)
        size += node.ByteSize()
        if size >= 1 << 31:
            raise ValueError("GraphDef cannot be larger than 2GB.")
    if library.functions:
        made.library.function.extend(library.functions.values())
    return made


def node_def(op: Operation) -> Any:
    """The `NodeDef` of an operation."""
    node = protos.NodeDef()
    write_node(op, node, Library().name_of, reference)
    return node


def op_def(op: Operation) -> Any:
    """The `OpDef` of an operation; one made up of its tensors for a type that is not known."""
    kind = written_type(op)
    if op_defs.known(kind):
        return op_defs.op_def(kind)
    made = protos.OpDef(name=kind, is_stateful=op.stateful)
    for target, tensors, label in (
        (made.input_arg, op.inputs, "input"),
        (made.output_arg, op.outputs, "output"),
    ):
        for i, x in enumerate(tensors):
            target.add(name=f"{label}_{i}", type=x.dtype.as_datatype_enum)
    return made


def written_type(op: Operation) -> str:
    """The type of the node that an operation is written as."""
    if is_composed(op.row):
        return "StatefulPartitionedCall" if op.stateful else "PartitionedCall"
    if op.type == "PartitionedCall" and op.stateful:
        return "StatefulPartitionedCall"
    if op.type in _STATELESS and not op.stateful:
        return _STATELESS[op.type]
    if op.type == "Const" and _is_shared_by_datasets(op.attrs["value"]):
        return "DummySeedGenerator"
    return type_of(op.type, op.row)


def _is_shared_by_datasets(value: Any) -> bool:
    """Whether a constant stands for what datasets shared in another process: a new one serves as well."""
    return value.dtype == dtypes.resource and object_of(value) is None


def reference(tensor: SymbolicTensor) -> str:
    """How nodes of a graph name a tensor."""
    return f"{tensor.op.name}:{tensor.value_index}" if tensor.value_index else tensor.op.name


def write_node(
    op: Operation,
    node: protos.NodeDef,
    function_name: Callable[[Any], str],
    refer: Callable[[SymbolicTensor], str],
    leading: Sequence[str] = (),
) -> None:
    """Fills a `NodeDef`.

    Args:
      leading: what a loop takes before its own variables; none: it is written without the leading ones.

    A table, which is an object of this process, is written as the node that makes one; other such objects as
    placeholders.
    """
    # A function of devices is given an operation that has no outputs yet, and may look at its node.
    if op.type == "Const" == written_type(op) and op.attrs["value"].dtype == dtypes.resource:
        node.name, node.op, node.device = op.name, "Placeholder", op.device or ""
        node.input.extend(sorted(f"^{other.name}" for other in op.control_inputs))
        held = object_of(op.attrs["value"])
        if isinstance(held, Table) and not held.forbidden:
            _write_table(held, node)
            return
        node.attr["dtype"].type = dtypes.resource.as_datatype_enum
        node.attr["shape"].shape.SetInParent()
        return
    node.name = op.name
    node.op = written_type(op)
    node.device = op.device or ""
    own = None if op.row is None else op.row.spelling
    inputs, given = (op.inputs, None) if own is None else own[1](op)
    if leading:
        given = written_loops.counted_values(op)
        node.input.extend(leading)
    node.input.extend(map(refer, inputs))
    node.input.extend(sorted(f"^{other.name}" for other in op.control_inputs))
    definition = op_def(op)
    values = values_of(op, definition) if given is None else given
    kinds = {a.name: a.type for a in definition.attr}
    for name, value in values.items():
        kind = kinds.get(name)
        if kind == "func" and not hasattr(value, "graph"):
            kind = None  # a row's attr that may be any object
        try:
            made = attributes.of(value, kind, function_name) if kind else attributes.guessed(value)
        except (TypeError, ValueError) as error:
            if name not in kinds:
                continue  # what only this library keeps with a node
            raise TypeError(
                f"attr '{name}' of operation '{op.name}' ({op.type}) cannot be written: {error}"
            ) from None
        node.attr[name].CopyFrom(made)
    for name, value in op.extra_attrs.items():
        node.attr[name].CopyFrom(attributes.guessed(value))


def _write_table(table: Table, node: protos.NodeDef) -> None:
    node.op = "HashTableV2" if table.fixed else "MutableHashTableV2"
    if table.value_shape:
        node.op = "MutableHashTableOfTensorsV2"
        node.attr["value_shape"].CopyFrom(attributes.of(TensorShape(table.value_shape), "shape"))
    node.attr["shared_name"].s = table.shared_name.encode()
    node.attr["key_dtype"].type = table.key_dtype.as_datatype_enum
    node.attr["value_dtype"].type = table.value_dtype.as_datatype_enum


def _add_shapes(op: Operation, node: protos.NodeDef) -> None:
    shapes = (
        written_loops.shapes(op) if op.type == "While" else [TensorShape(y.shape_tuple) for y in op.outputs]
    )
    if op.type.startswith(FusedBatchNormGrad.name):
        # The last two are scalars; TensorFlow's rule says vectors, and would refuse the graph.
        shapes[3:] = [TensorShape(None)] * len(shapes[3:])
    node.attr["_output_shapes"].CopyFrom(attributes.of(shapes, "list(shape)"))


# Attrs.


# Functions.


class Library:
    """The `FunctionDef`s that nodes need, by name."""

    def __init__(self) -> None:
        self.functions: dict[str, Any] = {}

    def name_of(self, body: Callable[..., Any]) -> str:
        """The name of a body (`graph`, `outputs`), which is added if it is new."""
        name = function_name(body)
        if name not in self.functions:
            self.functions[name] = None
            self.functions[name] = function_def(body, name, self.name_of)
        return name


_taken: dict[str, int] = {}


def function_name(body: Any) -> str:
    """The name of a body's function: always the same one for the same graph and outputs."""
    names = body.graph.__dict__.setdefault("_function_names", {})
    key = tuple(map(id, body.outputs))
    if key not in names:
        base = re.sub(r"[^A-Za-z0-9_]", "_", body.graph.name) or "function"
        count = _taken.get(base, 0)
        _taken[base] = count + 1
        names[key] = f"{base}_{count}"
    return names[key]


def function_def(
    body: Any, name: str, name_of: Callable[[Any], str], kept: Iterable[SymbolicTensor] = ()
) -> Any:
    """The `FunctionDef` of a body.

    Args:
      kept: tensors of the body whose operations are written though nothing in it may need them.
    """
    graph, outputs = body.graph, body.outputs
    made = protos.FunctionDef()
    made.signature.name = name
    arguments = {}
    taken: set[str] = set()
    for i, x in enumerate(graph.inputs):
        label = _argument_name(x.op.name, taken)
        arguments[id(x)] = label
        made.signature.input_arg.add(name=label, type=x.dtype.as_datatype_enum)
        shapes = attributes.of([TensorShape(x.shape_tuple)], "list(shape)")
        made.arg_attr[i].attr["_output_shapes"].CopyFrom(shapes)
        if USER_NAME in x.op.extra_attrs:
            made.arg_attr[i].attr[USER_NAME].s = x.op.extra_attrs[USER_NAME]
    for key, value in graph.function_attrs.items():
        made.attr[key].CopyFrom(value)

    def refer(tensor: SymbolicTensor) -> str:
        own = arguments.get(id(tensor))
        return _inner_reference(tensor) if own is None else own

    ops = [op for op in graph.operations if op.effects]
    for op in needed(graph, [*outputs, *kept], ops, graph.inputs):
        if op.outputs and id(op.outputs[0]) in arguments:
            continue
        leading = [f"{name}:output:0" for name in written_loops.add_constants(op, made.node_def)]
        write_node(op, made.node_def.add(), name_of, refer, leading)
        made.signature.is_stateful |= op.stateful
        if op.effects:
            made.control_ret[op.name] = op.name
            made.signature.control_output.append(op.name)
    for y in outputs:
        label = _argument_name(y.op.name, taken)
        made.signature.output_arg.add(name=label, type=y.dtype.as_datatype_enum)
        made.ret[label] = refer(y)
    return made


def _argument_name(name: str, taken: set[str]) -> str:
    base = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not base or not base[0].isalpha():
        base = f"arg_{base}" if base else "arg"
    label = base
    count = 0
    while label in taken:
        count += 1
        label = f"{base}_{count}"
    taken.add(label)
    return label


def _inner_reference(tensor: SymbolicTensor) -> str:
    """How nodes of a function name a tensor: by the output of the op's definition, and the place in it."""
    op = tensor.op
    at = tensor.value_index
    if op.type == "While":
        return f"{op.name}:output:{written_loops.leading(op) + at}"
    for argument, count in output_sizes(op):
        if at < count:
            return f"{op.name}:{argument}:{at}"
        at -= count
    raise ValueError(f"{tensor!r} is no output of its operation")


def output_sizes(op: Operation) -> list[tuple[str, int]]:
    """The names of the outputs in the op's definition, and how many tensors each is."""
    definition = op_def(op)
    if len(definition.output_arg) == 1 and definition.output_arg[0].type_list_attr:
        return [(definition.output_arg[0].name, len(op.outputs))]
    if not any(a.number_attr or a.type_list_attr for a in definition.output_arg):
        return [(a.name, 1) for a in definition.output_arg]
    schema, values = op_defs.schema(definition.name), values_of(op, definition)
    return [(a.name, len(dtypes_of(a, values))) for a in schema.outputs]
