"""What one LSTM cell as a single op passes back."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.recurrent.blocks import (
    PARTS,
    STATE,
    STATE_RANKS,
    TYPES,
    check_lstm,
    check_peepholes,
    lstm_formula,
    lstm_inputs,
    require,
    singles,
    slope_of,
    step_back,
)
from tapeflow.ops.signature import boolean
from tapeflow.ops.table import Sample, op

_OWN = PARTS.removesuffix(", h: T")


def _rule(call):
    (batch, units), (of_weights,) = call.shape(1), call.shape(4)
    batch, units = shapes.same_dimension(call.shape(0)[0], batch), shapes.same_dimension(units, of_weights)
    return [(batch, units), (batch, shapes.times(units, 4)), *[(units,)] * 3]


@op(
    "LSTMBlockCellGrad",
    f"x: T, {STATE}, {_OWN}, cs_grad: T, h_grad: T "
    "-> cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, wco_grad: T",
    types=TYPES,
    attrs={"use_peephole": boolean},
    ranks=f"x: 2, {STATE_RANKS}, i: 2, cs: 2, f: 2, o: 2, ci: 2, co: 2, cs_grad: 2, h_grad: 2",
    shape=_rule,
)
def LSTMBlockCellGrad(xp: ModuleType, x: Array, *rest, use_peephole: bool):
    state, parts, (cs_grad, h_grad) = rest[:7], rest[7:13], rest[13:]
    check_lstm(x, *state)
    cs_prev, weights = state[0], state[3:6]
    check_peepholes(cs_prev.shape[1], *weights)
    for value in (*parts, cs_grad, h_grad):
        require(value, cs_prev.shape, "an output or its gradient")
    before, gates, sums = step_back(xp, cs_prev, weights, parts, cs_grad, h_grad, use_peephole)
    return before, xp.concatenate([gates[gate] for gate in "icfo"], 1), *sums


LSTMBlockCellGrad.gradient(None)


@LSTMBlockCellGrad.samples
def _(rng):
    given = lstm_inputs(rng)
    for peephole in (False, True):
        parts = lstm_formula(*given, 0.0, 0.0, peephole)
        parts = [each.astype(np.float32) for each in parts[:6]]
        slopes = [singles(rng, *parts[0].shape) for _ in range(2)]
        yield Sample(*given, *parts, *slopes, use_peephole=peephole)
    yield Sample(*given, *parts, slopes[0], slopes[1][:1], use_peephole=True, raises=InvalidArgumentError)
    yield Sample(*given, *parts[:5], parts[5][:, :1], *slopes, use_peephole=True, raises=InvalidArgumentError)
    yield Sample(given[0][:1], *given[1:], *parts, *slopes, use_peephole=True, raises=InvalidArgumentError)


@LSTMBlockCellGrad.reference
def _(x: np.ndarray, *rest, use_peephole: bool):
    """By central differences; of a gate's sum by those of its bias, one row of the batch at a time."""
    given, (cs_grad, h_grad) = [np.array(each, np.float64) for each in (x, *rest[:7])], rest[13:]

    def slope(position: int, row=slice(None)):
        def total():
            parts = lstm_formula(*given, 0.0, 0.0, use_peephole)
            return (parts[1] * cs_grad + parts[6] * h_grad)[row].sum()

        return slope_of(total, given[position])

    gates = np.stack([slope(7, row) for row in range(len(x))])
    return slope(1), gates, slope(4), slope(5), slope(6)
