"""ConvLSTM: an LSTM whose products are convolutions (Shi et al., 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Configurable, ShapeLike, Tensor
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, regularizers, settings
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import (
    normalize_padding,
    normalize_tuple,
    output_length,
    to_nn_format,
)
from tapeflow.keras.layers.rnn.base import RNN, SETTINGS, of_cell
from tapeflow.keras.layers.rnn.cells import is_number, set_weight_settings, weight_config
from tapeflow.keras.layers.rnn.dropout import DropoutRNNCellMixin
from tapeflow.keras.old_names import takes_old_names
from tapeflow.keras.random import NoiseSource
from tapeflow.ops.array.construction import ones, zeros
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.convolution.functions_any_rank import convolution
from tapeflow.ops.static import as_shape, sizes_of

# The recurrent activation where none is given: sigmoid, in Keras 2 hard_sigmoid.
DEFAULT = object()


class ConvLSTMCell(DropoutRNNCellMixin):
    """One step of an LSTM over images of `rank` axes."""

    # Set once the weights are made.
    bias: Any = None

    def __init__(
        self, rank, filters, kernel_size: int | Sequence[int], strides: int | Sequence[int] = 1,
        padding: str = "valid", data_format: str | None = None, dilation_rate: int | Sequence[int] = 1,
        activation: str = "tanh", recurrent_activation=DEFAULT, use_bias: bool = True,
        kernel_initializer: str = "glorot_uniform", recurrent_initializer: str = "orthogonal",
        bias_initializer: str = "zeros", unit_forget_bias: bool = True,
        kernel_regularizer: Configurable | None = None, recurrent_regularizer: Configurable | None = None,
        bias_regularizer: Configurable | None = None, kernel_constraint: Configurable | None = None,
        recurrent_constraint: Configurable | None = None, bias_constraint: Configurable | None = None,
        dropout: float = 0.0, recurrent_dropout: float = 0.0, seed: int | None = None, **kwargs,
    ):
        super().__init__(**kwargs)
        if filters is not None and filters <= 0:
            raise ValueError(
                "Invalid value for argument `filters`, expected a strictly positive value. "
                f"Received filters={filters}."
            )
        self.seed, self._made_noise = seed, NoiseSource(seed)
        self.rank = rank
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, rank, "kernel_size")
        self.strides = normalize_tuple(strides, rank, "strides", allow_zero=True)
        self.padding = normalize_padding(padding)
        self.data_format = settings.normalize_data_format(data_format)
        self.dilation_rate = normalize_tuple(dilation_rate, rank, "dilation_rate")
        self.activation = activations.get(activation)
        if recurrent_activation is DEFAULT:
            recurrent_activation = "hard_sigmoid" if keras_2() else "sigmoid"
        self.recurrent_activation = activations.get(recurrent_activation)
        self.use_bias, self.unit_forget_bias = use_bias, unit_forget_bias
        set_weight_settings(self, locals())
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.state_size = (filters, filters)
        self.output_size = filters

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        channels = sizes[1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs (last axis) should be defined. Found None. Full "
                f"input shape received: input_shape={tuple(sizes)}"
            )
        columns = self.filters * 4
        self.kernel = self._weight("kernel", (*self.kernel_size, channels, columns), "kernel")
        self.recurrent_kernel = self._weight(
            "recurrent_kernel", (*self.kernel_size, self.filters, columns), "recurrent"
        )
        if self.use_bias:
            initializer = None
            if self.unit_forget_bias:
                given, filters = self.bias_initializer, self.filters

                def initializer(shape: Sequence[Any], dtype=None, **kwargs):
                    first = given((filters,), dtype=dtype)
                    one, rest = ones((filters,), dtype), given((filters * 2,), dtype=dtype)
                    return concat([first, one, rest], 0)

            self.bias = self._weight("bias", (columns,), "bias", initializer)
        self.built = True

    def _weight(self, name: str, shape: Sequence[Any], kind: str, initializer=None):
        return self.add_weight(
            name,
            shape,
            initializer=initializer or getattr(self, f"{kind}_initializer"),
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def _convolve(self, x: Tensor, kernel, strides, padding, dilations=None):
        first = self.data_format == "channels_first"
        if first:  # the CPU's kernels have channels last
            x = transpose(x, [0, *range(2, self.rank + 2), 1])
        layout = to_nn_format("channels_last", self.rank)
        outputs = convolution(x, kernel, strides, padding.upper(), layout, dilations)
        return (
            transpose(outputs, [0, self.rank + 1, *range(1, self.rank + 1)]) if first else outputs
        )

    def call(self, inputs: Tensor, states: Sequence[Tensor], training: bool | Tensor | None = None):
        return self.step(self.project(inputs, training), states, training)

    def project(self, inputs: Tensor, training: bool | Tensor | None):
        """The part of the step that needs no states."""
        masks = self.get_dropout_mask_for_cell(inputs, training, 4)
        x = self._gates(inputs, masks, self.kernel, self.strides, self.padding, self.dilation_rate)
        if self.bias is None:
            return x
        first = self.data_format == "channels_first"
        return x + (reshape(self.bias, [-1, *[1] * self.rank]) if first else self.bias)

    def step(self, projected, states: Sequence[Tensor], training: bool | Tensor | None):
        """The rest of the step."""
        h, c = states
        axis = 1 if self.data_format == "channels_first" else -1
        h_masks = self.get_recurrent_dropout_mask_for_cell(h, training, 4)
        z = projected + self._gates(h, h_masks, self.recurrent_kernel, 1, "same", None)
        i, f, candidate, o = split(z, 4, axis=axis)
        gate = self.recurrent_activation
        c = gate(f) * c + gate(i) * self.activation(candidate)
        h = gate(o) * self.activation(c)
        return h, [h, c]

    def _gates(self, x: Tensor, masks, kernel, strides, padding, dilations):
        """The convolutions of all gates at once, or, where each has its own dropout, one by one."""
        strides = normalize_tuple(strides, self.rank, "strides")
        if masks is None:
            return self._convolve(x, kernel, strides, padding, dilations)
        parts = split(kernel, 4, axis=-1)
        axis = 1 if self.data_format == "channels_first" else -1
        return concat(
            [self._convolve(x * m, k, strides, padding, dilations) for m, k in zip(masks, parts)],
            axis,
        )

    def get_config(self):
        config = {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "activation": activations.serialize(self.activation),
            "recurrent_activation": activations.serialize(self.recurrent_activation),
            "use_bias": self.use_bias,
            "unit_forget_bias": self.unit_forget_bias,
        }
        return {
            **config,
            **weight_config(self),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            **({} if self.seed is None else {"seed": self.seed}),
        }


@of_cell(
    f"{SETTINGS} filters kernel_size strides padding data_format dilation_rate recurrent_activation "
    "unit_forget_bias"
)
class _ConvLSTM(RNN):
    """A ConvLSTMCell over (batch, steps, ..., channels)."""

    rank = 2

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        activation="tanh",
        recurrent_activation=DEFAULT,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        seed=None,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        **kwargs,
    ):
        arguments = dict(locals())
        of_cell = {
            name: arguments[name]
            for name in ConvLSTMCell.__init__.__code__.co_varnames
            if name in arguments and name not in ("self", "kwargs", "__class__", "rank", "weights")
        }
        cell = ConvLSTMCell(
            self.rank,
            **of_cell,
            name=("conv_lstm_cell_2d" if self.rank == 2 else f"conv_lstm_{self.rank}d_cell") if keras_2() else None,
            dtype=kwargs.get("dtype"),
        )
        self.__dict__["_settings"] = tuple(
            name for name in cell.get_config() if name not in ("name", "trainable", "dtype")
        )
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, **kwargs)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.input_spec = [InputSpec(ndim=self.rank + 3)]

    def _step_function(self, inputs, training: bool | Tensor, n_constants):
        cell = self.cell
        dropout = cell.dropout and training is not None and training is not False
        if n_constants or dropout or type(cell) is not ConvLSTMCell:
            return super()._step_function(inputs, training, n_constants)
        # Images of all steps go through one convolution.
        sizes = sizes_of(inputs)
        projected = cell.project(reshape(inputs, [-1, *sizes[2:]]), training)
        sequence = reshape(projected, [*sizes[:2], *sizes_of(projected)[1:]])
        return lambda x, states: cell.step(x, states, training), sequence

    def _image(self, sizes):
        """The sizes (batch, ..., filters) of outputs and states for inputs without their steps."""
        first = self.data_format == "channels_first"
        lengths = sizes[2:] if first else sizes[1:-1]
        cell = self.cell
        windows = zip(lengths, cell.kernel_size, cell.strides, cell.dilation_rate)
        rest = [output_length(n, k, cell.padding, s, d) for n, k, s, d in windows]
        return [sizes[0], cell.filters, *rest] if first else [sizes[0], *rest, cell.filters]

    def compute_output_shape(self, input_shape: ShapeLike):
        if isinstance(input_shape, list) and isinstance(input_shape[0], (list, tuple, TensorShape)):
            input_shape = input_shape[0]
        sizes = TensorShape(input_shape).as_list()
        image = self._image([sizes[0], *sizes[2:]])
        output = [image[0], sizes[1], *image[1:]] if self.return_sequences else image
        if not self.return_state:
            return TensorShape(output)
        return [TensorShape(output), TensorShape(image), TensorShape(image)]

    @takes_old_names(inputs="batch_size")
    def get_initial_state(self, batch_size):
        """Images of zeros.

        Args:
          batch_size: the number of sequences, for a layer that is built; or, as in Keras 2, the sequences.

        Returns:
          A list of two tensors.
        """
        if is_number(batch_size):
            image = [batch_size, *TensorShape(self.cell.state_size[0]).as_list()]
            return [zeros(as_shape(image), self._compute_dtype_object) for _ in range(2)]
        sizes = sizes_of(batch_size)
        image = as_shape(self._image([sizes[0], *sizes[2:]]))
        return [zeros(image, batch_size.dtype), zeros(image, batch_size.dtype)]

    def build(self, input_shape: Sequence[Any]):
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        sizes = TensorShape(shape).as_list()
        # States are images, whose sizes follow from those of the inputs.
        image = self._image([sizes[0], *sizes[2:]])
        size = TensorShape(image[1:])
        self.cell.state_size = (size, size)
        if not self.cell.built:
            self.cell.build([sizes[0], *sizes[2:]])
        super().build(shape)

    def get_config(self):
        config = super().get_config()
        config.pop("cell", None)
        of_cell = self.cell.get_config()
        config |= {name: of_cell[name] for name in self._settings}
        config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config

    @classmethod
    def from_config(cls, config):
        """A layer from the constructor's arguments."""
        return cls(**config)


