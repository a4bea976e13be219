"""A recurrent cell over all steps of sequences, as one row."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.derived import vjp
from tapeflow.ops.recurrent.steps import CELLS, GATES, KEPT, arrays, sequence, step
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

from tapeflow.ops.recurrent.sequence_gradient import RecurrentSequenceGrad
from tapeflow.ops.recurrent.sequence_steps import (
    ATTRS,
    CASES,
    RANKS,
    TYPES,
    by_time,
    check,
    generated,
    loop,
    unrolled,
)


def _rule(call: ShapeCall):
    shapes.require_ranks(call, *RANKS)
    x, recurrent, _, h, _, _ = (call.shape(i) or (None,) * rank for i, rank in enumerate(RANKS))
    cell, (d0, d1, width) = call.attr("cell"), x
    n = shapes.same_dimension(recurrent[0], shapes.divided(width, GATES[cell]))
    n = shapes.same_dimension(n, h[1])
    batch = shapes.same_dimension(d1 if call.attr("time_major") else d0, h[0])
    d0, d1 = (d0, batch) if call.attr("time_major") else (batch, d1)
    lstm = cell == "LSTM"
    kept = KEPT[cell] and n and KEPT[cell] * n
    return [
        (d0, d1, n),
        (d0, d1, n if lstm else 0),
        (d0, d1, kept),
        (batch, n),
        (batch, n) if lstm else (0, 0),
    ]


@op(
    "RecurrentSequence",
    "x: T, recurrent: T, bias: T, initial_h: T, initial_c: T, mask: bool -> "
    "h: T, c: T, reserve: T, last_h: T, last_c: T",
    types=TYPES,
    attrs=ATTRS,
    shape=_rule,
)
def RecurrentSequence(
    xp: ModuleType, x: Array, recurrent: Array, bias: Array, initial_h: Array, initial_c: Array, mask: Array,
    cell, time_major,
):
    """States h (and c of LSTMs) after each step of a cell.

    x: [batch, steps, gates * units], or [steps, batch, ...] where `time_major`: the inputs times their weights.
    recurrent: [units, gates * units]. bias: of all gates (with "GRU" of inputs, then of states), or without
    elements. initial_c: without elements unless the cell is an LSTM. mask: [batch, steps] as x, the steps that
    count, or without elements; the others leave the states as they are.
    """
    check(cell, time_major, x, recurrent, bias, initial_h, initial_c, mask)
    lstm, m = cell == "LSTM", arrays(xp)
    if not mask.size:
        mask = xp.ones(x.shape[:2], bool)
    (x, mask), given = by_time(xp, time_major, x, mask), bias if bias.size else None
    n, batch, steps = recurrent.shape[0], x.shape[1], x.shape[0]
    if not lstm:
        initial_c = xp.zeros((batch, 0), x.dtype)

    def body(carry, now):
        h, c = carry
        new_h, new_c, kept = step(m, cell, now[0], recurrent, given, h, c)
        counts = now[1][:, None]
        states = xp.where(counts, new_h, h), xp.where(counts, new_c, c)
        return states, (*states, kept)

    if steps:
        (last_h, last_c), outputs = loop(xp, body, (initial_h, initial_c), (x, mask))
    else:
        last_h, last_c = initial_h, initial_c
        outputs = [xp.zeros((0, batch, w * n), x.dtype) for w in (1, int(lstm), KEPT[cell])]
    return (
        *by_time(xp, time_major, *outputs),
        last_h,
        last_c if lstm else xp.zeros((0, 0), x.dtype),
    )


@RecurrentSequence.gradient(none=True)
def _(call, dh, dc, dreserve, dlast_h, dlast_c):
    floats = [call.x, call.recurrent, call.bias, call.initial_h, call.initial_c]
    attrs = call.cell, call.time_major
    if dc is not None or dreserve is not None:  # of what only the gradient itself reads
        upstream = dh, dc, dreserve, dlast_h, dlast_c
        return [*vjp(lambda *own: sequence(*own, call.mask, *attrs), floats, upstream), None]
    none = [0, 0, 0]
    given = [
        zeros(none[:rank], call.x.dtype) if dy is None else dy
        for rank, dy in ((3, dh), (2, dlast_h), (2, dlast_c))
    ]
    found = RecurrentSequenceGrad(*floats, call.mask, call.h, call.c, call.reserve, *given, *attrs)
    return [*found, None]


RecurrentSequence.composite = sequence
# Units that fill several registers, and a rest; for the native kernels.
_WIDE: tuple[dict[str, Any], ...] = tuple(
    {"cell": cell, "batch": batch, "units": units, "masked": batch > 1}
    for cell in CELLS
    for batch, units in ((1, 37), (14, 19))
)


@RecurrentSequence.samples
def _(rng: SampleGenerator):
    for case in CASES + _WIDE:
        attrs = {"cell": case["cell"], "time_major": case.get("time_major", False)}
        yield Sample(*generated(rng, **case), **attrs)
    good = generated(rng, "LSTM")
    for i, bad in enumerate(
        (rng.normal(2, 3, 7), rng.normal(2, 7), rng.normal(7), rng.normal(3, 2), rng.normal(2, 3))
    ):
        yield Sample(*good[:i], bad, *good[i + 1 :], cell="LSTM", raises=InvalidArgumentError)
    yield Sample(*good[:5], np.ones((3, 2), bool), cell="LSTM", raises=InvalidArgumentError)
    yield Sample(*good, cell="RNN", raises=InvalidArgumentError)


RecurrentSequence.reference(unrolled)
