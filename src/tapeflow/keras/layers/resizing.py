"""Padding, cropping and repeating of steps and images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import normalize_tuple
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.image.resizing import resize
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import as_shape, sizes_of

_INTERPOLATIONS = (
    "nearest",
    "bilinear",
    "bicubic",
    "area",
    "gaussian",
    "lanczos3",
    "lanczos5",
    "mitchellcubic",
)


class _Resizing(Layer):
    """Changes the sizes of `rank` axes between batch and channels."""

    rank = 2

    def __init__(self, data_format: str | None = None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = settings.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _start(self):
        return 2 if self.data_format == "channels_first" else 1

    def _new_size(self, i: int, size):
        raise TypeError(f"{type(self).__name__} does not say how it changes sizes")

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        for i in range(self.rank):
            size = sizes[self._start + i]
            sizes[self._start + i] = None if size is None else self._new_size(i, size)
        return TensorShape(sizes)

    def get_config(self):
        config = super().get_config()
        return {**config, "data_format": self.data_format} if self.rank > 1 else config


def _pairs(value: Sequence[Any] | int, rank: int, name: str):
    """((before, after), ...) from an int, a tuple of ints, or a tuple of pairs."""
    if isinstance(value, int):
        return normalize_pairs([(value, value)] * rank, name)
    if not isinstance(value, (tuple, list)):
        raise ValueError(f"`{name}` should be an int or a tuple of ints. Received: {value}.")
    value = tuple(value)
    if rank == 1 and len(value) == 2 and all(isinstance(item, int) for item in value):
        return normalize_pairs([value], name)
    if len(value) != rank or (rank == 1 and not keras_2()):
        raise ValueError(f"`{name}` should have {rank} elements. Received: {value}.")
    pairs = [(item, item) if isinstance(item, int) else tuple(item) for item in value]
    return normalize_pairs(pairs, name)


def normalize_pairs(pairs: Sequence[Any], name: str):
    """The pairs as tuples of ints >= 0. Raises ValueError for others."""
    return tuple(normalize_tuple(pair, 2, name, allow_zero=True) for pair in pairs)


class ZeroPadding2D(_Resizing):
    """Adds rows and columns of zeros around images.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, rows + padding, columns + padding, channels)`, likewise.

    Args:
      padding: one integer for all sides, one for each axis, or `((top, bottom), (left, right))`.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> print(tf.keras.layers.ZeroPadding2D(1)(tf.ones([1, 2, 2, 3])).shape)
    (1, 4, 4, 3)
    """

    def __init__(self, padding: Sequence[Any] = (1, 1), data_format: str | None = None, **kwargs):
        super().__init__(data_format, **kwargs)
        self.padding = _pairs(padding, self.rank, "padding")

    def _new_size(self, i: int, size: int):
        return size + sum(self.padding[i])

    def call(self, inputs: TensorLike):
        widths = [(0, 0)] * (self.rank + 2)
        widths[self._start : self._start + self.rank] = self.padding
        return pad(inputs, [list(pair) for pair in widths])

    def get_config(self):
        padding = self.padding if self.rank > 1 else self.padding[0]
        return {**super().get_config(), "padding": padding}


class ZeroPadding1D(ZeroPadding2D):
    """Adds steps of zeros before and after sequences.

    Input shape: `(batch, steps, channels)`.
    Output shape: `(batch, steps + padding, channels)`.

    Args:
      padding: an integer for both ends, or `(before, after)`.
      data_format: "channels_last", also when None, or "channels_first".
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 1

    def __init__(self, padding=1, data_format: str | None = None, **kwargs):
        super().__init__(padding, data_format or "channels_last", **kwargs)

    def get_config(self):
        config = super().get_config()
        return config if keras_2() else {**config, "data_format": self.data_format}


class Cropping2D(_Resizing):
    """Removes rows and columns at the edges of images.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, rows - cropping, columns - cropping, channels)`, likewise.

    Args:
      cropping: one integer for all sides, one for each axis, or `((top, bottom), (left, right))`.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: at the call, if nothing would be left.

    >>> print(tf.keras.layers.Cropping2D(((1, 0), (0, 2)))(tf.ones([1, 4, 4, 3])).shape)
    (1, 3, 2, 3)
    """

    def __init__(
        self, cropping: Sequence[Any] | int = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs
    ):
        super().__init__(data_format, **kwargs)
        self.cropping = _pairs(cropping, self.rank, "cropping")

    def _new_size(self, i: int, size: int):
        return max(size - sum(self.cropping[i]), 0)

    def call(self, inputs: Tensor):
        window = [slice(None)] * (self.rank + 2)
        sizes = inputs.shape.as_list()
        for i, (before, after) in enumerate(self.cropping):
            size = sizes[self._start + i]
            if size is None:
                window[self._start + i] = slice(before, -after or None)
                continue
            if self.rank == 1 and before + after >= size and not keras_2():
                raise ValueError(
                    "`cropping` parameter of `Cropping1D` layer must be smaller than the input's length. Received: "
                    f"cropping={self.cropping[0]}, input shape {tuple(sizes)}"
                )
            if before + after >= size and not keras_2():
                raise ValueError(
                    "Values in `cropping` argument should be smaller than the corresponding spatial dimension of the "
                    f"input. Received: cropping={self.cropping}, input shape {tuple(sizes)}"
                )
            if self.rank > 1 and before + after >= size:
                raise ValueError(
                    f"Argument `cropping` must be less than the input's size. Received: cropping="
                    f"{self.cropping}, input shape {tuple(sizes)}"
                )
            window[self._start + i] = slice(before, max(size - after, before))
        return inputs[tuple(window)]

    def get_config(self):
        cropping = self.cropping if self.rank > 1 else self.cropping[0]
        return {**super().get_config(), "cropping": cropping}


class Cropping1D(Cropping2D):
    """Removes steps at the beginning and the end of sequences.

    Input shape: `(batch, steps, channels)`.
    Output shape: `(batch, steps - cropping, channels)`.

    Args:
      cropping: an integer for both ends, or `(before, after)`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 1

    def __init__(self, cropping=(1, 1), **kwargs):
        super().__init__(cropping, "channels_last", **kwargs)


