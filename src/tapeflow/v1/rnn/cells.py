"""`tf.nn.rnn_cell`: BasicRNNCell, GRUCell, BasicLSTMCell, LSTMCell, MultiRNNCell."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.core.tracking.trackable import Trackable
from tapeflow.keras import activations, initializers
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.registry import to_config
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.indexing.slicing import slice_
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.bias import bias_add
from tapeflow.v1.initializers import constant_initializer, zeros_initializer
from tapeflow.v1.rnn.base import LayerRNNCell, RNNCell, assert_like_rnncell, input_depth
from tapeflow.v1.variable_scoping import variable_scope

_KERNEL, _BIAS = "kernel", "bias"


def _check_dtypes(*values):
    """Raises ValueError for integers, which have no sigmoid or tanh."""
    for tensor in nest.flatten(values):
        if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {tensor.dtype}")


def _fused_lstm(kernel: Any, bias: Any, forget_bias: float) -> tuple[Any, Any]:
    """The weights and biases of an LSTM in the order of gates of the kernel of whole sequences."""
    i, candidate, f, o = split(convert_to_tensor(kernel), 4, axis=1)
    of_i, of_candidate, of_f, of_o = split(convert_to_tensor(bias), 4)
    return concat([i, f, candidate, o], 1), concat([of_i, of_f + forget_bias, of_candidate, of_o], 0)


class BasicRNNCell(LayerRNNCell):
    """output = new state = activation([inputs, state] @ kernel + bias)."""

    def __init__(
        self, num_units: int, activation: Callable[..., Any] | None = None, reuse: bool | None = None,
        name: str | None = None, dtype: DTypeLike | None = None, **kwargs,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activations.get(activation) if activation else tanh

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        depth = input_depth(inputs_shape)
        self._kernel = self.add_weight(_KERNEL, [depth + self._num_units, self._num_units])
        self._bias = self.add_weight(
            _BIAS, [self._num_units], initializer=zeros_initializer(dtype=self.variable_dtype)
        )
        self.built = True

    def call(self, inputs: TensorLike, state: TensorLike):
        _check_dtypes(inputs, state)
        output = self._activation(
            bias_add(matmul(concat([inputs, state], 1), self._kernel), self._bias)
        )
        return output, output

    @property
    def has_plain_steps(self) -> bool:
        """Whether a step is what the kernel of whole sequences computes."""
        return self._activation is tanh

    def fused_weights(self) -> tuple[str, Any, Any]:
        """That kernel's name of the cell, and the weights and biases in its order of gates."""
        return "tanh", convert_to_tensor(self._kernel), convert_to_tensor(self._bias)

    def get_config(self):
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }


