"""Arithmetic simplification: steps that change nothing are left out, some are replaced by cheaper ones.

Only what gives the same bits is done: `x * 1`, `x / 1`, `x - 0`, a reshape to the shape that is there, a cast to the
dtype that is there; not `x + 0` (which loses the sign of -0.0), nor `x * 0`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.graph.run.program import Instruction, Program
from tapeflow.ops.array.broadcasting import BroadcastTo
from tapeflow.ops.array.layout import ExpandDims, Reshape
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.math.accumulate import AddN
from tapeflow.ops.math.arithmetic import AddV2, Mul, Pow, Sub
from tapeflow.ops.math.casting import Cast
from tapeflow.ops.math.division import RealDiv
from tapeflow.ops.math.elementwise import Neg, Square
from tapeflow.ops.math.logic import LogicalNot


def simplify(program: Program) -> None:
    replaced: dict[int, int] = {}
    producers: dict[int, Instruction] = {}
    kept = []
    for each in program.instructions:
        each.inputs = [replaced.get(v, v) for v in each.inputs]
        rule = _RULES.get(each.row)
        same = rule(program, each, producers) if rule else None
        if same is not None:
            replaced[each.outputs[0]] = replaced.get(same, same)
            continue
        kept.append(each)
        for v in each.outputs:
            producers[v] = each
    program.instructions = kept
    program.outputs = [replaced.get(v, v) for v in program.outputs]


def _full(program: Program, v: int) -> Any:
    """The shape if all of it is known."""
    shape = program.values[v].shape
    return shape if shape is not None and None not in shape else None


def _is(program: Program, v: int, number: float) -> bool:
    """Whether the value is a constant scalar `number`."""
    tensor = program.constants.get(v)
    return (
        tensor is not None
        and tensor.shape.rank == 0
        and tensor.dtype.name != "string"
        and tensor.numpy() == number
    )


def _keeps_shape(program: Program, instruction: Instruction, v: int) -> bool:
    a, b = program.values[v], program.values[instruction.outputs[0]]
    return a.dtype == b.dtype and _full(program, v) is not None and a.shape == b.shape


def _product(program: Program, each: Instruction, producers: Any) -> int | None:
    for one, x in (each.inputs, each.inputs[::-1]):
        if (
            _is(program, one, 1)
            and program.values[x].dtype == program.values[each.outputs[0]].dtype
        ):
            return x
    return None


def _right(number: float) -> Any:
    def rule(program: Program, each: Instruction, producers: Any) -> int | None:
        x, y = each.inputs
        return x if _is(program, y, number) else None

    return rule


def _reshape(program: Program, each: Instruction, producers: Any) -> int | None:
    x = each.inputs[0]
    if _keeps_shape(program, each, x):
        return x
    inner = producers.get(x)
    if inner is not None and inner.row is Reshape:
        each.inputs = [inner.inputs[0], each.inputs[1]]
        if _keeps_shape(program, each, each.inputs[0]):
            return each.inputs[0]
    return None


def _same_shape(program: Program, each: Instruction, producers: Any) -> int | None:
    x = each.inputs[0]
    return x if _keeps_shape(program, each, x) else None


def _cast(program: Program, each: Instruction, producers: Any) -> int | None:
    x = each.inputs[0]
    return x if program.values[x].dtype == program.values[each.outputs[0]].dtype else None


def _twice(row: Any) -> Any:
    def rule(program: Program, each: Instruction, producers: Any) -> int | None:
        inner = producers.get(each.inputs[0])
        return inner.inputs[0] if inner is not None and inner.row is row else None

    return rule


def _transpose(program: Program, each: Instruction, producers: Any) -> int | None:
    order = program.constants.get(each.inputs[1])
    if order is None:
        return None
    order = np.asarray(order.numpy())
    return each.inputs[0] if order.tolist() == list(range(len(order))) else None


def _add_n(program: Program, each: Instruction, producers: Any) -> int | None:
    if len(each.inputs) == 1:
        return each.inputs[0]
    shapes = [_full(program, v) for v in each.inputs]
    name = program.values[each.outputs[0]].dtype.name
    if (
        len(each.inputs) == 2
        and shapes[0] is not None
        and shapes[0] == shapes[1]
        and name != "variant"
    ):
        each.payload = (AddV2, {}, None)
    return None


def _power(program: Program, each: Instruction, producers: Any) -> int | None:
    x, y = each.inputs
    if _is(program, y, 1):
        return x
    if _is(program, y, 2):
        each.payload = (Square, {}, None)
        each.inputs = [x]
    return None


_RULES: dict[Any, Any] = {
    Mul: _product,
    RealDiv: _right(1),
    Sub: _right(0),
    Pow: _power,
    Reshape: _reshape,
    BroadcastTo: _same_shape,
    ExpandDims: _same_shape,
    Cast: _cast,
    Neg: _twice(Neg),
    LogicalNot: _twice(LogicalNot),
    Transpose: _transpose,
    AddN: _add_n,
}