class ConvLSTM1D(_ConvLSTM):
    """An LSTM over sequences of rows, whose products are convolutions.

    Input shape: `(batch, steps, length, channels)`, or with the channels after the steps.
    Output shape: `(batch, new length, filters)`, with `return_sequences` one for each step; with `return_state` then
      h, c.

    Args:
      filters: the number of outputs at each position, and of channels of the states.
      kernel_size: the sizes of the window, an integer or one per axis.
      strides: how far the window moves between outputs, an integer or one per axis.
      padding: "valid" or "same", for the inputs; states are always padded.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: of the candidate and of the cell's state, a function or its name.
      recurrent_activation: of the gates; when not given "sigmoid", under Keras 2 "hard_sigmoid".
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      unit_forget_bias: add 1 to the first bias of the forget gate.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights, added to the model's
        `losses`; regularizers, names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, recurrent_constraint, bias_constraint: functions applied to the weights after each update;
        constraints, names or None.
      dropout: the part of the inputs set to 0 while training, from 0 to 1; the same inputs at all steps.
      recurrent_dropout: the part of the state set to 0 while training, from 0 to 1.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      return_sequences: give the outputs of all steps, not only of the last.
      return_state: give the final states after the output.
      go_backwards: run from the last step to the first.
      stateful: begin with the states in which the last batch ended; the batch size must be fixed.
      **kwargs: `name`, `dtype` and the other arguments of `RNN` and `Layer`.
    """

    rank = 1


