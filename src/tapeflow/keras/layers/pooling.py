"""Pooling over windows and over whole images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import (
    normalize_padding,
    normalize_tuple,
    output_length,
    to_nn_format,
)
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.convolution.pool_functions import avg_pool, max_pool
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_max, reduce_mean, reduce_sum


class _Pooling(Layer):
    """A function of windows of each channel."""

    _built_at_init = True
    rank = 2
    _pool = staticmethod(max_pool)

    def __init__(
        self, pool_size: Sequence[int] | int = 2, strides: Sequence[int] | int | None = None,
        padding: str = "valid", data_format: str | None = None, name: str | None = None, **kwargs,
    ):
        super().__init__(name=name, **kwargs)
        if strides is None:
            strides = pool_size
        self.pool_size = normalize_tuple(pool_size, self.rank, "pool_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = normalize_padding(padding)
        self.data_format = settings.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs: TensorLike):
        # Windows are pooled with channels last, the layout that the CPU's kernels have.
        first = self.data_format == "channels_first"
        if first:
            inputs = transpose(inputs, [0, *range(2, self.rank + 2), 1])
        outputs = self._pool(
            inputs,
            [1, *self.pool_size, 1],
            [1, *self.strides, 1],
            self.padding.upper(),
            to_nn_format("channels_last", self.rank),
        )
        return (
            transpose(outputs, [0, self.rank + 1, *range(1, self.rank + 1)]) if first else outputs
        )

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        start = 2 if self.data_format == "channels_first" else 1
        for i in range(self.rank):
            sizes[start + i] = output_length(
                sizes[start + i], self.pool_size[i], self.padding, self.strides[i]
            )
        return TensorShape(sizes)

    def get_config(self):
        return {
            **super().get_config(),
            "pool_size": self.pool_size,
            "padding": self.padding,
            "strides": self.strides,
            "data_format": self.data_format,
        }


    @property
    def pool_mode(self):
        """Which number of each window is given: "max" or "average"."""
        return "max" if self._pool is max_pool else "average"


class _Pooling1D(_Pooling):
    rank = 1


class MaxPooling2D(_Pooling):
    """The largest value of each window of images, for each channel.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, new rows, new columns, channels)`, likewise.

    Args:
      pool_size: height and width of the window, or one integer for both.
      strides: how far the window moves between outputs; None for `pool_size`.
      padding: "valid" takes whole windows alone, "same" lets windows extend beyond the edges, for `ceil(size /
        stride)` outputs.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      name: the name of the layer; its class's with a number by default.
      **kwargs: `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> print(tf.keras.layers.MaxPooling2D()(x).numpy()[0, :, :, 0])
    [[ 5.  7.]
     [13. 15.]]
    """

    def __init__(
        self, pool_size: Sequence[int] | int = (2, 2), strides: int | Sequence[int] | None = None,
        padding: str = "valid", data_format: str | None = None, name: str | None = None, **kwargs,
    ):
        super().__init__(pool_size, strides, padding, data_format, name, **kwargs)


class AveragePooling2D(_Pooling):
    """The mean of each window of images, for each channel; padding does not count.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, new rows, new columns, channels)`, likewise.

    Args:
      pool_size: height and width of the window, or one integer for both.
      strides: how far the window moves between outputs; None for `pool_size`.
      padding: "valid" takes whole windows alone, "same" lets windows extend beyond the edges, for `ceil(size /
        stride)` outputs.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      name: the name of the layer; its class's with a number by default.
      **kwargs: `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> print(tf.keras.layers.AveragePooling2D()(x).numpy()[0, :, :, 0])
    [[ 2.5  4.5]
     [10.5 12.5]]
    """

    _pool = staticmethod(avg_pool)

    def __init__(
        self, pool_size: Sequence[int] | int = 2, strides: Sequence[int] | int | None = None,
        padding: str = "valid", data_format: str | None = None, name: str | None = None, **kwargs,
    ):
        super().__init__(pool_size, strides, padding, data_format, name, **kwargs)


class MaxPooling1D(_Pooling1D):
    """The largest value of each window of steps, for each channel.

    Input shape: `(batch, steps, channels)`, or with the channels first.
    Output shape: `(batch, new steps, channels)`, likewise.

    Args:
      pool_size: the length of the window, an integer.
      strides: how far the window moves between outputs; None for `pool_size`.
      padding: "valid" takes whole windows alone, "same" lets windows extend beyond the edges, for `ceil(size /
        stride)` outputs.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      name: the name of the layer; its class's with a number by default.
      **kwargs: `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> x = tf.constant([[[1.0], [3.0], [2.0], [0.0]]])
    >>> print(tf.keras.layers.MaxPooling1D()(x).numpy().ravel())
    [3. 2.]
    """


class AveragePooling1D(_Pooling1D):
    """The mean of each window of steps, for each channel; padding does not count.

    Input shape: `(batch, steps, channels)`, or with the channels first.
    Output shape: `(batch, new steps, channels)`, likewise.

    Args:
      pool_size: the length of the window, an integer.
      strides: how far the window moves between outputs; None for `pool_size`.
      padding: "valid" takes whole windows alone, "same" lets windows extend beyond the edges, for `ceil(size /
        stride)` outputs.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      name: the name of the layer; its class's with a number by default.
      **kwargs: `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _pool = staticmethod(avg_pool)

    def __init__(
        self, pool_size: int = 2, strides: int | Sequence[int] | None = None, padding: str = "valid",
        data_format: str | None = None, name: str | None = None, **kwargs,
    ):
        super().__init__(pool_size, strides, padding, data_format, name, **kwargs)


