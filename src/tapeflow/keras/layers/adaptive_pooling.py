"""Pooling to a given size: windows that cover the input evenly, whatever its size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.ops.array.joining import concat
from tapeflow.ops.math.reductions import reduce_max, reduce_mean


def pool_evenly(x, axis, count, reduce: Callable[..., Any]):
    """Return `count` reduced windows along an axis, which cover it evenly. Raises ValueError if its size is unknown."""
    size = x.shape[axis]
    if size is None:
        raise ValueError(f"Adaptive pooling needs the size of axis {axis} of its inputs, got shape {x.shape}.")
    before = (slice(None),) * axis
    windows = (x[(*before, slice(i * size // count, -(-(i + 1) * size // count)))] for i in range(count))
    return concat([reduce(window, axis=axis, keepdims=True) for window in windows], axis)


class _AdaptivePooling(Layer):
    """Output i along an axis is made of the inputs from floor(i n / m) up to ceil((i + 1) n / m)."""

    rank = 1
    _reduce = staticmethod(reduce_mean)

    def __init__(self, output_size: Sequence[int] | int, data_format: str | None = None, **kwargs):
        super().__init__(**kwargs)
        sizes = (output_size,) * self.rank if isinstance(output_size, int) else tuple(output_size)
        if len(sizes) != self.rank or not all(isinstance(n, int) and n > 0 for n in sizes):
            raise ValueError(
                f"`output_size` must be an integer or a tuple of {self.rank} positive integers. Received: "
                f"{output_size}"
            )
        self.output_size = sizes
        self.data_format = settings.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _start(self):
        return 2 if self.data_format == "channels_first" else 1

    def call(self, inputs: TensorLike):
        for axis, count in enumerate(self.output_size, self._start()):
            inputs = pool_evenly(inputs, axis, count, self._reduce)
        return inputs

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        sizes[self._start() : self._start() + self.rank] = self.output_size
        return TensorShape(sizes)

    def get_config(self):
        size = self.output_size[0] if self.rank == 1 else self.output_size
        return {**super().get_config(), "output_size": size, "data_format": self.data_format}


class AdaptiveAveragePooling1D(_AdaptivePooling):
    """The means of `output_size` windows that cover the steps evenly, whatever their number.

    Input shape: `(batch, steps, channels)`, or with the channels first; the number of steps must be known.
    Output shape: `(batch, output_size, channels)`, likewise.

    Args:
      output_size: the number of windows, an integer above 0.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """


class AdaptiveMaxPooling1D(_AdaptivePooling):
    """The largest values of `output_size` windows that cover the steps evenly, whatever their number.

    Input shape: `(batch, steps, channels)`, or with the channels first; the number of steps must be known.
    Output shape: `(batch, output_size, channels)`, likewise.

    Args:
      output_size: the number of windows, an integer above 0.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _reduce = staticmethod(reduce_max)


class AdaptiveAveragePooling2D(_AdaptivePooling):
    """The means of windows that cover images evenly, whatever their size.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first; rows and columns must be known.
    Output shape: `(batch, *output_size, channels)`, likewise.

    Args:
      output_size: two integers, or one for both axes.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 2


class AdaptiveMaxPooling2D(_AdaptivePooling):
    """The largest values of windows that cover images evenly, whatever their size.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first; rows and columns must be known.
    Output shape: `(batch, *output_size, channels)`, likewise.

    Args:
      output_size: two integers, or one for both axes.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 2
    _reduce = staticmethod(reduce_max)


class AdaptiveAveragePooling3D(_AdaptivePooling):
    """The means of windows that cover volumes evenly, whatever their size.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first; the volume's sizes must be
      known.
    Output shape: `(batch, *output_size, channels)`, likewise.

    Args:
      output_size: three integers, or one for all axes.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3


class AdaptiveMaxPooling3D(_AdaptivePooling):
    """The largest values of windows that cover volumes evenly, whatever their size.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first; the volume's sizes must be
      known.
    Output shape: `(batch, *output_size, channels)`, likewise.

    Args:
      output_size: three integers, or one for all axes.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3
    _reduce = staticmethod(reduce_max)
