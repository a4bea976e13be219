"""Convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import Configurable, Tensor
from tapeflow.keras.layers.convolution_base import Convolution
from tapeflow.keras.layers.low_rank import AdaptableWeight, LowRank


class _Plain(LowRank, Convolution):
    kernel = AdaptableWeight()
    _counts_once = False  # as in Keras, unlike with other layers

    def __init__(
        self, filters: int, kernel_size: Sequence[int] | int, strides: Sequence[int] | int = 1,
        padding: str = "valid", data_format: str | None = None, dilation_rate: Sequence[int] | int = 1,
        groups: int = 1, activation: Callable[..., Any] | str | None = None, use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
        kernel_regularizer: Callable[..., Any] | None = None, bias_regularizer: Configurable | None = None,
        activity_regularizer: Configurable | None = None, kernel_constraint: Configurable | None = None,
        bias_constraint: Configurable | None = None, **kwargs,
    ):
        rank, alpha = kwargs.pop("lora_rank", None), kwargs.pop("lora_alpha", None)
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._set_low_rank(rank, alpha)
        self._configure(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            groups,
            activation,
            use_bias,
            {
                "kernel_initializer": kernel_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "kernel_constraint": kernel_constraint,
                "bias_constraint": bias_constraint,
            },
        )

    def build(self, input_shape: Sequence[Any]):
        super().build(input_shape)
        self._build_low_rank()

    def convolution_op(self, inputs: Tensor, kernel):
        """The convolution of inputs, with channels last, by a kernel."""
        own, self.__dict__["kernel"] = self.__dict__.get("kernel"), kernel
        try:
            return self._convolve(inputs)
        finally:
            if own is None:
                del self.__dict__["kernel"]
            else:
                self.__dict__["kernel"] = own

    def get_config(self):
        return {**super().get_config(), **self._low_rank_config()}


class Conv1D(_Plain):
    """Convolution of sequences: each output is a weighted sum over a window of steps.

    Input shape: `(batch, steps, channels)`, or `(batch, channels, steps)` for "channels_first".
    Output shape: `(batch, new steps, filters)`, or with the filters first.

    Args:
      filters: the number of outputs at each step.
      kernel_size: the length of the window, an integer.
      strides: how many steps the window moves between outputs.
      padding: "valid" takes whole windows alone, "same" pads with zeros to `ceil(steps / stride)` outputs, "causal"
        pads at the front alone, so that no output depends on later steps.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      groups: into how many groups the channels are split; each filter reads the channels of one group.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.Conv1D(1, 2, kernel_initializer="ones", padding="causal")
    >>> print(layer(tf.constant([[[1.0], [2.0], [4.0]]])).numpy().ravel())
    [1. 3. 6.]
    """

    rank = 1
    _causal = True


class Conv2D(_Plain):
    """Convolution of images: each output is a weighted sum over a window of pixels and all channels.

    The weights are `kernel`, of shape `(*kernel_size, channels / groups, filters)`, and `bias`.

    Input shape: `(batch, rows, columns, channels)`, or `(batch, channels, rows, columns)` for "channels_first".
    Output shape: `(batch, new rows, new columns, filters)`, or with the filters first.

    Args:
      filters: the number of outputs at each position.
      kernel_size: height and width of the window, or one integer for both.
      strides: how many rows and columns the window moves between outputs; two integers or one for both.
      padding: "valid" takes whole windows alone, "same" pads with zeros to `ceil(size / stride)` outputs.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      groups: into how many groups the channels are split; each filter reads the channels of one group.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for filters or channels that `groups` does not divide, for strides together with dilation, and for
        windows larger than the inputs.

    >>> layer = tf.keras.layers.Conv2D(1, 2, kernel_initializer="ones")
    >>> print(layer(tf.reshape(tf.range(9.0), [1, 3, 3, 1])).numpy()[0, :, :, 0])
    [[ 8. 12.]
     [20. 24.]]
    >>> print(tf.keras.layers.Conv2D(8, 3, strides=2, padding="same")(tf.ones([1, 5, 5, 3])).shape)
    (1, 3, 3, 8)
    """


class Conv3D(_Plain):
    """Convolution of volumes.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, new depth, new rows, new columns, filters)`, likewise.

    Args:
      filters: the number of outputs at each position.
      kernel_size: the sizes of the window, three integers or one for all.
      strides: how far the window moves between outputs along each axis; three integers or one for all.
      padding: "valid" takes whole windows alone, "same" pads with zeros to `ceil(size / stride)` outputs.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      groups: into how many groups the channels are split; each filter reads the channels of one group.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3