class MaxPooling3D(_Pooling):
    """The largest value of each window of volumes, for each channel.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, new depth, new rows, new columns, channels)`, likewise.

    Args:
      pool_size: the sizes of the window, three integers or one for all.
      strides: how far the window moves between outputs; None for `pool_size`.
      padding: "valid" takes whole windows alone, "same" lets windows extend beyond the edges, for `ceil(size /
        stride)` outputs.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      name: the name of the layer; its class's with a number by default.
      **kwargs: `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3

    def __init__(
        self, pool_size: int | Sequence[int] = (2, 2, 2), strides: int | Sequence[int] | None = None,
        padding: str = "valid", data_format: str | None = None, name: str | None = None, **kwargs,
    ):
        super().__init__(pool_size, strides, padding, data_format, name, **kwargs)


class AveragePooling3D(_Pooling):
    """The mean of each window of volumes, for each channel; padding does not count.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, new depth, new rows, new columns, channels)`, likewise.

    Args:
      pool_size: the sizes of the window, three integers or one for all.
      strides: how far the window moves between outputs; None for `pool_size`.
      padding: "valid" takes whole windows alone, "same" lets windows extend beyond the edges, for `ceil(size /
        stride)` outputs.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      name: the name of the layer; its class's with a number by default.
      **kwargs: `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3
    _pool = staticmethod(avg_pool)

    def __init__(
        self, pool_size: int = 2, strides: int | Sequence[int] | None = None, padding: str = "valid",
        data_format: str | None = None, name: str | None = None, **kwargs,
    ):
        super().__init__(pool_size, strides, padding, data_format, name, **kwargs)


class _GlobalPooling(Layer):
    """One number per channel."""

    _built_at_init = True
    rank = 2
    _reduce = staticmethod(reduce_mean)
    _plain_call = True

    def __init__(self, data_format: str | None = None, keepdims: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.data_format = settings.normalize_data_format(data_format)
        self.keepdims = keepdims
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _axes(self):
        start = 2 if self.data_format == "channels_first" else 1
        return list(range(start, start + self.rank))

    def call(self, inputs: TensorLike):
        return self._reduce(self._of_mean(inputs), axis=self._axes(), keepdims=self.keepdims)

    def _of_mean(self, inputs: Any):
        """The numbers that a mean is of: integers as floats in Keras 3."""
        if inputs.dtype.is_floating or type(self)._reduce is not reduce_mean or keras_2():
            return inputs
        return cast(inputs, settings.floatx())

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        axes = self._axes()
        if self.keepdims:
            return TensorShape([1 if i in axes else size for i, size in enumerate(sizes)])
        return TensorShape([size for i, size in enumerate(sizes) if i not in axes])

    def get_config(self):
        return {
            **super().get_config(),
            "data_format": self.data_format,
            "keepdims": self.keepdims,
        }


class GlobalAveragePooling1D(_GlobalPooling):
    """The mean over the steps of sequences; of those that a mask lets count.

    Input shape: `(batch, steps, channels)`, or with the channels first.
    Output shape: `(batch, channels)`; with `keepdims` the steps are an axis of size 1.

    Args:
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      keepdims: whether the axes that are reduced stay, with size 1.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 1
    _plain_call = False

    def __init__(self, data_format: str | None = None, keepdims: bool = False, **kwargs):
        super().__init__(data_format, keepdims, **kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        if mask is None:
            return super().call(inputs)
        axis, inputs = self._axes()[0], self._of_mean(inputs)
        weights = expand_dims(cast(mask, inputs.dtype), 2 if axis == 1 else 1)
        total = reduce_sum(inputs * weights, axis=axis, keepdims=self.keepdims)
        return total / reduce_sum(weights, axis=axis, keepdims=self.keepdims)

    def compute_mask(self, inputs, mask: TensorLike | None = None):
        return None


class GlobalMaxPooling1D(_GlobalPooling):
    """The largest value over the steps of sequences, for each channel.

    Input shape: `(batch, steps, channels)`, or with the channels first.
    Output shape: `(batch, channels)`; with `keepdims` the steps are an axis of size 1.

    Args:
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      keepdims: whether the axes that are reduced stay, with size 1.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 1
    _reduce = staticmethod(reduce_max)


class GlobalAveragePooling2D(_GlobalPooling):
    """The mean over all pixels of an image, for each channel.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, channels)`; with `keepdims` rows and columns are axes of size 1.

    Args:
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      keepdims: whether the axes that are reduced stay, with size 1.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> print(tf.keras.layers.GlobalAveragePooling2D()(tf.ones([2, 4, 4, 3])).shape)
    (2, 3)
    """


class GlobalMaxPooling2D(GlobalAveragePooling2D):
    """The largest value over all pixels of an image, for each channel.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, channels)`; with `keepdims` rows and columns are axes of size 1.

    Args:
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      keepdims: whether the axes that are reduced stay, with size 1.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _reduce = staticmethod(reduce_max)


class GlobalAveragePooling3D(_GlobalPooling):
    """The mean over a volume, for each channel.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, channels)`; with `keepdims` the volume's axes stay, of size 1.

    Args:
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      keepdims: whether the axes that are reduced stay, with size 1.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3


class GlobalMaxPooling3D(GlobalAveragePooling3D):
    """The largest value over a volume, for each channel.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, channels)`; with `keepdims` the volume's axes stay, of size 1.

    Args:
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      keepdims: whether the axes that are reduced stay, with size 1.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _reduce = staticmethod(reduce_max)
