"""LSTM cells as single ops, and the layer of such LSTM cells: old graphs hold them.

The matrices of an LSTM's gates are beside each other in one: input, cell, forget, output; in `BlockLSTMV2` input,
forget, cell, output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.signature import boolean
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

TYPES = {"T": (dtypes.float32, dtypes.float16)}
PARTS = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
STATE = "cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
STATE_RANKS = "cs_prev: 2, h_prev: 2, w: 2, wci: 1, wcf: 1, wco: 1, b: 1"
_NEVER = "it is computed with NumPy"


def sigmoid(xp: ModuleType, x: Array):
    """The logistic function of `x`, in its dtype."""
    with np.errstate(over="ignore"):
        return (1 / (1 + xp.exp(-x))).astype(x.dtype)


def require_rank(rank: int, **tensors) -> None:
    """Raises InvalidArgumentError for the first that is not of this rank."""
    for name, value in tensors.items():
        if value.ndim != rank:
            raise invalid(f"{name} must be rank {rank} but is rank {value.ndim}")


def require(x, shape: tuple[int, ...], name: str) -> None:
    """Raises InvalidArgumentError if `x` is not of this shape."""
    if x.shape != shape:
        raise invalid(f"{name} has shape {shape_text(x.shape)}, not {shape_text(shape)}")


def check_lstm(x: Any, cs_prev: Any, h_prev: Any, w: Any, wci: Any, wcf: Any, wco: Any, b: Any) -> None:
    """Refuses tensors of one step that do not suit each other."""
    require_rank(2, x=x, cs_prev=cs_prev, w=w)
    batch, size, units = x.shape[0], x.shape[1], cs_prev.shape[1]
    require(cs_prev, (batch, units), "cs_prev")
    require(h_prev, (batch, units), "h_prev")
    require(w, (size + units, 4 * units), "w")
    require_rank(1, wci=wci, wcf=wcf, wco=wco)
    require(b, (4 * units,), "b")


def check_peepholes(units: int, *weights) -> None:
    """Refuses peepholes that are not one number a unit."""
    for value, name in zip(weights, ("wci", "wcf", "wco"), strict=True):
        require(value, (units,), name)


def _step(
    xp: ModuleType, x: Array, state: Sequence[Array], forget_bias: float, cell_clip: float, peephole: bool, order: str
):
    """One step of LSTM cells: (i, cs, f, o, ci, co, h)."""
    cs_prev, h_prev, w, wci, wcf, wco, b = state
    gates = xp.split(xp.concatenate([x, h_prev], 1) @ w + b, 4, 1)
    i, ci, f, o = (gates[order.index(gate)] for gate in "icfo")
    if peephole:
        i, f = i + cs_prev * wci, f + cs_prev * wcf
    kind = x.dtype.type
    i, f, ci = sigmoid(xp, i), sigmoid(xp, f + kind(forget_bias)), xp.tanh(ci)
    cs = ci * i + f * cs_prev
    if cell_clip > 0:
        cs = xp.clip(cs, kind(-cell_clip), kind(cell_clip))
    o = sigmoid(xp, o + cs * wco if peephole else o)
    co = xp.tanh(cs)
    return i, cs, f, o, ci, co, o * co


def step_back(
    xp: ModuleType, cs_prev: Any, weights, parts: Sequence[Array], cs_grad: Array, h_grad: Array, peephole: bool
):
    """The gradients of one step: (of cs_prev, {gate: of what it is the function of}, of the three peepholes)."""
    wci, wcf, wco = weights
    i, cs, f, o, ci, co = parts
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if peephole:
        dcs = dcs + do * wco
    gates = {
        "i": i * (1 - i) * dcs * ci,
        "c": (1 - ci * ci) * dcs * i,
        "f": f * (1 - f) * dcs * cs_prev,
        "o": do,
    }
    before = dcs * f
    if not peephole:
        zero = xp.zeros_like(wci)
        return before, gates, (zero, zero, zero)
    before = before + gates["i"] * wci + gates["f"] * wcf
    sums = [(gates["i"] * cs_prev).sum(0), (gates["f"] * cs_prev).sum(0), (do * cs).sum(0)]
    return before, gates, tuple(s.astype(cs.dtype) for s in sums)


def _cell_rule(call: ShapeCall):
    x, state = shapes.with_rank(call.shape(0), 2), shapes.with_rank(call.shape(1), 2)
    return [(shapes.same_dimension(x[0], state[0]), state[1])] * 7


@op(
    "LSTMBlockCell",
    f"x: T, {STATE} -> {PARTS}",
    types=TYPES,
    attrs={"forget_bias": 1.0, "cell_clip": 3.0, "use_peephole": False},
    ranks=f"x: 2, {STATE_RANKS}",
    shape=_cell_rule,
)
def LSTMBlockCell(
    xp: ModuleType, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array, wco: Array, b: Array,
    forget_bias: float, cell_clip: float, use_peephole: bool,
):
    check_lstm(x, cs_prev, h_prev, w, wci, wcf, wco, b)
    if use_peephole:
        check_peepholes(cs_prev.shape[1], wci, wcf, wco)
    state = (cs_prev, h_prev, w, wci, wcf, wco, b)
    return _step(xp, x, state, forget_bias, cell_clip, use_peephole, "icfo")


def lstm_inputs(rng: Any, batch: int = 2, size: int = 3, units: int = 2):
    """x and the state of a cell, for samples."""
    state = [(batch, units), (batch, units), (size + units, 4 * units), *[(units,)] * 3, (4 * units,)]
    return [singles(rng, *shape) for shape in ((batch, size), *state)]


def singles(rng: SampleGenerator, *shape):
    """Random numbers of float32, for samples."""
    return np.asarray(rng.normal(*shape), np.float32)


def lstm_formula(
    x: np.ndarray, cs_prev: np.ndarray, h_prev: np.ndarray, w: np.ndarray, wci: np.ndarray, wcf: np.ndarray,
    wco: np.ndarray, b: np.ndarray, forget_bias: float, cell_clip: float, use_peephole: bool,
):
    """Element by element."""
    batch, units = cs_prev.shape
    out = np.zeros((7, batch, units))
    for r in range(batch):
        sums = b + np.concatenate([x[r], h_prev[r]]) @ w
        for k in range(units):
            see = 1.0 if use_peephole else 0.0
            at_i, at_c, at_f, at_o = (sums[g * units + k] for g in range(4))
            c = cs_prev[r, k]
            i = 0.5 + 0.5 * np.tanh((at_i + see * c * wci[k]) / 2)
            f = 0.5 + 0.5 * np.tanh((at_f + forget_bias + see * c * wcf[k]) / 2)
            cs = np.tanh(at_c) * i + c * f
            cs = min(max(cs, -cell_clip), cell_clip) if cell_clip > 0 else cs
            o = 0.5 + 0.5 * np.tanh((at_o + see * cs * wco[k]) / 2)
            out[:, r, k] = i, cs, f, o, np.tanh(at_c), np.tanh(cs), o * np.tanh(cs)
    return tuple(out)


@LSTMBlockCell.samples
def _(rng: SampleGenerator):
    given = lstm_inputs(rng)
    yield Sample(*given)
    yield Sample(*given, use_peephole=True, forget_bias=0.5, cell_clip=0.3)
    yield Sample(*given, cell_clip=-1.0)
    yield Sample(given[0][0], *given[1:], raises=InvalidArgumentError)
    yield Sample(given[0][:1], *given[1:], raises=InvalidArgumentError)
    yield Sample(*given[:3], given[3][1:], *given[4:], raises=InvalidArgumentError)
    yield Sample(*given[:7], given[7][1:], raises=InvalidArgumentError)


LSTMBlockCell.reference(lstm_formula)


def _layer_rule(call: ShapeCall):
    x, state = shapes.with_rank(call.shape(1), 3), shapes.with_rank(call.shape(2), 2)
    units = shapes.same_dimension(state[1], shapes.divided(shapes.vector_length(call, 8), 4))
    return [(x[0], shapes.same_dimension(x[1], state[0]), units)] * 7


def _layer(seq_len_max: Any, x: Any, state, forget_bias, cell_clip, peephole: bool, order):
    if np.ndim(seq_len_max):
        raise invalid(f"seq_len_max must be rank 0 but is rank {np.ndim(seq_len_max)}")
    if x.ndim != 3:
        raise invalid(f"x must be rank 3 but is rank {x.ndim}")
    time, batch, size = x.shape
    check_lstm(np.empty((batch, size), x.dtype), *state)
    units = state[0].shape[1]
    if peephole:
        check_peepholes(units, *state[3:6])
    steps = int(seq_len_max)
    if not 0 <= steps <= time:
        raise invalid(f"seq_len_max must be in [0, {time}], but is {steps}")
    out = np.zeros((7, time, batch, units), x.dtype)
    cs, h = state[:2]
    for t in range(steps):
        out[:, t] = parts = _step(np, x[t], (cs, h, *state[2:]), forget_bias, cell_clip, peephole, order)
        cs, h = parts[1], parts[6]
    return tuple(out)


_LAYER_RANKS = f"seq_len_max: 0, x: 3, {STATE_RANKS}"
_LAYER_SIGNATURE = f"seq_len_max: int64, x: T, {STATE} -> {PARTS}"


@op(
    "BlockLSTM",
    _LAYER_SIGNATURE,
    types=TYPES,
    attrs={"forget_bias": 1.0, "cell_clip": 3.0, "use_peephole": False},
    ranks=_LAYER_RANKS,
    shape=_layer_rule,
)
def BlockLSTM(
    xp: ModuleType, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array,
    wco: Array, b: Array, forget_bias: float, cell_clip: float, use_peephole: bool,
):
    state = (cs_prev, h_prev, w, wci, wcf, wco, b)
    return _layer(seq_len_max, x, state, forget_bias, cell_clip, use_peephole, "icfo")


@op(
    "BlockLSTMV2",
    _LAYER_SIGNATURE,
    types=TYPES,
    attrs={"cell_clip": 0.0, "use_peephole": False},
    ranks=_LAYER_RANKS,
    shape=_layer_rule,
)
def BlockLSTMV2(
    xp: ModuleType, seq_len_max: Array, x: Array, cs_prev: Array, h_prev: Array, w: Array, wci: Array, wcf: Array,
    wco: Array, b: Array, cell_clip: float, use_peephole: bool,
):
    state = (cs_prev, h_prev, w, wci, wcf, wco, b)
    return _layer(seq_len_max, x, state, 0.0, cell_clip, use_peephole, "ifco")


def _layer_formula(order: str):
    def formula(
        seq_len_max: int, x: np.ndarray, cs_prev: np.ndarray, h_prev: np.ndarray, w: np.ndarray,
        wci: np.ndarray, wcf: np.ndarray, wco: np.ndarray, b: np.ndarray, cell_clip: float,
        use_peephole: bool, forget_bias: float = 0.0,
    ):
        units = cs_prev.shape[1]
        columns = np.concatenate([np.arange(units) + units * order.index(g) for g in "icfo"])
        out, cs, h = np.zeros((7, len(x), *cs_prev.shape)), cs_prev, h_prev
        for t in range(int(seq_len_max)):
            out[:, t] = lstm_formula(
                x[t], cs, h, w[:, columns], wci, wcf, wco, b[columns], forget_bias, cell_clip, use_peephole
            )
            cs, h = out[1, t], out[6, t]
        return tuple(out)

    return formula


def _layer_samples(rng: SampleGenerator):
    x, *state = lstm_inputs(rng)
    x = singles(rng, 4, *x.shape)
    # Its gradient is of `cs` and `h` only: not what finite differences of all outputs see.
    yield Sample(np.int64(4), x, *state, differentiable=False)
    yield Sample(np.int64(4), x, *state, use_peephole=True, cell_clip=0.3, differentiable=False)
    yield Sample(np.int64(4), x[0], *state, raises=InvalidArgumentError)
    yield Sample(np.int64(4), x[:, 1:], *state, raises=InvalidArgumentError)
    yield Sample(np.int64(5), x, *state, raises=InvalidArgumentError)


for _row, _order in ((BlockLSTM, "icfo"), (BlockLSTMV2, "ifco")):
    _row.samples(_layer_samples)
    _row.reference(_layer_formula(_order))
    _row.compiled(never=_NEVER)


_LAYER_GRAD = (
    f"seq_len_max: int64, x: T, {STATE}, {PARTS}, cs_grad: T, h_grad: T -> x_grad: T, cs_prev_grad: T, "
    "h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T"
)


def _layer_back(
    seq_len_max: Any, x: Any, state: Sequence[np.ndarray], parts: Sequence[np.ndarray], grads: Sequence[np.ndarray],
    peephole: bool, order: str,
):
    cs0, h0, w, *weights, b = state
    if np.ndim(seq_len_max) or x.ndim != 3:
        raise invalid(f"x must be rank 3 and seq_len_max rank 0, got {x.ndim} and {np.ndim(seq_len_max)}")
    time, batch, size = x.shape
    check_lstm(np.empty((batch, size), x.dtype), *state)
    units, steps = cs0.shape[1], int(seq_len_max)
    check_peepholes(units, *weights)
    for value in (*parts, *grads):
        require(value, (time, batch, units), "an output or its gradient")
    if not 0 <= steps <= time:
        raise invalid(f"seq_len_max must be in [0, {time}], but is {steps}")
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros_like(b)
    dpeep = [np.zeros_like(each) for each in weights]
    dcs, dh = np.zeros_like(cs0), np.zeros_like(h0)
    i, cs, f, o, ci, co, h = parts
    for t in reversed(range(steps)):
        before_cs, before_h = (cs[t - 1], h[t - 1]) if t else (cs0, h0)
        own = (i[t], cs[t], f[t], o[t], ci[t], co[t])
        dcs, gates, sums = step_back(np, before_cs, weights, own, grads[0][t] + dcs, grads[1][t] + dh, peephole)
        dgates = np.concatenate([gates[g] for g in order], 1)
        both = dgates @ w.T
        dx[t], dh = both[:, :size], both[:, size:]
        dw += np.concatenate([x[t], before_h], 1).T @ dgates
        db += dgates.sum(0)
        for total, each in zip(dpeep, sums, strict=True):
            total += each
    return dx, dcs, dh, dw, *dpeep, db


def _layer_grad_row(name: str, order: str):
    @op(
        name,
        _LAYER_GRAD,
        types=TYPES,
        attrs={"use_peephole": boolean},
        ranks=_LAYER_RANKS,
        shape=lambda call: [call.shape(i) for i in range(1, 9)],
    )
    def row(xp: ModuleType, seq_len_max: Array, x: Array, *rest, use_peephole: bool):
        return _layer_back(seq_len_max, x, rest[:7], rest[7:14], rest[14:], use_peephole, order)

    source, formula = _layer_differences(order)
    row.samples(source)
    row.reference(formula)
    row.compiled(never=_NEVER)
    return row


def slope_of(total, x):
    """The gradient of `total()`, which reads the array `x` of float64, by central differences."""
    out = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        kept, ends = x[at], []
        for step in (1e-6, -1e-6):
            x[at] = kept + step
            ends.append(total())
        x[at] = kept
        out[at] = (ends[0] - ends[1]) / 2e-6
    return out


def _layer_differences(order: str):
    """The gradients of a weighted sum of `cs` and `h` by central differences."""
    forward = _layer_formula(order)

    def formula(seq_len_max, x, *rest, use_peephole: bool):
        state, (dcs, dh) = rest[:7], rest[14:]
        given = [np.array(each, np.float64) for each in (x, *state)]

        def total():
            out = forward(seq_len_max, *given, 0.0, use_peephole)
            return (out[1] * dcs).sum() + (out[6] * dh).sum()

        return tuple(slope_of(total, each) for each in given)

    def samples(rng: SampleGenerator):
        x, *state = lstm_inputs(rng)
        x = singles(rng, 3, *x.shape)
        for steps, peephole in ((3, False), (2, True)):
            parts = [np.float32(each) for each in forward(steps, x, *state, 0.0, peephole)]
            grads = [singles(rng, *parts[0].shape) for _ in range(2)]
            given = [np.int64(steps), x, *state, *parts]
            yield Sample(*given, *grads, use_peephole=peephole, differentiable=False)
        yield Sample(np.int64(4), *given[1:], *grads, use_peephole=True, raises=InvalidArgumentError)

    return samples, formula


BlockLSTMGrad = _layer_grad_row("BlockLSTMGrad", "icfo")
BlockLSTMGradV2 = _layer_grad_row("BlockLSTMGradV2", "ifco")


def _layer_gradient(grad_row: Callable[..., Any]):
    def gradient(
        call: GradientCall, _i: Tensor, dcs: Tensor, _f: Tensor, _o: Tensor, _ci: Tensor, _co: Tensor, dh: Tensor
    ):
        inputs = [getattr(call, name) for name in (*BlockLSTM.inputs, *BlockLSTM.outputs)]
        return None, *grad_row(*inputs, dcs, dh, call.use_peephole)

    return gradient


BlockLSTM.gradient(_layer_gradient(BlockLSTMGrad))
BlockLSTMV2.gradient(_layer_gradient(BlockLSTMGradV2))
