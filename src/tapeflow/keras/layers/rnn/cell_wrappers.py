"""Cells around cells, as mixins for both kinds of cells, and `tf.nn.RNNCell...Wrapper`: dropout, residuals, devices."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.context import device
from tapeflow.core.convert import is_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.layers.rnn.cells import AbstractRNNCell, map_sizes
from tapeflow.keras.layers.rnn.lstm import LSTMCell
from tapeflow.keras.registry import deserialize_in, to_config
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.nn.dropout import dropout
from tapeflow.ops.random.functions import uniform


class Dropping:
    """Dropout on inputs, states and outputs of a cell.

    Args:
      input_keep_prob, output_keep_prob, state_keep_prob: parts that are kept, numbers or tensors.
      variational_recurrent: the same dropout at every step; needs `dtype`, and `input_size` for inputs.
      dropout_state_filter_visitor: says by state which parts of it are dropped.
    """

    def __init__(
        self,
        cell,
        input_keep_prob=1.0,
        output_keep_prob=1.0,
        state_keep_prob=1.0,
        variational_recurrent=False,
        input_size=None,
        dtype=None,
        seed=None,
        dropout_state_filter_visitor=None,
        **kwargs,
    ):
        super().__init__(cell, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _but_memory
        self._seed = seed
        self._variational_recurrent = variational_recurrent
        self._described = {
            "input_keep_prob": input_keep_prob,
            "output_keep_prob": output_keep_prob,
            "state_keep_prob": state_keep_prob,
            "variational_recurrent": variational_recurrent,
            "input_size": input_size,
            "seed": seed,
        }
        if dropout_state_filter_visitor is not None:
            self._described["dropout_state_filter_visitor"] = dropout_state_filter_visitor
        self._keep = {
            name: _checked(f"{name}_keep_prob", value)
            for name, value in (
                ("input", input_keep_prob),
                ("state", state_keep_prob),
                ("output", output_keep_prob),
            )
        }
        if not variational_recurrent:
            return
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def noise(size, name: str):
            return uniform([1, *TensorShape(size).as_list()], dtype=dtype, seed=self._salted(name))

        attributes = self.__dict__
        if not _all(self._keep["input"]):
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                    "input_size must be provided"
                )
            attributes["_input_noise"] = map_sizes(lambda size: noise(size, "input"), input_size)
        attributes["_state_noise"] = map_sizes(lambda s: noise(s, "state"), cell.state_size)
        attributes["_output_noise"] = map_sizes(lambda s: noise(s, "output"), cell.output_size)

    @property
    def wrapped_cell(self):
        """The cell inside."""
        return self.cell

    def get_config(self):
        """The arguments of the wrapper, and the config of its cell."""
        return {**super().get_config(), **self._described}

    def _salted(self, name: str):
        if self._seed is None:
            return None
        return int(hashlib.md5(f"{self._seed}_{name}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _drop(self, values: Tensor, name: str, filters=None):
        keep = self._keep[name]
        if _all(keep):
            return values
        flat = nest.flatten(values)
        wanted = [True] * len(flat) if filters is None else nest.flatten(filters)
        if self._variational_recurrent:
            noises = nest.flatten(self.__dict__[f"_{name}_noise"])
            dropped = [
                x / keep * floor(noise + keep) if use else x
                for x, noise, use in zip(flat, noises, wanted)
            ]
        else:
            dropped = [
                dropout(x, 1.0 - keep, seed=self._salted(f"{name}{i}")) if use else x
                for i, (x, use) in enumerate(zip(flat, wanted))
            ]
        return nest.pack_sequence_as(values, dropped)

    def _wrapped(self, inputs: Tensor, state: Tensor, run: Callable[..., Any], **kwargs):
        inputs = self._drop(inputs, "input")
        output, new_state = run(inputs, state, **kwargs)
        if not _all(self._keep["state"]):
            filters = _expand(self._dropout_state_filter(new_state), new_state)
            new_state = self._drop(new_state, "state", filters)
        return self._drop(output, "output"), new_state


def _but_memory(state):
    """All of a state, but for the c of an LSTM."""
    if getattr(state, "_fields", None) == ("c", "h"):
        return type(state)(c=False, h=True)
    if isinstance(state, tuple) and not hasattr(state, "_fields"):
        return tuple(_but_memory(part) for part in state)
    return True


def _expand(filters, state):
    """A structure of bools that may stop above the leaves, as one bool per leaf."""
    if isinstance(filters, bool):
        return [filters] * len(nest.flatten(state))
    flat: list = []
    for one, part in zip(filters, state):
        flat += _expand(one, part)
    return flat


def _checked(name: str, value: float):
    if is_tensor(value):
        return value
    if not isinstance(value, numbers.Real) or not 0 < float(value) <= 1:
        raise ValueError(f"Parameter {name} must be a number in (0, 1] or a tensor: {value}")
    return float(value)


def _all(keep: float):
    return isinstance(keep, float) and keep >= 1.0


class Residual:
    """The inputs added to the outputs of a cell, or what `residual_fn(inputs, outputs)` makes of them."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def get_config(self):
        """The arguments of the wrapper, and the config of its cell."""
        config = super().get_config()
        return config if self._residual_fn is None else {**config, "residual_fn": self._residual_fn}

    def _wrapped(self, inputs: Tensor, state: Tensor, run: Callable[..., Any], **kwargs):
        outputs, new_state = run(inputs, state, **kwargs)
        nest.assert_same_structure(inputs, outputs)
        if self._residual_fn is not None:
            return self._residual_fn(inputs, outputs), new_state
        for x, y in zip(nest.flatten(inputs), nest.flatten(outputs)):
            x.shape.assert_is_compatible_with(y.shape)
        return nest.map_structure(lambda x, y: x + y, inputs, outputs), new_state


