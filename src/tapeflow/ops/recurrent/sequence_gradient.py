"""The gradient of a recurrent cell over all steps, as one row."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.derived import vjp
from tapeflow.ops.recurrent.sequence_steps import (
    ATTRS,
    CASES,
    INPUTS,
    TYPES,
    by_time,
    check,
    generated,
    loop,
    unrolled,
)
from tapeflow.ops.recurrent.steps import GATES, KEPT, sequence_gradient
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall


@op(
    "RecurrentSequenceGrad",
    "x: T, recurrent: T, bias: T, initial_h: T, initial_c: T, mask: bool, h: T, c: T, reserve: T, "
    "dh: T, dlast_h: T, dlast_c: T -> dx: T, drecurrent: T, dbias: T, dinitial_h: T, dinitial_c: T",
    types=TYPES,
    attrs=ATTRS,
    shape=lambda call: [call.shape(i) for i in range(5)],
)
def RecurrentSequenceGrad(
    xp: ModuleType, x: Array, recurrent: Array, bias: Array, initial_h: Array, initial_c: Array, mask: Array,
    h: Array, c: Array, reserve: Array, dh: Array, dlast_h: Array, dlast_c: Array, cell, time_major,
):
    """Gradients of the inputs of RecurrentSequence. `dh`, `dlast_h` and `dlast_c` may be without elements: zeros."""
    check(cell, time_major, x, recurrent, bias, initial_h, initial_c, mask)
    lstm, (d0, d1, width), n = cell == "LSTM", x.shape, recurrent.shape[0]
    batch = d1 if time_major else d0
    places = {
        "h": (h, (d0, d1, n)), "c": (c, (d0, d1, n * lstm)), "reserve": (reserve, (d0, d1, KEPT[cell] * n)),
        "dh": (dh, (d0, d1, n)), "dlast_h": (dlast_h, (batch, n)), "dlast_c": (dlast_c, (batch, n * lstm)),
    }  # fmt: skip
    for name, (value, shape) in places.items():
        if value.shape != shape and (
            value.size or (name in ("h", "c", "reserve") and 0 not in shape)
        ):
            raise invalid(
                f"{name} has a shape that is not that of its output: {shape_text(value.shape)}"
            )
    empty = 0 in (d0, d1, n)
    if empty:
        passed = dlast_h if dlast_h.size else xp.zeros(initial_h.shape, x.dtype)
        passed_c = dlast_c if lstm and dlast_c.size else xp.zeros(initial_c.shape, x.dtype)
        return (
            xp.zeros(x.shape, x.dtype),
            *(xp.zeros(a.shape, x.dtype) for a in (recurrent, bias)),
            passed,
            passed_c,
        )
    if not mask.size:
        mask = xp.ones((d0, d1), bool)
    if not dh.size:
        dh = xp.zeros((d0, d1, n), x.dtype)
    x, mask, h, c, reserve, dh = by_time(xp, time_major, x, mask, h, c, reserve, dh)
    before = xp.concatenate([initial_h[None], h[:-1]])
    c_before = xp.concatenate([initial_c[None], c[:-1]]) if lstm else c

    def body(carry, now):
        d, d_c = carry
        counts, old, old_c, new, new_c, kept, more = now
        counts = counts[:, None]
        d = d + more
        dz, ds, to, to_c = _step_back(xp, cell, recurrent, old, old_c, new, new_c, kept, d, d_c)
        dz, ds = xp.where(counts, dz, 0), xp.where(counts, ds, 0)
        return (xp.where(counts, to, d), xp.where(counts, to_c, d_c)), (dz, ds)

    start = (
        dlast_h if dlast_h.size else xp.zeros((batch, n), x.dtype),
        dlast_c if lstm and dlast_c.size else xp.zeros((batch, n * lstm), x.dtype),
    )
    carry, (dz, ds) = loop(
        xp, body, start, (mask, before, c_before, h, c, reserve, dh), backwards=True
    )
    flat = ds.reshape(-1, width)
    d_recurrent = before.reshape(-1, n).T @ flat
    if cell == "GRUResetBefore":
        reset_state = reserve[..., 3 * n :].reshape(-1, n)
        d_recurrent = xp.concatenate([d_recurrent[:, : 2 * n], reset_state.T @ flat[:, 2 * n :]], 1)
    d_bias = dz.sum((0, 1))
    if cell == "GRU":
        d_bias = xp.concatenate([d_bias, flat.sum(0)])
    d_bias = d_bias if bias.size else xp.zeros(bias.shape, x.dtype)
    d_c = carry[1] if lstm else xp.zeros(initial_c.shape, x.dtype)
    return by_time(xp, time_major, dz)[0], d_recurrent, d_bias, carry[0], d_c


def _step_back(xp: ModuleType, cell, recurrent, old, old_c, new, new_c, kept, d, d_c):
    """Gradients of the sums of a step: of the inputs' part, of the states' part; of the states before it."""
    n = old.shape[1]
    if GATES[cell] == 1:
        dz = d * (1 - new * new) if cell == "tanh" else xp.where(new > 0, d, 0)
        return dz, dz, dz @ recurrent.T, d_c
    one, two, three, four = (kept[:, k * n : (k + 1) * n] for k in range(4))
    if cell == "LSTM":
        squashed = xp.tanh(new_c)
        d_c = d_c + d * four * (1 - squashed * squashed)
        dz = xp.concatenate(
            [
                d_c * three * one * (1 - one), d_c * old_c * two * (1 - two),
                d_c * one * (1 - three * three), d * squashed * four * (1 - four),
            ],
            1,
        )  # fmt: skip
        return dz, dz, dz @ recurrent.T, d_c * two
    d_update = d * (old - three) * one * (1 - one)
    d_candidate = d * (1 - one) * (1 - three * three)
    if cell == "GRU":
        d_reset = d_candidate * four * two * (1 - two)
        ds = xp.concatenate([d_update, d_reset, d_candidate * two], 1)
        dz = xp.concatenate([d_update, d_reset, d_candidate], 1)
        return dz, ds, d * one + ds @ recurrent.T, d_c
    d_state = d_candidate @ recurrent[:, 2 * n :].T
    d_reset = d_state * old * two * (1 - two)
    dz = xp.concatenate([d_update, d_reset, d_candidate], 1)
    return dz, dz, d * one + d_state * two + dz[:, : 2 * n] @ recurrent[:, : 2 * n].T, d_c


@RecurrentSequenceGrad.gradient(needs=(*INPUTS, "dh", "dlast_h", "dlast_c"))
def _(call: GradientCall, *upstream):
    """By the composition: h, c and reserve count as what they are made of."""
    floats = [call.x, call.recurrent, call.bias, call.initial_h, call.initial_c]
    none = [None, None, None]

    def again(*own):
        return sequence_gradient(*own[:5], call.mask, *none, *own[5:], call.cell, call.time_major)

    found = vjp(again, [*floats, call.dh, call.dlast_h, call.dlast_c], upstream)
    return [*found[:5], None, *none, *found[5:]]


RecurrentSequenceGrad.composite = sequence_gradient


@RecurrentSequenceGrad.samples
def _(rng):
    for number, case in enumerate(CASES):
        inputs = generated(rng, **case)
        cell, time_major = case["cell"], case.get("time_major", False)
        h, c, kept, last_h, last_c = unrolled(*inputs, cell, time_major)
        given = [rng.normal(*y.shape) for y in (h, last_h, last_c)]
        if number % 3 == 1:
            given[0] = rng.normal(0, 0, 0)
        if number % 4 == 1:
            given[1:] = [rng.normal(0, 0), rng.normal(0, 0)]
        # What is kept has to belong to the inputs, so that no derivative for these alone means anything.
        yield Sample(
            *inputs, h, c, kept, *given, cell=cell, time_major=time_major, differentiable=False
        )
    inputs = generated(rng, "GRU")
    h, c, kept, last_h, last_c = unrolled(*inputs, "GRU", False)
    bad = {"dh": (kept, last_h, last_c), "dlast_h": (h, last_h.T[:1], last_c)}
    for given in bad.values():
        yield Sample(*inputs, h, c, kept, *given, cell="GRU", raises=InvalidArgumentError)
    yield Sample(
        *inputs, h, c, kept[:, :, :1], h, last_h, last_c, cell="GRU", raises=InvalidArgumentError
    )


@RecurrentSequenceGrad.reference
def _(
    x,
    recurrent,
    bias,
    initial_h,
    initial_c,
    mask,
    h,
    c,
    reserve,
    dh,
    dlast_h,
    dlast_c,
    cell,
    time_major,
):
    """By the complex step: f(x + ih) has f'(x) h as its imaginary part."""
    floats = [np.asarray(a, np.complex128) for a in (x, recurrent, bias, initial_h, initial_c)]
    tiny = 1e-30
    gradients = []
    for a in floats:
        gradient = np.zeros(a.shape)
        for at in np.ndindex(a.shape):
            a[at] += 1j * tiny
            h_now, _, _, *last = unrolled(*floats, mask, cell, time_major)
            parts = zip((h_now, *last), (dh, dlast_h, dlast_c), strict=True)
            gradient[at] = sum((y.imag * dy).sum() for y, dy in parts if dy.size) / tiny
            a[at] -= 1j * tiny
        gradients.append(gradient.astype(x.dtype))
    return tuple(gradients)