class ConvLSTM2D(_ConvLSTM):
    """An LSTM over sequences of images, whose products are convolutions (Shi et al., 2015).

    Input shape: `(batch, steps, rows, columns, channels)`, or with the channels after the steps.
    Output shape: `(batch, new rows, new columns, filters)`, with `return_sequences` one for each step; with
      `return_state` then h and c.

    Args:
      filters: the number of outputs at each position, and of channels of the states.
      kernel_size: the sizes of the window, an integer or one per axis.
      strides: how far the window moves between outputs, an integer or one per axis.
      padding: "valid" or "same", for the inputs; states are always padded.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: of the candidate and of the cell's state, a function or its name.
      recurrent_activation: of the gates; when not given "sigmoid", under Keras 2 "hard_sigmoid".
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      unit_forget_bias: add 1 to the first bias of the forget gate.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights, added to the model's
        `losses`; regularizers, names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, recurrent_constraint, bias_constraint: functions applied to the weights after each update;
        constraints, names or None.
      dropout: the part of the inputs set to 0 while training, from 0 to 1; the same inputs at all steps.
      recurrent_dropout: the part of the state set to 0 while training, from 0 to 1.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      return_sequences: give the outputs of all steps, not only of the last.
      return_state: give the final states after the output.
      go_backwards: run from the last step to the first.
      stateful: begin with the states in which the last batch ended; the batch size must be fixed.
      **kwargs: `name`, `dtype` and the other arguments of `RNN` and `Layer`.

    >>> layer = tf.keras.layers.ConvLSTM2D(4, 3, padding="same")
    >>> print(layer(tf.zeros([1, 2, 8, 8, 3])).shape)
    (1, 8, 8, 4)
    """


