"""Whole sequences in one kernel, through the cells of `tf.nn.rnn_cell` whose steps it knows."""

from __future__ import annotations

from typing import Any

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.layout import squeeze
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.trigonometric import tanh
from tapeflow.ops.recurrent.rows import RecurrentSequence
from tapeflow.v1.rnn.cells import (
    BasicLSTMCell,
    BasicRNNCell,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
)


def _parts(cell: Any, depth: int) -> tuple[str, Any, Any, Any]:
    """The kernel's name of a cell, and its weights of inputs and of states, and biases, as the kernel orders gates."""
    if isinstance(cell, GRUCell):
        gates, gate_bias = convert_to_tensor(cell._gate_kernel), convert_to_tensor(cell._gate_bias)
        (reset, update), (of_reset, of_update) = split(gates, 2, axis=1), split(gate_bias, 2)
        weights = concat([update, reset, convert_to_tensor(cell._candidate_kernel)], 1)
        bias = concat([of_update, of_reset, convert_to_tensor(cell._candidate_bias)], 0)
        return "GRUResetBefore", weights[:depth], weights[depth:], bias
    weights, bias = convert_to_tensor(cell._kernel), convert_to_tensor(cell._bias)
    if isinstance(cell, BasicRNNCell):
        return "tanh", weights[:depth], weights[depth:], bias
    i, candidate, f, o = split(weights, 4, axis=1)
    weights = concat([i, f, candidate, o], 1)
    of_i, of_candidate, of_f, of_o = split(bias, 4)
    bias = concat([of_i, of_f + cell._forget_bias, of_candidate, of_o], 0)
    return "LSTM", weights[:depth], weights[depth:], bias


def fits(cell: Any, inputs: Any, state: Any) -> bool:
    """Whether the kernel knows the cell, and may take these inputs (time, batch, depth) and states."""
    steps = {
        base.call for base in (LSTMCell, BasicLSTMCell, GRUCell, BasicRNNCell)
    }
    # A subclass that calls itself otherwise may do anything.
    if (
        getattr(type(cell), "call", None) not in steps  # a library's own cell may only be called
        or type(cell).__call__ is not BasicRNNCell.__call__
        or "call" in vars(cell)
    ):
        return False
    plain = cell._activation is tanh and getattr(cell, "_state_is_tuple", True)
    if isinstance(cell, LSTMCell):
        plain = (
            plain and not cell._use_peepholes and cell._cell_clip is None and cell._num_proj is None
        )
    lstm = isinstance(cell, (LSTMCell, BasicLSTMCell))
    states = list(state) if isinstance(state, (tuple, list)) else [state]
    if not plain or len(states) != (2 if lstm else 1) or isinstance(state, (tuple, list)) != lstm:
        return False
    if not isinstance(inputs, Tensor) or inputs.shape.rank != 3 or inputs.shape[0] == 0:
        return False
    if inputs.dtype not in (dtypes.float32, dtypes.float64):
        return False
    sizes = [inputs.shape[1], cell._num_units]
    return all(
        isinstance(x, Tensor) and x.dtype == inputs.dtype and x.shape.is_compatible_with(sizes)
        for x in states
    )


def run(cell: Any, inputs: Any, state: Any, mask: Any) -> Any:
    """(outputs, final state) of a cell that `fits` and is built; `mask`: (time, batch, 1) or None."""
    dtype, lstm = inputs.dtype, isinstance(cell, (LSTMCell, BasicLSTMCell))
    kind, of_inputs, of_states, bias = _parts(cell, inputs.shape[2])
    c, h = state if lstm else (zeros([0, 0], dtype), state)
    counts = zeros([0, 0], "bool") if mask is None else squeeze(mask, [2])
    projected = tensordot(inputs, of_inputs, [[2], [0]])
    found = RecurrentSequence(projected, of_states, bias, h, c, counts, kind, True)
    outputs = found.h if mask is None else where(mask, found.h, zeros_like(found.h))
    return outputs, LSTMStateTuple(found.last_c, found.last_h) if lstm else found.last_h