class GRUCell(LayerRNNCell):
    """Gated recurrent unit (Cho et al., 2014); weights of the gates, then of the candidate."""

    def __init__(
        self, num_units: int, activation: Callable[..., Any] | None = None, reuse: bool | None = None,
        kernel_initializer: Callable[..., Any] | None = None, bias_initializer: Callable[..., Any] | None = None,
        name: str | None = None, dtype: DTypeLike | None = None, **kwargs,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activations.get(activation) if activation else tanh
        self._kernel_initializer = initializers.get(kernel_initializer)
        self._bias_initializer = initializers.get(bias_initializer)

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        rows, units = input_depth(inputs_shape) + self._num_units, self._num_units
        given = self._bias_initializer
        self._gate_kernel = self.add_weight(
            "gates/kernel", [rows, 2 * units], initializer=self._kernel_initializer
        )
        self._gate_bias = self.add_weight(
            "gates/bias",
            [2 * units],
            initializer=given or constant_initializer(1.0, dtype=self.variable_dtype),
        )
        self._candidate_kernel = self.add_weight(
            "candidate/kernel", [rows, units], initializer=self._kernel_initializer
        )
        self._candidate_bias = self.add_weight(
            "candidate/bias", [units], initializer=given or zeros_initializer(dtype=self.variable_dtype)
        )
        self.built = True

    def call(self, inputs: TensorLike, state: TensorLike):
        _check_dtypes(inputs, state)
        gates = matmul(concat([inputs, state], 1), self._gate_kernel)
        reset, update = split(sigmoid(bias_add(gates, self._gate_bias)), 2, axis=1)
        candidate = matmul(concat([inputs, reset * state], 1), self._candidate_kernel)
        candidate = self._activation(bias_add(candidate, self._candidate_bias))
        state = update * state + (1 - update) * candidate
        return state, state

    @property
    def has_plain_steps(self) -> bool:
        """Whether a step is what the kernel of whole sequences computes."""
        return self._activation is tanh

    def fused_weights(self) -> tuple[str, Any, Any]:
        """That kernel's name of the cell, and the weights and biases in its order of gates."""
        gates, gate_bias = convert_to_tensor(self._gate_kernel), convert_to_tensor(self._gate_bias)
        (reset, update), (of_reset, of_update) = split(gates, 2, axis=1), split(gate_bias, 2)
        weights = concat([update, reset, convert_to_tensor(self._candidate_kernel)], 1)
        bias = concat([of_update, of_reset, convert_to_tensor(self._candidate_bias)], 0)
        return "GRUResetBefore", weights, bias

    def get_config(self):
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "kernel_initializer": initializers.serialize(self._kernel_initializer),
            "bias_initializer": initializers.serialize(self._bias_initializer),
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: `c`, and the output `h`. Raises TypeError from dtype when they differ."""

    __slots__ = ()

    @property
    def dtype(self):
        c, h = self
        if c.dtype != h.dtype:
            raise TypeError(f"Inconsistent internal state: {c.dtype} vs {h.dtype}")
        return c.dtype


class BasicLSTMCell(LayerRNNCell):
    """LSTM after Zaremba et al., 2014; `forget_bias` is added to the forget gate."""

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True,
        activation: Callable[..., Any] | None = None, reuse: bool | None = None, name: str | None = None,
        dtype: DTypeLike | None = None, **kwargs,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._activation = activations.get(activation) if activation else tanh

    @property
    def state_size(self):
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        units = self._num_units
        rows = input_depth(inputs_shape) + units
        self._kernel = self.add_weight(_KERNEL, [rows, 4 * units])
        self._bias = self.add_weight(
            _BIAS, [4 * units], initializer=zeros_initializer(dtype=self.variable_dtype)
        )
        self.built = True

    def call(self, inputs: TensorLike, state: Tensor | LSTMStateTuple):
        _check_dtypes(inputs, state)
        c, h = state if self._state_is_tuple else split(state, 2, axis=1)
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        i, candidate, f, o = split(gates, 4, axis=1)
        c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * self._activation(candidate)
        h = self._activation(c) * sigmoid(o)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else concat([c, h], 1)

    @property
    def has_plain_steps(self) -> bool:
        """Whether a step is what the kernel of whole sequences computes."""
        return self._activation is tanh and self._state_is_tuple

    def fused_weights(self) -> tuple[str, Any, Any]:
        """That kernel's name of the cell, and the weights and biases in its order of gates."""
        return "LSTM", *_fused_lstm(self._kernel, self._bias, self._forget_bias)

    def get_config(self):
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }


