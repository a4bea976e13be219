"""What cells share: a step over one time, made of a projection of the input and the rest.

The projection does not depend on the states, so that a layer does it for all times at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import DTypeLike, IntLike, Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, constraints, initializers, regularizers
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.layers.rnn.dropout import DropoutRNNCellMixin
from tapeflow.keras.noise import NoiseSource
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math.casting import cast
from tapeflow.ops.nn.bias import bias_add

if TYPE_CHECKING:
    from tapeflow.keras.layers.rnn.gru import GRUCell
    from tapeflow.keras.layers.rnn.lstm import LSTMCell
    from tapeflow.keras.layers.rnn.simple import SimpleRNNCell

_WEIGHTS = ("kernel", "recurrent", "bias")
_PARTS = {
    "initializer": initializers,
    "regularizer": regularizers,
    "constraint": constraints,
}


def set_weight_settings(cell: Any, arguments: dict[str, Any]):
    """Sets the initializers, regularizers and constraints among a constructor's arguments on a cell."""
    for part, module in _PARTS.items():
        for weight in _WEIGHTS:
            name = f"{weight}_{part}"
            setattr(cell, name, module.get(arguments[name]))


def weight_config(cell: GRUCell | LSTMCell | SimpleRNNCell):
    """What `set_weight_settings` set, for a config."""
    return {
        f"{weight}_{part}": module.serialize(getattr(cell, f"{weight}_{part}"))
        for part, module in _PARTS.items()
        for weight in _WEIGHTS
    }


