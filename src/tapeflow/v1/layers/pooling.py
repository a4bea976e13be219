"""The pooling layers of `tf.layers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.keras import layers as keras_layers
from tapeflow.v1.layers.classes import Layer


def _require_strides(strides: int | Sequence[int]):
    if strides is None:
        raise ValueError(
            "The `strides` argument must be an integer or a tuple of integers. Received: None"
        )


class MaxPooling1D(keras_layers.MaxPooling1D, Layer):
    """See keras.layers.MaxPooling1D; strides must be given."""

    def __init__(
        self, pool_size: int | Sequence[int], strides: int | Sequence[int], padding: str = "valid",
        data_format: str = "channels_last", name: str | None = None, **kwargs,
    ):
        _require_strides(strides)
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class MaxPooling2D(keras_layers.MaxPooling2D, Layer):
    """See keras.layers.MaxPooling2D; strides must be given."""

    def __init__(
        self, pool_size: Any, strides: int | Sequence[int], padding: str = "valid",
        data_format: str = "channels_last", name: str | None = None, **kwargs,
    ):
        _require_strides(strides)
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class MaxPooling3D(keras_layers.MaxPooling3D, Layer):
    """See keras.layers.MaxPooling3D; strides must be given."""

    def __init__(
        self, pool_size: int | Sequence[int], strides: int | Sequence[int], padding: str = "valid",
        data_format: str = "channels_last", name: str | None = None, **kwargs,
    ):
        _require_strides(strides)
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class AveragePooling1D(keras_layers.AveragePooling1D, Layer):
    """See keras.layers.AveragePooling1D; strides must be given."""

    def __init__(
        self, pool_size, strides: int | Sequence[int], padding: str = "valid", data_format: str = "channels_last",
        name: str | None = None, **kwargs,
    ):
        _require_strides(strides)
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class AveragePooling2D(keras_layers.AveragePooling2D, Layer):
    """See keras.layers.AveragePooling2D; strides must be given."""

    def __init__(
        self, pool_size: int, strides: int, padding: str = "valid", data_format: str = "channels_last",
        name: str | None = None, **kwargs,
    ):
        _require_strides(strides)
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)


class AveragePooling3D(keras_layers.AveragePooling3D, Layer):
    """See keras.layers.AveragePooling3D; strides must be given."""

    def __init__(
        self, pool_size, strides: int | Sequence[int], padding: str = "valid", data_format: str = "channels_last",
        name: str | None = None, **kwargs,
    ):
        _require_strides(strides)
        super().__init__(pool_size, strides, padding, data_format, name=name, **kwargs)
