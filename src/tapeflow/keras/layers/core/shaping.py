"""Layers that give the elements of their inputs another shape."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import settings
from tapeflow.keras.engine import checks
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.array.transposing import transpose


class Flatten(Layer):
    """Joins all axes but the batch into one.

    Input shape: `(batch, ...)`. A vector `(batch,)` becomes `(batch, 1)`.
    Output shape: `(batch, product of the other sizes)`.

    Args:
      data_format: "channels_first" moves the channels to the end before, so that the order of the numbers is that of
        "channels_last"; None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> print(tf.keras.layers.Flatten()(tf.zeros([2, 3, 4])).shape)
    (2, 12)
    """

    _plain_call = True

    def __init__(self, data_format: str | None = None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = settings.normalize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = len(inputs.shape)
        if self.data_format == "channels_first" and rank > 2:
            inputs = transpose(inputs, [0, *range(2, rank), 1])
        if rank == 1:
            return expand_dims(inputs, 1)
        sizes = inputs.shape.as_list()
        rest = sizes[1:]
        if None not in rest:
            return reshape(inputs, [-1 if math.prod(rest) else sizes[0], math.prod(rest)])
        return reshape(inputs, [shape_of(inputs)[0], -1])

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        rest = sizes[1:]
        return TensorShape([sizes[0], None if None in rest else math.prod(rest)])

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class Reshape(Layer):
    """Gives each example a new shape.

    Input shape: `(batch, ...)`.
    Output shape: `(batch, *target_shape)`.

    Args:
      target_shape: the sizes without the batch; one of them may be -1, for what is left.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for more than one -1.

    >>> print(tf.keras.layers.Reshape((2, -1))(tf.zeros([5, 6])).shape)
    (5, 2, 3)
    """

    _plain_call = True

    def __init__(self, target_shape: Sequence[int], **kwargs):
        super().__init__(**kwargs)
        self.target_shape = tuple(int(size) for size in target_shape)
        checks.target_shape(self.target_shape)

    def call(self, inputs: Tensor):
        batch, *sizes = inputs.shape.as_list() if inputs.shape.rank else [None, None]
        target = self.compute_output_shape([batch, *sizes]).as_list()[1:]
        target = [-1 if size is None else size for size in target] if None not in sizes else self.target_shape
        return reshape(inputs, [shape_of(inputs)[0] if batch is None else batch, *target])

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        target = list(self.target_shape)
        if -1 in target:
            rest = sizes[1:]
            known = math.prod(size for size in target if size != -1)
            unknown = None if None in rest else math.prod(rest) // max(known, 1)
            target[target.index(-1)] = unknown
        return TensorShape([sizes[0], *target])

    def get_config(self):
        return {**super().get_config(), "target_shape": self.target_shape}


class Permute(Layer):
    """Puts the axes after the batch into another order.

    Args:
      dims: the axes of the input in the order of the output, counted from 1: `(2, 1)` transposes each example.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: unless `dims` has each of 1, 2, ... once.

    >>> print(tf.keras.layers.Permute((2, 1))(tf.zeros([5, 2, 3])).shape)
    (5, 3, 2)
    """

    _plain_call = True

    def __init__(self, dims: Sequence[int], **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                "Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` "
                f"must be consecutive and start from 1. Received dims={dims}"
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: TensorLike):
        return transpose(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], *[sizes[dim] for dim in self.dims]])

    def get_config(self):
        return {**super().get_config(), "dims": self.dims}


class RepeatVector(Layer):
    """Repeats each vector as the steps of a sequence.

    Input shape: `(batch, features)`.
    Output shape: `(batch, n, features)`.

    Args:
      n: the number of steps, an integer.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      TypeError: for `n` that is not an integer.

    >>> print(tf.keras.layers.RepeatVector(2)(tf.constant([[1.0, 2.0]])).numpy())
    [[[1. 2.]
      [1. 2.]]]
    """

    _plain_call = True

    def __init__(self, n: int, **kwargs):
        super().__init__(**kwargs)
        try:
            self.n = operator.index(n)
        except TypeError:
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.") from None
        if self.n <= 0 and not keras_2():
            raise ValueError(f"`n` should be a positive integer. Received: n={n}")
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Tensor):
        return tile(expand_dims(inputs, 1), [1, self.n, 1])

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], self.n, sizes[1]])

    def get_config(self):
        return {**super().get_config(), "n": self.n}