class LSTMCell(LayerRNNCell):
    """LSTM with peepholes, clipping and a projection of the output (Sak et al., 2014)."""

    def __init__(
        self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None, initializer=None,
        num_proj: int | None = None, proj_clip: float | None = None, num_unit_shards=None, num_proj_shards=None,
        forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Callable[..., Any] | None = None,
        reuse: bool | None = None, name: str | None = None, dtype: DTypeLike | None = None, **kwargs,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._num_proj = num_units, num_proj
        self._use_peepholes = use_peepholes
        self._cell_clip, self._proj_clip = cell_clip, proj_clip
        self._initializer = initializers.get(initializer)
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._activation = activations.get(activation) if activation else tanh

    @property
    def state_size(self):
        c, h = self._num_units, self.output_size
        return LSTMStateTuple(c, h) if self._state_is_tuple else c + h

    @property
    def output_size(self):
        return self._num_proj or self._num_units

    def build(self, inputs_shape):
        units = self._num_units
        rows = input_depth(inputs_shape) + self.output_size
        given = self._initializer
        self._kernel = self.add_weight(_KERNEL, [rows, 4 * units], initializer=given)
        self._bias = self.add_weight(
            _BIAS, [4 * units], initializer=zeros_initializer(dtype=self.variable_dtype)
        )
        if self._use_peepholes:
            self._w_f_diag = self.add_weight("w_f_diag", [units], initializer=given)
            self._w_i_diag = self.add_weight("w_i_diag", [units], initializer=given)
            self._w_o_diag = self.add_weight("w_o_diag", [units], initializer=given)
        if self._num_proj is not None:
            self._proj_kernel = self.add_weight(
                "projection/kernel", [units, self._num_proj], initializer=given
            )
        self.built = True

    def call(self, inputs: TensorLike, state: LSTMStateTuple):
        _check_dtypes(inputs, state)
        if self._state_is_tuple:
            c, h = state
        else:
            c = slice_(state, [0, 0], [-1, self._num_units])
            h = slice_(state, [0, self._num_units], [-1, self.output_size])
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        i, candidate, f, o = split(gates, 4, axis=1)
        f = f + self._forget_bias
        if self._use_peepholes:
            f, i = f + self._w_f_diag * c, i + self._w_i_diag * c
        c = sigmoid(f) * c + sigmoid(i) * self._activation(candidate)
        if self._cell_clip is not None:
            c = clip_by_value(c, -float(self._cell_clip), float(self._cell_clip))
        if self._use_peepholes:
            o = o + self._w_o_diag * c
        h = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            h = matmul(h, self._proj_kernel)
            if self._proj_clip is not None:
                h = clip_by_value(h, -float(self._proj_clip), float(self._proj_clip))
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else concat([c, h], 1)

    @property
    def has_plain_steps(self) -> bool:
        """Whether a step is what the kernel of whole sequences computes."""
        return (
            self._activation is tanh and self._state_is_tuple and not self._use_peepholes
            and self._cell_clip is None and self._num_proj is None
        )  # fmt: skip

    def fused_weights(self) -> tuple[str, Any, Any]:
        """That kernel's name of the cell, and the weights and biases in its order of gates."""
        return "LSTM", *_fused_lstm(self._kernel, self._bias, self._forget_bias)

    def get_config(self):
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "use_peepholes": self._use_peepholes,
            "cell_clip": self._cell_clip,
            "initializer": initializers.serialize(self._initializer),
            "num_proj": self._num_proj,
            "proj_clip": self._proj_clip,
            "num_unit_shards": self._num_unit_shards,
            "num_proj_shards": self._num_proj_shards,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }


class MultiRNNCell(RNNCell):
    """Cells one on top of the other, as one cell."""

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        self._cells = list(cells)
        self._state_is_tuple = state_is_tuple
        for number, cell in enumerate(cells):
            assert_like_rnncell(f"cells[{number}]", cell)
            if isinstance(cell, Trackable):
                self._track_trackable(cell, f"cell-{number}")
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  State "
                f"sizes are: {[cell.state_size for cell in cells]}"
            )

    @property
    def state_size(self):
        sizes = [cell.state_size for cell in self._cells]
        return tuple(sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._cells[-1].output_size

    def zero_state(self, batch_size: int, dtype: DTypeLike):
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    def call(self, inputs: TensorLike, state: Sequence[Any]):
        start, states = 0, []
        for number, cell in enumerate(self._cells):
            with variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    if not nest.is_nested(state):
                        raise ValueError(
                            f"Expected state to be a tuple of length {len(self.state_size)}, but "
                            f"received: {state}"
                        )
                    own = state[number]
                else:
                    own = slice_(state, [0, start], [-1, cell.state_size])
                    start += cell.state_size
                inputs, new = cell(inputs, own)
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else concat(states, 1)

    def get_config(self):
        return {**super().get_config(), "cells": [to_config(cell) for cell in self._cells]}
