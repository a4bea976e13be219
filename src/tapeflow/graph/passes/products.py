"""Sums of products: a'b + c'd + ... is one product of the matrices stacked, [a; c]' [b; d].

That is what the gradient of weights used at every step of a loop is: narrow matrices, whose products would each be
written and read again as large as the weights. The terms of the sum are added up in another order, as every matrix
product is free to do; so bits may differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.graph.run.program import Instruction, Program
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.math.accumulate import AddN

_DTYPES = ("float32", "float64")


def stack_products(program: Program) -> None:
    """Makes one product of those that an AddN adds up, where the stacks are smaller than the products."""
    producers, uses = program.producers(), program.uses()
    made: list[Instruction] = []
    for each in program.instructions:
        if each.row is AddN:
            terms = [
                v for v in each.inputs if uses[v] == 1 and _is_outer(program, producers.get(v))
            ]
            if len(terms) > 1 and _pays(program, [producers[v].inputs for v in terms], each):
                made += _stacked(program, each, terms, producers)
                continue
        made.append(each)
    program.instructions = made


def _shape(program: Program, v: int) -> Any:
    shape = program.values[v].shape
    return shape if shape is not None and len(shape) == 2 and None not in shape else None


def _is_outer(program: Program, each: Instruction | None) -> bool:
    """Whether it is a product a'b of matrices of known sizes."""
    if (
        each is None
        or each.row is not MatMul
        or program.values[each.outputs[0]].dtype.name not in _DTYPES
    ):
        return False
    attrs = each.payload[1]
    if not attrs.get("transpose_a") or attrs.get("transpose_b"):
        return False
    a, b = (_shape(program, v) for v in each.inputs)
    return a is not None and b is not None and a[0] == b[0]


def _pays(program: Program, factors: list[list[int]], total: Instruction) -> bool:
    shapes = [(_shape(program, a), _shape(program, b)) for a, b in factors]
    if len({(a[1], b[1]) for a, b in shapes}) != 1:
        return False
    (_, m), (_, n) = shapes[0]
    return sum(a[0] for a, _ in shapes) * (m + n) <= len(shapes) * m * n


def _stacked(
    program: Program, total: Instruction, terms: list[int], producers: Any
) -> list[Instruction]:
    dtype = program.values[total.outputs[0]].dtype
    # Not converted: that would add a node to the graph whose session plans this.
    first = program.constant(_native.tensor_of(np.array(0, np.int32), dtypes.int32))
    made = []
    stacks = []
    for side in (0, 1):
        parts = [producers[v].inputs[side] for v in terms]
        shapes = [program.values[v].shape for v in parts]
        stacks.append(program.value(dtype, (sum(s[0] for s in shapes), shapes[0][1])))
        payload: Any = (ConcatV2, {}, [len(parts)])
        made.append(Instruction("op", payload, [*parts, first], [stacks[-1]], total.label, False))
    product = (MatMul, {"transpose_a": True}, None)
    rest = [v for v in total.inputs if v not in set(terms)]
    if not rest:
        return [*made, Instruction("op", product, stacks, total.outputs, total.label, False)]
    of_all = program.value(dtype, program.values[terms[0]].shape)
    made.append(Instruction("op", product, stacks, [of_all], total.label, False))
    total.inputs = [of_all, *rest]
    total.payload = (total.payload[0], total.payload[1], [len(total.inputs)])
    return [*made, total]
