"""GRU cells as single ops, and what they pass back: old graphs hold them.

The matrices of the reset and the update gate are beside each other in one, in this order.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.math.arithmetic import Mul
from tapeflow.ops.nn.bias import BiasAddGrad
from tapeflow.ops.recurrent.blocks import require, require_rank, sigmoid, singles, slope_of
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_TYPES = {"T": (dtypes.float32,)}
_GIVEN = "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T"
_RANKS = "x: 2, h_prev: 2, w_ru: 2, w_c: 2, b_ru: 1, b_c: 1"


def _check(x: Any, h_prev: Any, w_ru: Any, w_c: Any, b_ru: Any, b_c: Any) -> None:
    """Refuses tensors that do not suit each other."""
    require_rank(2, x=x, h_prev=h_prev)
    batch, size, units = x.shape[0], x.shape[1], h_prev.shape[1]
    require(h_prev, (batch, units), "h_prev")
    require(w_ru, (size + units, 2 * units), "w_ru")
    require(w_c, (size + units, units), "w_c")
    require(b_ru, (2 * units,), "b_ru")
    require(b_c, (units,), "b_c")


def _cell_rule(call: ShapeCall):
    x, (batch, units) = shapes.with_rank(call.shape(0), 2), shapes.with_rank(call.shape(1), 2)
    return [(shapes.same_dimension(x[0], batch), units)] * 4


@op(
    "GRUBlockCell",
    f"{_GIVEN} -> r: T, u: T, c: T, h: T",
    types=_TYPES,
    ranks=_RANKS,
    shape=_cell_rule,
)
def GRUBlockCell(xp: ModuleType, x: Array, h_prev: Array, w_ru: Array, w_c: Array, b_ru: Array, b_c: Array):
    _check(x, h_prev, w_ru, w_c, b_ru, b_c)
    r, u = xp.split(sigmoid(xp, xp.concatenate([x, h_prev], 1) @ w_ru + b_ru), 2, 1)
    c = xp.tanh(xp.concatenate([x, h_prev * r], 1) @ w_c + b_c)
    return r, u, c, (1 - u) * c + u * h_prev


@GRUBlockCell.gradient(needs="x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c")
def _(call: GradientCall, _r: Tensor, _u: Tensor, _c: Tensor, dh: Tensor):
    given = (call.x, call.h_prev, call.w_ru, call.w_c, call.b_ru, call.b_c, call.r, call.u, call.c)
    dx, dh_prev, dc_bar, dgates = GRUBlockCellGrad(*given, dh)
    seen = ConcatV2([call.x, call.h_prev], 1)
    kept = ConcatV2([call.x, Mul(call.h_prev, call.r)], 1)
    weights = MatMul(seen, dgates, True), MatMul(kept, dc_bar, True)
    return dx, dh_prev, *weights, BiasAddGrad(dgates), BiasAddGrad(dc_bar)


def _inputs(rng: Any, batch: int = 2, size: int = 3, units: int = 2):
    both = size + units
    sizes = [(batch, size), (batch, units), (both, 2 * units), (both, units), (2 * units,), (units,)]
    return [singles(rng, *each) for each in sizes]


def _formula(
    x: np.ndarray, h_prev: np.ndarray, w_ru: np.ndarray, w_c: np.ndarray, b_ru: np.ndarray, b_c: np.ndarray
):
    """Element by element."""
    batch, units = h_prev.shape
    out = np.zeros((4, batch, units))
    for n in range(batch):
        gates = 0.5 + 0.5 * np.tanh((b_ru + np.concatenate([x[n], h_prev[n]]) @ w_ru) / 2)
        r, u = gates[:units], gates[units:]
        c = np.tanh(b_c + np.concatenate([x[n], h_prev[n] * r]) @ w_c)
        out[:, n] = r, u, c, c + u * (h_prev[n] - c)
    return tuple(out)


@GRUBlockCell.samples
def _(rng: SampleGenerator):
    given = _inputs(rng)
    # Its gradient is of `h` only: not what finite differences of all outputs see.
    yield Sample(*given, differentiable=False)
    yield Sample(*_inputs(rng, 1, 1, 4), differentiable=False)
    yield Sample(given[0][:1], *given[1:], raises=InvalidArgumentError)
    yield Sample(*given[:2], given[2][1:], *given[3:], raises=InvalidArgumentError)
    yield Sample(*given[:3], given[3][:, 1:], *given[4:], raises=InvalidArgumentError)
    yield Sample(*given[:5], given[5][1:], raises=InvalidArgumentError)


GRUBlockCell.reference(_formula)


def _grad_rule(call):
    x, (batch, units) = call.shape(0), call.shape(1)
    batch = shapes.same_dimension(x[0], batch)
    gates = shapes.same_dimension(shapes.times(units, 2), call.shape(2)[1])
    return [(batch, x[1]), (batch, units), (batch, units), (batch, gates)]


@op(
    "GRUBlockCellGrad",
    f"{_GIVEN}, r: T, u: T, c: T, d_h: T -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    types=_TYPES,
    ranks=f"{_RANKS}, r: 2, u: 2, c: 2, d_h: 2",
    shape=_grad_rule,
)
def GRUBlockCellGrad(xp: ModuleType, x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h):
    _check(x, h_prev, w_ru, w_c, b_ru, b_c)
    for name, value in (("r", r), ("u", u), ("c", c), ("d_h", d_h)):
        require(value, h_prev.shape, name)
    size = x.shape[1]
    du = d_h * (h_prev - c) * u * (1 - u)
    dc = d_h * (1 - u) * (1 - c * c)
    through_c = dc @ w_c.T
    dkept = through_c[:, size:]
    dgates = xp.concatenate([dkept * h_prev * r * (1 - r), du], 1)
    through_gates = dgates @ w_ru.T
    dx = through_c[:, :size] + through_gates[:, :size]
    return dx, dkept * r + d_h * u + through_gates[:, size:], dc, dgates


GRUBlockCellGrad.gradient(None)


@GRUBlockCellGrad.samples
def _(rng: SampleGenerator):
    given = _inputs(rng)
    r, u, c, h = (each.astype(np.float32) for each in _formula(*given))
    dh = singles(rng, *h.shape)
    yield Sample(*given, r, u, c, dh)
    yield Sample(*given, r, u, c, dh[:1], raises=InvalidArgumentError)
    yield Sample(*given, r[:, :1], u, c, dh, raises=InvalidArgumentError)
    yield Sample(given[0][:1], *given[1:], r, u, c, dh, raises=InvalidArgumentError)


@GRUBlockCellGrad.reference
def _(
    x: np.ndarray, h_prev: np.ndarray, w_ru: np.ndarray, w_c: np.ndarray, b_ru: np.ndarray, b_c: np.ndarray,
    r: np.ndarray, u: np.ndarray, c: np.ndarray, d_h: np.ndarray,
):
    """By central differences; of a gate's sum by those of its bias, one row of the batch at a time."""
    given = [np.array(each, np.float64) for each in (x, h_prev, w_ru, w_c, b_ru, b_c)]

    def slope(position: int, row=slice(None)):
        return slope_of(lambda: (_formula(*given)[3] * d_h)[row].sum(), given[position])

    by_row = [np.stack([slope(bias, row) for row in range(len(x))]) for bias in (5, 4)]
    return slope(0), slope(1), *by_row
