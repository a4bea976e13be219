"""Loops as TensorFlow writes them in functions: a counter and the most iterations are their first variables.

TensorFlow's gradient of a loop takes the number of iterations from the counter.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes, tensor_proto
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph import building, loop
from tapeflow.graph.conditional import Body
from tapeflow.graph.operation import Operation
from tapeflow.ops.arithmetic import AddV2

LEADING = 2
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
    """How many variables come before those of an operation where a function has it as a node."""
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


def add_constants(op: Operation, nodes: Any) -> None:
    """Adds the first values of the leading variables of a loop to the nodes of its function."""
    for label, value in _FIRST.items():
        constant = nodes.add(name=f"{op.name}/{label}", op="Const")
        constant.attr["dtype"].type = dtypes.int32.as_datatype_enum
        constant.attr["value"].tensor.CopyFrom(tensor_proto.make_tensor_proto(value, dtypes.int32))


def first_inputs(op: Operation) -> list[str]:
    """How the node of a loop names them."""
    return [f"{op.name}/{label}:output:0" for label in _FIRST]
