"""Loops as TensorFlow writes them: a counter and the most iterations are their first variables.

TensorFlow's gradient of a loop takes the number of iterations from the counter, and converters skip both.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.files import tensor_proto
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build import building
from tapeflow.graph.control_flow import loop
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.operation import Operation
from tapeflow.ops.math.arithmetic import AddV2

LEADING = 2
_SHAPES = "_output_shapes"
_FIRST = {"loop_counter": 0, "maximum_iterations": -1}  # -1: as many as the condition wants


class Whole:
    """A body of a loop as TensorFlow has it: what does not change from one iteration to the next is returned as well.

    Args:
      variables: how many of the inputs the body returns anew; 0 for a condition.
    """

    def __init__(self, body: Any, variables: int):
        self.graph = body.graph
        self.outputs = [*body.outputs, *body.graph.inputs[variables:]] if variables else list(body.outputs)


def shapes(op: Operation) -> list[TensorShape]:
    """Those of the outputs of a loop, and of what TensorFlow's loop returns unchanged."""
    return [TensorShape(x.shape_tuple) for x in (*op.outputs, *op.inputs[op.attrs["n_vars"] :])]


def values(op: Operation) -> dict[str, Any]:
    """The attrs of a loop."""
    return {
        "T": [x.dtype for x in op.inputs],
        "cond": Whole(op.attrs["cond"], 0),
        "body": Whole(op.attrs["body"], op.attrs["n_vars"]),
        "output_shapes": shapes(op),
        "parallel_iterations": 10,
    }


def leading(op: Operation) -> int:
    """How many variables come before those of an operation where it is written as a node."""
    return LEADING if op.type == "While" and not op.attrs.get("as_read") else 0


def counted_values(op: Operation) -> dict[str, Any]:
    """The attrs of a loop with the leading variables."""
    scalars = [TensorShape(())] * LEADING
    return {
        **values(op),
        "T": [dtypes.int32] * LEADING + [x.dtype for x in op.inputs],
        "cond": _counted(op.attrs["cond"], 0),
        "body": _counted(op.attrs["body"], op.attrs["n_vars"]),
        "output_shapes": scalars + shapes(op),
    }


def _counted(body: Body, variables: int) -> Any:
    """A body with the leading variables; the same one each time."""
    made = body.graph.__dict__.setdefault("_counted_bodies", {})
    key = tuple(map(id, body.outputs))
    if key not in made:
        copy, _ = loop.clone(body, 0, [(dtypes.int32, ())] * LEADING)
        outputs = list(copy.outputs)
        if variables:
            counter, most = copy.graph.inputs[:LEADING]
            with copy.graph.as_default():
                after = AddV2(counter, building.as_symbolic(copy.graph, 1))
            outputs = [after, most, *copy.outputs, *copy.graph.inputs[LEADING + variables :]]
        made[key] = Body(copy.graph, outputs)
    return made[key]


def add_constants(op: Operation, nodes: Any) -> list[str]:
    """Adds the first values of the leading variables of a loop to the nodes of its graph or function.

    Returns:
      The names of these nodes; none for what is no loop.
    """
    if not leading(op):
        return []
    names = [f"{op.name}/{label}" for label in _FIRST]
    for name, value in zip(names, _FIRST.values(), strict=True):
        constant = nodes.add(name=name, op="Const")
        constant.attr["dtype"].type = dtypes.int32.as_datatype_enum
        constant.attr["value"].tensor.CopyFrom(tensor_proto.make_tensor_proto(value, dtypes.int32))
    return names


def add_results(op: Operation, nodes: Any) -> None:
    """Gives the node of a loop, the last of a graph, another name; a new one has the loop's own variables as outputs.

    What names a result of the loop, such as a signature, so finds it where it is without the leading variables.
    """
    *_, counter, most, node = nodes
    results = nodes.add(name=op.name, op="IdentityN", device=node.device)
    node.name = f"{op.name}/counted"
    results.input.extend(f"{node.name}:{LEADING + i}" for i in range(len(op.outputs)))
    results.attr["T"].list.type.extend(y.dtype.as_datatype_enum for y in op.outputs)
    if _SHAPES in node.attr:
        known = list(node.attr[_SHAPES].list.shape)
        scalars = [TensorShape(()).as_proto()] * LEADING
        for each, found in (
            (counter, scalars[:1]), (most, scalars[:1]), (node, scalars + known), (results, known[: len(op.outputs)]),
        ):  # fmt: skip
            each.attr[_SHAPES].list.ClearField("shape")
            each.attr[_SHAPES].list.shape.extend(found)