class UpSampling2D(_Resizing):
    """Makes images larger by whole factors, by repeating rows and columns or by interpolation.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, rows * size[0], columns * size[1], channels)`, likewise.

    Args:
      size: the factors of rows and columns, or one for both.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      interpolation: "nearest" repeats; "bilinear", "bicubic", "area", "gaussian", "lanczos3", "lanczos5" and
        "mitchellcubic" mix neighbours.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.UpSampling2D(2)
    >>> print(layer(tf.constant([[[[1.0], [2.0]]]])).numpy()[0, :, :, 0])
    [[1. 1. 2. 2.]
     [1. 1. 2. 2.]]
    """

    def __init__(
        self, size: int | Sequence[int] = (2, 2), data_format: str | None = None, interpolation: str = "nearest",
        **kwargs,
    ):
        super().__init__(data_format, **kwargs)
        if interpolation not in _INTERPOLATIONS:
            raise ValueError(
                f"`interpolation` argument should be one of {_INTERPOLATIONS}. Received: {interpolation!r}."
            )
        self.size = normalize_tuple(size, self.rank, "size")
        self.interpolation = interpolation

    def _new_size(self, i: int, size: int):
        return size * self.size[i]

    def call(self, inputs: TensorLike):
        if self.interpolation != "nearest":
            return self._resized(inputs)
        for i, times in enumerate(self.size):
            if times > 1:
                inputs = repeat(inputs, times, axis=self._start + i)
        return inputs

    def _resized(self, inputs):
        """The images in their new size, with neighbours mixed."""
        first = self.data_format == "channels_first"
        if first:
            inputs = transpose(inputs, [0, 2, 3, 1])
        sizes = sizes_of(inputs)
        new = as_shape([size * times for size, times in zip(sizes[1:3], self.size)])
        outputs = cast(resize(inputs, new, self.interpolation), inputs.dtype)
        return transpose(outputs, [0, 3, 1, 2]) if first else outputs

    def get_config(self):
        if self.rank == 1:
            return {**super().get_config(), "size": self.size[0]}
        return {**super().get_config(), "size": self.size, "interpolation": self.interpolation}


class UpSampling1D(UpSampling2D):
    """Repeats each step of sequences.

    Input shape: `(batch, steps, channels)`.
    Output shape: `(batch, steps * size, channels)`.

    Args:
      size: how many times each step comes.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 1

    def __init__(self, size: int = 2, **kwargs):
        super().__init__(size, "channels_last", **kwargs)


class ZeroPadding3D(ZeroPadding2D):
    """Adds planes of zeros around volumes.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first.
    Output shape: the same, each size of the volume larger by its padding.

    Args:
      padding: one integer for all sides, one for each axis, or three pairs `(before, after)`.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3

    def __init__(self, padding=((1, 1), (1, 1), (1, 1)), data_format: str | None = None, **kwargs):
        super().__init__(padding, data_format, **kwargs)


class Cropping3D(Cropping2D):
    """Removes planes at the sides of volumes.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first.
    Output shape: the same, each size of the volume smaller by its cropping.

    Args:
      cropping: one integer for all sides, one for each axis, or three pairs `(before, after)`.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3

    def __init__(self, cropping=((1, 1), (1, 1), (1, 1)), data_format: str | None = None, **kwargs):
        super().__init__(cropping, data_format, **kwargs)


class UpSampling3D(UpSampling2D):
    """Repeats the planes of volumes along each axis.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first.
    Output shape: the same, each size of the volume multiplied by its factor.

    Args:
      size: three factors, or one for all axes.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3

    def __init__(self, size: int | Sequence[int] = (2, 2, 2), data_format: str | None = None, **kwargs):
        super().__init__(size, data_format, **kwargs)

    def get_config(self):
        config = super().get_config()
        config.pop("interpolation")
        return config