class ConvLSTM3D(_ConvLSTM):
    """An LSTM over sequences of volumes, whose products are convolutions.

    Input shape: `(batch, steps, depth, rows, columns, channels)`, or with the channels after the steps.
    Output shape: `(batch, new depth, new rows, new columns, filters)`, with `return_sequences` one for each step;
      with `return_state` then h and c.

    Args:
      filters: the number of outputs at each position, and of channels of the states.
      kernel_size: the sizes of the window, an integer or one per axis.
      strides: how far the window moves between outputs, an integer or one per axis.
      padding: "valid" or "same", for the inputs; states are always padded.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: of the candidate and of the cell's state, a function or its name.
      recurrent_activation: of the gates; when not given "sigmoid", under Keras 2 "hard_sigmoid".
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      unit_forget_bias: add 1 to the first bias of the forget gate.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights, added to the model's
        `losses`; regularizers, names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, recurrent_constraint, bias_constraint: functions applied to the weights after each update;
        constraints, names or None.
      dropout: the part of the inputs set to 0 while training, from 0 to 1; the same inputs at all steps.
      recurrent_dropout: the part of the state set to 0 while training, from 0 to 1.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      return_sequences: give the outputs of all steps, not only of the last.
      return_state: give the final states after the output.
      go_backwards: run from the last step to the first.
      stateful: begin with the states in which the last batch ended; the batch size must be fixed.
      **kwargs: `name`, `dtype` and the other arguments of `RNN` and `Layer`.
    """

    rank = 3