class OnDevice:
    """A cell that runs on a device."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def get_config(self):
        """The arguments of the wrapper, and the config of its cell."""
        return {**super().get_config(), "device": self._device}

    def _wrapped(self, inputs, state, run, **kwargs):
        with device(self._device):
            return run(inputs, state, **kwargs)


class _Wrapper(AbstractRNNCell):
    """A cell with the states and the output of another."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self.cell = cell

    @property
    def state_size(self):
        """The sizes of the cell's states."""
        return self.cell.state_size

    @property
    def output_size(self):
        """The size of the cell's output."""
        return self.cell.output_size

    def build(self, inputs_shape):
        """Makes the weights of the cell."""
        if not self.cell.built:
            self.cell.build(inputs_shape)
            self.cell.built = True
        self.built = True

    def get_initial_state(self, inputs=None, batch_size: int | None = None, dtype: DTypeLike | None = None):
        """The states that the cell starts from."""
        return self.cell.get_initial_state(inputs=inputs, batch_size=batch_size, dtype=dtype)

    def zero_state(self, batch_size: int, dtype: DTypeLike):
        """States of zeros."""
        return self.get_initial_state(batch_size=batch_size, dtype=dtype)

    def call(self, inputs, state, **kwargs):
        """(output, new state) of the wrapped cell."""
        return self._wrapped(inputs, state, self.cell.call, **kwargs)

    def get_config(self):
        """The arguments of the wrapper, and the config of its cell."""
        return {**super().get_config(), "cell": to_config(self.cell)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects=None):
        """A wrapper around the cell of the config."""
        config = dict(config)
        cell = config.pop("cell")
        if isinstance(cell, dict):
            cell = deserialize_in("keras.layers", cell, custom_objects)
        return cls(cell, **config)

    def _wrapped(self, inputs, state, run, **kwargs):
        raise TypeError(f"{type(self).__name__} does not say what it does around its cell")


@api(v2="nn.RNNCellDropoutWrapper")
class RNNCellDropoutWrapper(Dropping, _Wrapper):
    """`tf.nn.RNNCellDropoutWrapper`: dropout on inputs, states and outputs of a cell. See `Dropping`.

    Args:
      *args, **kwargs: `cell`, `input_keep_prob`, `output_keep_prob`, `state_keep_prob`, `variational_recurrent`,
        `input_size`, `dtype`, `seed` and `dropout_state_filter_visitor`, in this order.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if isinstance(self.cell, LSTMCell):
            raise ValueError(
                "keras LSTM cell does not work with DropoutWrapper. Please use LSTMCell(dropout=x, "
                "recurrent_dropout=y) instead."
            )


@api(v2="nn.RNNCellResidualWrapper")
class RNNCellResidualWrapper(Residual, _Wrapper):
    """`tf.nn.RNNCellResidualWrapper`: inputs are added to the outputs of a cell. See `Residual`.

    Args:
      *args, **kwargs: `cell`, and `residual_fn(inputs, outputs)` where their sum is not wanted.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


@api(v2="nn.RNNCellDeviceWrapper")
class RNNCellDeviceWrapper(OnDevice, _Wrapper):
    """`tf.nn.RNNCellDeviceWrapper`: a cell that runs on a device.

    Args:
      *args, **kwargs: `cell`, and `device`, the name of a device or a function that gives it.
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


boundaries(globals())