class ZeroStates:
    """Of cells: the states that they begin with."""

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Make states of zeros.

        Args:
          inputs: the inputs of a step, or the size of the batch; None where that is the second argument.
          batch_size: the size of the batch.
          dtype: of the states; None for that of the inputs, in Keras 3 otherwise for that of the computation.

        Returns:
          A tensor, or a structure of tensors.

        Raises:
          ValueError: where the size of the batch, or in Keras 2 the dtype, is not given.
        """
        if dtype is None and not keras_2():
            dtype = self._compute_dtype_object
        states = initial_state(self.state_size, inputs, batch_size, dtype)
        return states if keras_2() or nest.is_nested(states) else [states]


class AbstractRNNCell(ZeroStates, Layer):
    """Base of cells: `call(inputs, states) -> (outputs, new states)`, with state_size and output_size."""

    def call(self, inputs, states):
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self):
        """Sizes of the states: an int, a shape, or a structure of these."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """Size of the output: an int or a shape."""
        raise NotImplementedError("Abstract method")


def first_states(cell: GRUCell | LSTMCell | SimpleRNNCell, batch_size: Any, dtype: DTypeLike):
    """The states that a cell of any kind begins with: its own, or zeros where it says nothing."""
    make = getattr(cell, "get_initial_state", None)
    if make is None:
        return initial_state(cell.state_size, None, batch_size, dtype)
    given = {"inputs": None, "batch_size": batch_size, "dtype": dtype}
    taken = inspect.signature(make).parameters
    if not any(each.kind is each.VAR_KEYWORD for each in taken.values()):
        given = {name: value for name, value in given.items() if name in taken}
    return make(**given)


def initial_state(
    state_size: Sequence[int] | int, inputs: TensorLike | None, batch_size: IntLike | None, dtype: DTypeLike | None
):
    """Zeros of (batch_size, *size) for each size of the structure, the batch taken from inputs if given."""
    if is_number(inputs):
        inputs, batch_size = None, inputs
    if inputs is not None:
        inputs = convert_to_tensor(inputs)
        batch_size = inputs.shape.as_list()[0]
        batch_size = shape_of(inputs)[0] if batch_size is None else batch_size
        dtype = inputs.dtype
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype cannot be None while constructing initial state. Received: "
            f"batch_size={batch_size}, dtype={dtype}"
        )

    def make(size: int):
        return zeros([batch_size, *TensorShape(size).as_list()], dtype)

    return map_sizes(make, state_size)


def is_number(value: TensorLike | None):
    """Whether a value is a whole number, as a size of batches is: an int, an array or a tensor of rank 0."""
    return isinstance(value, (int, np.integer)) or (
        not nest.is_nested(value) and getattr(getattr(value, "shape", None), "rank", None) == 0
    )


def is_size(value: TensorLike):
    """Whether a value is the size of one state: an int or a TensorShape."""
    return isinstance(value, (int, TensorShape)) or not nest.is_nested(value)


def map_sizes(function: Callable[..., Any], sizes: Any):
    """function of every size of a structure of sizes; TensorShapes are leaves."""
    if is_size(sizes):
        return function(sizes)
    if isinstance(sizes, dict):
        return {key: map_sizes(function, value) for key, value in sizes.items()}
    parts = [map_sizes(function, value) for value in sizes]
    if hasattr(sizes, "_fields"):
        return type(sizes)(*parts)
    return parts if isinstance(sizes, list) else tuple(parts)


def flat_sizes(sizes: Sequence[Any] | int):
    """The sizes in a structure, in order."""
    found: list = []
    map_sizes(found.append, sizes)
    return found


class GatedCell(ZeroStates, DropoutRNNCellMixin):
    """A cell with kernel, recurrent_kernel and bias for `gates` parts of `units` columns each."""

    gates = 1
    _default_implementation = 2

    # Set once the weights are made.
    bias: Any = None

    def _configure(
        self, units: int, activation: str, use_bias: bool, dropout: float, recurrent_dropout: float,
        arguments: dict[str, Any], noise_first: bool = False,
    ):
        """Sets the arguments that all gated cells have; `arguments`: the locals of the constructor."""
        kwargs = arguments["kwargs"]
        if units is None or units <= 0:
            raise ValueError(
                "Received an invalid value for argument `units`, expected a positive integer, got "
                f"{units}."
            )
        implementation = kwargs.pop("implementation", self._default_implementation)
        super().__init__(**kwargs)
        self.seed = arguments.get("seed")
        if noise_first:  # before the initializers, which also draw seeds
            self._made_noise = NoiseSource(self.seed)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        set_weight_settings(self, arguments)
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        if self._made_noise is None:
            self._made_noise = NoiseSource(self.seed)
        self.implementation = implementation if not self.recurrent_dropout else 1

    @property
    def output_size(self):
        """The size of the output."""
        return self.units

    def _make_weights(
        self, input_shape: Sequence[Any], bias_shape: Sequence[int] | None = None,
        bias_initializer: Callable[..., Any] | None = None,
    ):
        columns = self.units * self.gates
        self.kernel = self._weight("kernel", (TensorShape(input_shape)[-1], columns), "kernel")
        self.recurrent_kernel = self._weight("recurrent_kernel", (self.units, columns), "recurrent")
        if self.use_bias:
            self.bias = self._weight("bias", bias_shape or (columns,), "bias", bias_initializer)
        self.built = True

    def _weight(
        self, name: str, shape: Sequence[Any], kind: str, initializer: Callable[..., Any] | None = None
    ):
        return self.add_weight(
            name,
            shape,
            initializer=initializer or getattr(self, f"{kind}_initializer"),
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def _project_by(self, inputs: Any, kernel: Variable, bias, training: bool | Tensor | None, time_axis: int | None):
        """inputs @ kernel + bias with dropout, for one time, or a sequence with its times along `time_axis`."""
        if not inputs.dtype.is_floating and not keras_2():
            inputs = cast(inputs, self.compute_dtype)
        if not self.dropout or training is None or training is False:
            outputs = _times(inputs, kernel)
        else:
            one_time = (
                inputs if time_axis is None else inputs[0] if time_axis == 0 else inputs[:, 0]
            )
            masks = self.get_dropout_mask_for_cell(one_time, training, self.gates)
            masks = masks if self.gates > 1 else [masks]
            if time_axis is not None:
                masks = [expand_dims(mask, time_axis) for mask in masks]
            if self.implementation == 1 and self.gates > 1:
                parts = split(kernel, self.gates, axis=1)
                outputs = concat([_times(inputs * m, k) for m, k in zip(masks, parts)], -1)
            else:
                outputs = _times(inputs * masks[0], kernel)
        return outputs if bias is None else bias_add(outputs, bias)

    def _recurrent(self, state: Tensor, training: bool | Tensor | None, gates=None):
        """state @ recurrent_kernel, in parts, one per gate, with dropout."""
        gates = gates or self.gates
        if not self.recurrent_dropout or training is None or training is False:
            return MatMul(state, self.recurrent_kernel)
        masks = self.get_recurrent_dropout_mask_for_cell(state, training, gates)
        if gates == 1:
            return MatMul(state * masks, self.recurrent_kernel)
        parts = split(self.recurrent_kernel, gates, axis=1)
        return concat([MatMul(state * m, k) for m, k in zip(masks, parts)], -1)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            **weight_config(self),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            **({} if self.seed is None else {"seed": self.seed}),
        }


def _times(inputs, kernel):
    if inputs.shape.rank == 2:
        return MatMul(inputs, kernel)
    return tensordot(inputs, kernel, [[inputs.shape.rank - 1], [0]])


def first_state(states: Sequence[Tensor]):
    """The one state of a cell, given bare or in a list."""
    return states[0] if nest.is_nested(states) else states
