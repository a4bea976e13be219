"""Whole sequences in one kernel, through the cells of `tf.nn.rnn_cell` whose steps it knows."""

from __future__ import annotations

from typing import Any

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.layout import squeeze
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math.choice import where
from tapeflow.ops.recurrent.rows import RecurrentSequence
from tapeflow.v1.rnn.cells import (
    BasicLSTMCell,
    BasicRNNCell,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
)


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
    lstm = isinstance(cell, (LSTMCell, BasicLSTMCell))
    states = list(state) if isinstance(state, (tuple, list)) else [state]
    if not cell.has_plain_steps or len(states) != (2 if lstm else 1) or isinstance(state, (tuple, list)) != lstm:
        return False
    if not isinstance(inputs, Tensor) or inputs.shape.rank != 3 or inputs.shape[0] == 0:
        return False
    if inputs.dtype not in (dtypes.float32, dtypes.float64):
        return False
    sizes = [inputs.shape[1], cell.output_size]
    return all(
        isinstance(x, Tensor) and x.dtype == inputs.dtype and x.shape.is_compatible_with(sizes)
        for x in states
    )


def run(cell: Any, inputs: Any, state: Any, mask: Any) -> Any:
    """(outputs, final state) of a cell that `fits` and is built; `mask`: (time, batch, 1) or None."""
    dtype, lstm = inputs.dtype, isinstance(cell, (LSTMCell, BasicLSTMCell))
    kind, weights, bias = cell.fused_weights()
    of_inputs, of_states = weights[: inputs.shape[2]], weights[inputs.shape[2] :]
    c, h = state if lstm else (zeros([0, 0], dtype), state)
    counts = zeros([0, 0], "bool") if mask is None else squeeze(mask, [2])
    projected = tensordot(inputs, of_inputs, [[2], [0]])
    found = RecurrentSequence(projected, of_states, bias, h, c, counts, kind, True)
    outputs = found.h if mask is None else where(mask, found.h, zeros_like(found.h))
    return outputs, LSTMStateTuple(found.last_c, found.last_h) if lstm else found.last_h
