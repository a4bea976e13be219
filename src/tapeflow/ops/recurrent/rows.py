"""A recurrent cell over all steps of sequences, as one row."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.derived import vjp
from tapeflow.ops.recurrent.steps import (
    CELLS,
    GATES,
    KEPT,
    arrays,
    sequence,
    sequence_gradient,
    step,
)
from tapeflow.ops.signature import one_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_TYPES = {"T": (dtypes.float32, dtypes.float64)}
_ATTRS = {"cell": one_of(*CELLS), "time_major": False}
_INPUTS = ("x", "recurrent", "bias", "initial_h", "initial_c", "mask")
_RANKS = (3, 2, 1, 2, 2, 2)


def _rule(call: ShapeCall):
    shapes.require_ranks(call, *_RANKS)
    x, recurrent, _, h, _, _ = (call.shape(i) or (None,) * rank for i, rank in enumerate(_RANKS))
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


def _check(cell, time_major: bool, *inputs) -> None:
    for name, value, rank in zip(_INPUTS, inputs, _RANKS, strict=True):
        if value.ndim != rank:
            raise invalid(f"{name} must have rank {rank}, but got shape {shape_text(value.shape)}")
    x, recurrent, bias, h, c, mask = inputs
    width, n = x.shape[2], recurrent.shape[0]
    if width % GATES[cell] or recurrent.shape != (width // GATES[cell], width):
        raise invalid(
            f"recurrent must have shape [{width // GATES[cell]},{width}] for x of shape {shape_text(x.shape)}, "
            f"but got shape {shape_text(recurrent.shape)}"
        )
    biases = 2 * width if cell == "GRU" else width
    if bias.size not in (0, biases):
        raise invalid(f"bias must have {biases} elements, but got shape {shape_text(bias.shape)}")
    state = (x.shape[1 if time_major else 0], n)
    for name, value in (("initial_h", h), ("initial_c", c)):
        if value.shape != state and (name == "initial_h" or cell == "LSTM"):
            raise invalid(
                f"{name} must have shape {shape_text(state)}, but got shape {shape_text(value.shape)}"
            )
    if mask.size and mask.shape != x.shape[:2]:
        raise invalid(
            f"mask must have shape {shape_text(x.shape[:2])}, but got shape {shape_text(mask.shape)}"
        )


def _loop(xp: ModuleType, body, carry, inputs, backwards=False):
    """body(carry, inputs of a step) -> (carry, outputs of the step), over all steps; the outputs stacked."""
    if xp is not np:
        scan = importlib.import_module("jax").lax.scan
        return scan(body, carry, tuple(inputs), reverse=backwards)
    steps = len(inputs[0])
    outputs: list[Any] = [None] * steps
    for t in reversed(range(steps)) if backwards else range(steps):
        carry, outputs[t] = body(carry, [each[t] for each in inputs])
    return carry, [np.stack(each) for each in zip(*outputs, strict=True)] if steps else None


def _by_time(xp: ModuleType, time_major, *sequences):
    return [each if time_major else xp.swapaxes(each, 0, 1) for each in sequences]


@op(
    "RecurrentSequence",
    "x: T, recurrent: T, bias: T, initial_h: T, initial_c: T, mask: bool -> "
    "h: T, c: T, reserve: T, last_h: T, last_c: T",
    types=_TYPES,
    attrs=_ATTRS,
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
    _check(cell, time_major, x, recurrent, bias, initial_h, initial_c, mask)
    lstm, m = cell == "LSTM", arrays(xp)
    if not mask.size:
        mask = xp.ones(x.shape[:2], bool)
    (x, mask), given = _by_time(xp, time_major, x, mask), bias if bias.size else None
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
        (last_h, last_c), outputs = _loop(xp, body, (initial_h, initial_c), (x, mask))
    else:
        last_h, last_c = initial_h, initial_c
        outputs = [xp.zeros((0, batch, w * n), x.dtype) for w in (1, int(lstm), KEPT[cell])]
    return (
        *_by_time(xp, time_major, *outputs),
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


def _generated(
    rng, cell: str, steps: int = 3, batch: int = 2, units: int = 2, bias: bool = True, masked: bool = False,
    time_major: bool = False,
):
    """The inputs of a sample."""
    width = GATES[cell] * units
    lead = (steps, batch) if time_major else (batch, steps)
    mask = np.zeros((0, 0), bool)
    if masked:
        mask = np.arange(steps * batch).reshape(lead) % 3 != 1
    return (
        rng.normal(*lead, width),
        rng.normal(units, width),
        rng.normal(width * (2 if cell == "GRU" else 1) if bias else 0),
        rng.normal(batch, units),
        rng.normal(batch, units) if cell == "LSTM" else rng.normal(0, 0),
        mask,
    )


_CASES: tuple[dict[str, Any], ...] = (
    *({"cell": cell} for cell in CELLS),
    *({"cell": cell, "masked": True, "time_major": True, "bias": False} for cell in CELLS),
    *({"cell": cell, "batch": 1, "steps": 4, "masked": cell == "GRU"} for cell in CELLS),
    *({"cell": cell, "batch": 3, "steps": 1, "units": 1} for cell in CELLS),
    {"cell": "LSTM", "steps": 0},
    {"cell": "GRU", "batch": 0},
)
# Units that fill several registers, and a rest; for the native kernels.
_WIDE: tuple[dict[str, Any], ...] = tuple(
    {"cell": cell, "batch": batch, "units": units, "masked": batch > 1}
    for cell in CELLS
    for batch, units in ((1, 37), (14, 19))
)


@RecurrentSequence.samples
def _(rng: SampleGenerator):
    for case in _CASES + _WIDE:
        attrs = {"cell": case["cell"], "time_major": case.get("time_major", False)}
        yield Sample(*_generated(rng, **case), **attrs)
    good = _generated(rng, "LSTM")
    for i, bad in enumerate(
        (rng.normal(2, 3, 7), rng.normal(2, 7), rng.normal(7), rng.normal(3, 2), rng.normal(2, 3))
    ):
        yield Sample(*good[:i], bad, *good[i + 1 :], cell="LSTM", raises=InvalidArgumentError)
    yield Sample(*good[:5], np.ones((3, 2), bool), cell="LSTM", raises=InvalidArgumentError)
    yield Sample(*good, cell="RNN", raises=InvalidArgumentError)


def _unrolled(
    x, recurrent: np.ndarray, bias: np.ndarray, initial_h: np.ndarray, initial_c: np.ndarray,
    mask: np.ndarray, cell: str, time_major: bool,
):
    """One row of the batch after the other, by the formulas as they are printed; of complex numbers too."""

    def sigmoid(z: np.ndarray):
        return 1 / (1 + np.exp(-z))

    steps, batch = x.shape[:2] if time_major else x.shape[1::-1]
    n, kind = recurrent.shape[0], np.result_type(x, recurrent, bias, initial_h, initial_c)
    lead = x.shape[:2]
    h_all, c_all = np.zeros((*lead, n), kind), np.zeros((*lead, n if cell == "LSTM" else 0), kind)
    kept = np.zeros((*lead, KEPT[cell] * n), kind)
    last_h, last_c = (
        np.zeros((batch, n), kind),
        np.zeros((batch, n) if cell == "LSTM" else (0, 0), kind),
    )
    if not bias.size:
        bias = np.zeros(6 * n)
    for b in range(batch):
        h = initial_h[b]
        c = initial_c[b] if cell == "LSTM" else None
        for t in range(steps):
            at = (t, b) if time_major else (b, t)
            z = [x[at][k * n : (k + 1) * n] + bias[k * n : (k + 1) * n] for k in range(GATES[cell])]
            u = [recurrent[:, k * n : (k + 1) * n] for k in range(GATES[cell])]
            if cell == "LSTM":
                i, f, o = (sigmoid(z[k] + h.dot(u[k])) for k in (0, 1, 3))
                g = np.tanh(z[2] + h.dot(u[2]))
                new_c = f * c + i * g
                new_h, values = o * np.tanh(new_c), [i, f, g, o]
            elif cell == "GRU":
                s = [h.dot(u[k]) + bias[(3 + k) * n : (4 + k) * n] for k in range(3)]
                new_c, update, reset = c, sigmoid(z[0] + s[0]), sigmoid(z[1] + s[1])
                g = np.tanh(z[2] + reset * s[2])
                new_h, values = g + update * (h - g), [update, reset, g, s[2]]
            elif cell == "GRUResetBefore":
                new_c, update, reset = c, sigmoid(z[0] + h.dot(u[0])), sigmoid(z[1] + h.dot(u[1]))
                g = np.tanh(z[2] + (reset * h).dot(u[2]))
                new_h, values = g + update * (h - g), [update, reset, g, reset * h]
            else:
                s = z[0] + h.dot(u[0])
                new_c, new_h, values = c, np.tanh(s) if cell == "tanh" else s * (s.real > 0), []
            if values:
                kept[at] = np.concatenate(values)
            if not mask.size or mask[at]:
                h, c = new_h, new_c
            h_all[at] = h
            if cell == "LSTM":
                c_all[at] = c
        last_h[b] = h
        if cell == "LSTM":
            last_c[b] = c
    return h_all, c_all, kept, last_h, last_c


RecurrentSequence.reference(_unrolled)


@op(
    "RecurrentSequenceGrad",
    "x: T, recurrent: T, bias: T, initial_h: T, initial_c: T, mask: bool, h: T, c: T, reserve: T, "
    "dh: T, dlast_h: T, dlast_c: T -> dx: T, drecurrent: T, dbias: T, dinitial_h: T, dinitial_c: T",
    types=_TYPES,
    attrs=_ATTRS,
    shape=lambda call: [call.shape(i) for i in range(5)],
)
def RecurrentSequenceGrad(
    xp: ModuleType, x: Array, recurrent: Array, bias: Array, initial_h: Array, initial_c: Array, mask: Array,
    h: Array, c: Array, reserve: Array, dh: Array, dlast_h: Array, dlast_c: Array, cell, time_major,
):
    """Gradients of the inputs of RecurrentSequence. `dh`, `dlast_h` and `dlast_c` may be without elements: zeros."""
    _check(cell, time_major, x, recurrent, bias, initial_h, initial_c, mask)
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
    x, mask, h, c, reserve, dh = _by_time(xp, time_major, x, mask, h, c, reserve, dh)
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
    carry, (dz, ds) = _loop(
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
    return _by_time(xp, time_major, dz)[0], d_recurrent, d_bias, carry[0], d_c


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


@RecurrentSequenceGrad.gradient(needs=(*_INPUTS, "dh", "dlast_h", "dlast_c"))
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
    for number, case in enumerate(_CASES):
        inputs = _generated(rng, **case)
        cell, time_major = case["cell"], case.get("time_major", False)
        h, c, kept, last_h, last_c = _unrolled(*inputs, cell, time_major)
        given = [rng.normal(*y.shape) for y in (h, last_h, last_c)]
        if number % 3 == 1:
            given[0] = rng.normal(0, 0, 0)
        if number % 4 == 1:
            given[1:] = [rng.normal(0, 0), rng.normal(0, 0)]
        # What is kept has to belong to the inputs, so that no derivative for these alone means anything.
        yield Sample(
            *inputs, h, c, kept, *given, cell=cell, time_major=time_major, differentiable=False
        )
    inputs = _generated(rng, "GRU")
    h, c, kept, last_h, last_c = _unrolled(*inputs, "GRU", False)
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
            h_now, _, _, *last = _unrolled(*floats, mask, cell, time_major)
            parts = zip((h_now, *last), (dh, dlast_h, dlast_c), strict=True)
            gradient[at] = sum((y.imag * dy).sum() for y, dy in parts if dy.size) / tiny
            a[at] -= 1j * tiny
        gradients.append(gradient.astype(x.dtype))
    return tuple(gradients)
