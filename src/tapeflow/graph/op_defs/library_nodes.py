"""Nodes that libraries add to a graph from their definition."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.core.dtypes import as_dtype, resource
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import attributes
from tapeflow.graph.interchange.importing import import_graph_def
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import shape_inference
from tapeflow.ops.binder import dtypes_of
from tapeflow.ops.state.rows import ReadVariableOp
from tapeflow.ops.validate import type_text


def create_c_op(
    graph: Graph, node_def: Any, inputs: Any, control_inputs: Any, op_def: Any = None, extract_traceback: bool = True
) -> Any:
    """The operation that a NodeDef describes, added to a graph.

    Args:
      graph: the graph.
      node_def: a NodeDef; its inputs are left out of account.
      inputs: the inputs, tensors of the graph, or lists of such where the op takes a list.
      control_inputs: operations that run before it.
      op_def: not used: the ops are known.
      extract_traceback: not used.

    Raises ValueError for an op that is not known, or inputs that do not fit it.
    """
    flat = [x for x in nest.flatten(inputs) if isinstance(x, SymbolicTensor)]
    message = protos.NodeDef()
    message.CopyFrom(node_def)
    given = {}
    del message.input[:]
    made = protos.GraphDef()
    if any(attr.func.name or attr.list.func for attr in message.attr.values()):
        made.library.CopyFrom(graph.as_graph_def().library)
    for i, x in enumerate(flat):
        message.input.append(f"input_{i}:0")
        given[f"input_{i}:0"] = x
    made.node.append(message)
    with graph.as_default(), graph.control_dependencies(None):
        (found,) = import_graph_def(made, input_map=given, return_elements=[message.name], name="") or (None,)
    if found is not None and control_inputs:
        found.add_control_inputs(list(control_inputs))
    return found


def from_node_def(
    node_def: Any, g: Any, inputs: Any, output_types: Any, control_inputs: Any, original_op: Any
) -> Operation:
    """What `tf.Operation(node_def, g, ...)` is; see there."""
    if not isinstance(node_def, protos.NodeDef):
        raise TypeError(f"Argument node_def must be a NodeDef. Received an instance of type: {type(node_def)}.")
    if not isinstance(g, Graph):
        raise TypeError(f"Argument g must be a Graph. Received an instance of type {type(g)}")
    if inputs is not None and not isinstance(inputs, list):
        raise TypeError(f"Argument inputs shall be a list of Tensors. Received an instance of type {type(inputs)}")
    for x in inputs or ():
        if not isinstance(x, SymbolicTensor):
            raise TypeError(f"Items of argument inputs shall be Tensor. Received an instance of type {type(x)}.")
    controls = [_control(c) for c in control_inputs or ()]
    if node_def.name in g.names:
        raise ValueError(f"Duplicate node name in graph: '{node_def.name}'")
    given = list(inputs or ())
    expected = _expected_inputs(node_def)
    missing = expected[len(given) :] if not given else []
    lacking = Operation.make(g, "Placeholder", None, (), (), {}, f"{node_def.name}/inputs", "", [])
    given += [lacking.add_output(dtype, None) for dtype in missing]
    op = create_c_op(g, node_def, given, controls)
    op.gradient_of = original_op
    if missing:
        kinds = ", ".join(map(type_text, missing))
        g.mistyped[op] = f"NodeDef of {op.name} expected inputs '{kinds}' do not match 0 inputs specified."
    wanted = None if output_types is None else [as_dtype(t).base_dtype for t in output_types]
    if wanted is not None and wanted != [y.dtype.base_dtype for y in op.outputs]:
        raise TypeError(f"{op.name} has outputs of types {[y.dtype.name for y in op.outputs]}, not {output_types}.")
    return op


def add_input(op: Operation, tensor: Any) -> None:
    """Gives an operation that was described without its inputs the next of them.

    The value of a variable stands for the variable where the op takes this: in the graphs of 1.x the two were one.

    Raises ValueError if it has all.
    """
    lacking = [i for i, x in enumerate(op.inputs) if x.op.name not in op.graph.names]
    if not lacking:
        raise ValueError(f"Operation '{op.name}' has all of its {len(op.inputs)} inputs.")
    if op.inputs[lacking[0]].dtype == resource and tensor.op.row is ReadVariableOp:
        tensor = tensor.op.inputs[0]
    told = op.graph.mistyped.get(op)
    op.update_input(lacking[0], tensor)
    if lacking[1:]:
        op.graph.mistyped.setdefault(op, told)
    elif op.row is not None and op not in op.graph.mistyped:
        for y, shape in zip(op.outputs, shape_inference.infer(op.row, op.inputs, op.attrs, op.list_sizes), strict=True):
            y.set_shape(TensorShape(shape))


def _control(value: Any) -> Operation:
    op = value if isinstance(value, Operation) else getattr(value, "op", None)
    if not isinstance(op, Operation):
        kind = type(value)
        raise TypeError(
            f"Control input must be an Operation, a Tensor, or IndexedSlices. Received an instance of type {kind}."
        )
    return op


def _expected_inputs(node: Any) -> list[Any]:
    """The dtypes of the inputs that a node's attrs say; none for an op that is not known."""
    if not op_defs.known(node.op):
        return []
    definition = op_defs.op_def(node.op)
    values = {}
    for attr in definition.attr:
        if attr.name in node.attr:
            values[attr.name] = attributes.value_of(node.attr[attr.name], attr.type, attr.name)
        elif attr.HasField("default_value"):
            values[attr.name] = attributes.value_of(attr.default_value, attr.type, attr.name)
    return [kind for argument in op_defs.schema(node.op).inputs for kind in dtypes_of(argument, values)]
