"""Whole sequences in one kernel: through LSTM, GRU and SimpleRNN cells with their usual activations."""

from __future__ import annotations

from typing import Any

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.structures import nest
from tapeflow.keras import activations
from tapeflow.keras.layers.rnn.cells import is_size
from tapeflow.keras.layers.rnn.gru import GRUCell, _CuDNNGRUCell
from tapeflow.keras.layers.rnn.lstm import LSTMCell, _CuDNNLSTMCell
from tapeflow.keras.layers.rnn.simple import SimpleRNNCell
from tapeflow.keras.layers.rnn.stacked import StackedRNNCells
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.joining import split
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.recurrent.rows import RecurrentSequence


def _lstm(cell):
    bias = cell.bias
    if bias is not None and type(cell) is _CuDNNLSTMCell:
        of_inputs, of_states = split(bias, 2)
        bias = of_inputs + of_states
    return "LSTM", bias


def _gru(cell):
    bias = cell.bias if cell.bias is None else reshape(cell.bias, [-1])
    return ("GRU" if cell.reset_after else "GRUResetBefore"), bias


def _simple(cell):
    return ("tanh" if cell.activation is activations.tanh else "relu"), cell.bias


# Subclasses may do anything, so that they are not found here.
_KNOWN = {
    LSTMCell: _lstm,
    _CuDNNLSTMCell: _lstm,
    GRUCell: _gru,
    _CuDNNGRUCell: _gru,
    SimpleRNNCell: _simple,
}


def _fits(cell: Any, dtype: DType, training: bool | Tensor) -> bool:
    if type(cell) not in _KNOWN or (
        cell.recurrent_dropout and training is not None and training is not False
    ):
        return False
    simple = type(cell) is SimpleRNNCell
    if cell.activation is not activations.tanh and not (
        simple and cell.activation is activations.relu
    ):
        return False
    if not simple and cell.recurrent_activation is not activations.sigmoid:
        return False
    return cell.built and cell.kernel.dtype == dtype and cell.recurrent_kernel.dtype == dtype


def run(layer: Any, inputs: Any, initial_state: list, mask: Any, training: Any, fresh: bool) -> Any:
    """(last output, all outputs, final states) of an RNN layer, or None where its steps have to be taken one by one.

    Args:
      fresh: whether the initial states are known to be zeros.
    """
    if layer.unroll or not isinstance(inputs, Tensor) or inputs.shape.rank != 3:
        return None
    dtype, stacked = inputs.dtype, type(layer.cell) is StackedRNNCells
    cells = layer.cell.cells if stacked else [layer.cell]
    if dtype not in (dtypes.float32, dtypes.float64) or (
        stacked and layer.cell.reverse_state_order
    ):
        return None
    if not all(_fits(cell, dtype, training) for cell in cells):
        return None
    time_axis = 0 if layer.time_major else 1
    batch, steps = inputs.shape[1 - time_axis], inputs.shape[time_axis]
    mask = None if mask is None else cast(mask, "bool")
    if steps == 0 or (mask is not None and mask.shape.rank != 2):
        return None
    states = initial_state if stacked else [initial_state]
    flat = [[convert_to_tensor(x) for x in nest.flatten(state)] for state in states]
    for cell, own in zip(cells, flat, strict=True):
        for x in own:
            if x.dtype != dtype or not x.shape.is_compatible_with([batch, cell.units]):
                return None
    if layer.go_backwards:
        inputs = reverse(inputs, [time_axis])
        mask = None if mask is None else reverse(mask, [time_axis])
    counted = zeros([0, 0], "bool") if mask is None else mask
    outputs, last, final = inputs, None, []
    for cell, own in zip(cells, flat, strict=True):
        kind, bias = _KNOWN[type(cell)](cell)
        projected = cell._project_by(outputs, cell.kernel, None, training, time_axis)
        bias = zeros([0], dtype) if bias is None else bias
        c = own[1] if kind == "LSTM" else zeros([0, 0], dtype)
        found = RecurrentSequence(
            projected, cell.recurrent_kernel, bias, own[0], c, counted, kind, layer.time_major
        )
        outputs, last = found.h, found.last_h
        ends = [last, found.last_c] if kind == "LSTM" else [last]
        final.append(ends[0] if stacked and is_size(cell.state_size) else ends)
    if mask is not None:
        outputs, last = _masked(outputs, last, mask, time_axis, layer, fresh)
    return last, outputs, final if stacked else final[0]


def _masked(outputs: Tensor, last: Any, mask: Tensor, time_axis: int, layer: Any, fresh: bool):
    """The outputs of steps that do not count: zeros, or those of the step before, which were zeros at first."""
    if not layer.zero_output_for_mask:
        if fresh:
            return outputs, last
        mask = cumsum(cast(mask, "int32"), time_axis) > 0
    at_last = mask[-1] if time_axis == 0 else mask[:, -1]
    last = where(expand_dims(at_last, -1), last, zeros_like(last))
    if layer.return_sequences:
        outputs = where(expand_dims(mask, -1), outputs, zeros_like(outputs))
    return outputs, last
