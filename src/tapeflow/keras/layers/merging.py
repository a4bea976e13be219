"""Layers that make one tensor of several."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.dtype_names import result_type
from tapeflow.keras.engine import masking
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.logic import logical_and, logical_or


class Merge(Layer):
    """Elementwise on two or more tensors, broadcasting."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge(self, inputs):
        raise TypeError(f"{type(self).__name__} does not define how it merges its inputs")

    def build(self, input_shape: Sequence[Any]):
        if not isinstance(input_shape, (list, tuple)):
            raise ValueError(
                "A merge layer should be called on a list of inputs. Received: "
                f"input_shape={input_shape} (not a list of shapes)"
            )
        if len(input_shape) < 1:
            raise ValueError(
                "A merge layer should be called on a list of at least 1 input. Received "
                f"{len(input_shape)} inputs. Full input_shape received: {input_shape}"
            )
        self.compute_output_shape(input_shape)
        self.built = True

    def call(self, inputs: Sequence[Tensor]):
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(
                f"A merge layer should be called on a list of inputs. Received: inputs={inputs} (not "
                "a list of tensors)"
            )
        rank = max(len(x.shape) for x in inputs)
        masks = _masks_of(inputs)
        if masks is not None and all(len(x.shape) == rank for x in inputs):
            return self._merge_masked(of_one_dtype(inputs), masks)
        inputs = [_with_rank(x, rank) for x in inputs]
        return self._merge(of_one_dtype(inputs))

    def _merge_masked(self, inputs: Sequence[Tensor], masks: Sequence[Tensor | None]):
        """The outputs where some inputs have masks, which sums do not look at."""
        return self._merge(inputs)

    def compute_mask(self, inputs, mask=None):
        """The steps that count in all inputs; in Keras 3 those that count in any, if all inputs have masks."""
        if mask is None:
            return None
        if not isinstance(mask, (list, tuple)):
            raise ValueError(f"`mask` should be a list. Received: mask={mask}")
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(f"`inputs` should be a list. Received: inputs={inputs}")
        if len(mask) != len(inputs):
            raise ValueError(
                "The lists `inputs` and `mask` should have the same length. Received: "
                f"inputs={inputs} of length {len(inputs)}, and mask={mask} of length {len(mask)}"
            )
        found = [cast(m, "bool") for m in mask if m is not None]
        if not keras_2():
            return functools.reduce(logical_or, found) if len(found) == len(mask) > 0 else None
        return functools.reduce(logical_and, found) if found else None

    def compute_output_shape(self, input_shape: Sequence[Any]):
        shapes = [TensorShape(s).as_list() for s in input_shape]
        rank = max(map(len, shapes))
        padded = [[s[0], *[1] * (rank - len(s)), *s[1:]] if s else [1] * rank for s in shapes]
        sizes = []
        for column in zip(*padded):
            known = {size for size in column if size not in (1, None)}
            if len(known) > 1:
                raise ValueError(
                    "Inputs have incompatible shapes. Received shapes "
                    f"{' and '.join(str(tuple(s[1:])) for s in shapes)}"
                )
            sizes.append(known.pop() if known else None if None in column else 1)
        return TensorShape(sizes)


def _masks_of(inputs: Sequence[Tensor]):
    """For each input its mask, of the input's shape, or None; None where no input has one, and in Keras 2."""
    if not masking.exist or keras_2():
        return None
    masks = [getattr(x, "_keras_mask", None) for x in inputs]
    if all(mask is None for mask in masks):
        return None
    return [None if m is None else broadcast_to(expand_dims(m, -1), shape_of(x)) for m, x in zip(masks, inputs)]


def of_one_dtype(inputs: Sequence[Tensor]):
    """The tensors in the dtype that holds all of theirs: integers beside floats become floats."""
    if len({x.dtype for x in inputs}) == 1:
        return list(inputs)
    dtype = result_type(*(x.dtype for x in inputs))
    return [cast(x, dtype) for x in inputs]


def _with_rank(x: Tensor, rank: int):
    while len(x.shape) < rank:
        x = expand_dims(x, 1)
    return x


class Add(Merge):
    """The sum of a list of tensors, which broadcast against each other.

    Args:
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> print(tf.keras.layers.Add()([tf.constant([1.0, 2.0]), tf.constant([10.0, 20.0])]).numpy())
    [11. 22.]
    """

    def _merge(self, inputs: Sequence[Tensor]):
        return functools.reduce(lambda a, b: a + b, inputs)


class Multiply(Merge):
    """The product of a list of tensors, which broadcast against each other.

    Args:
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def _merge(self, inputs: Sequence[Tensor]):
        return functools.reduce(lambda a, b: a * b, inputs)

    def _merge_masked(self, inputs: Sequence[Tensor], masks: Sequence[Tensor | None]):
        """Masked steps are left out of the product; 0 where all are masked."""
        product = self._merge([x if m is None else where(m, x, ones_like(x)) for x, m in zip(inputs, masks)])
        if any(mask is None for mask in masks):
            return product
        counts: Any = functools.reduce(logical_or, masks)  # type: ignore[arg-type]
        return where(counts, product, zeros_like(product))


class Average(Merge):
    """The mean of a list of tensors, which broadcast against each other.

    Args:
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def _merge(self, inputs: Sequence[Tensor]):
        return functools.reduce(lambda a, b: a + b, inputs) / len(inputs)


class _Extreme(Merge):
    """What `Maximum` and `Minimum` share."""

    _function: Callable[[Tensor, Tensor], Tensor]

    def _merge(self, inputs: Sequence[Tensor]):
        return functools.reduce(self._function, inputs)

    def _merge_masked(self, inputs: Sequence[Tensor], masks: Sequence[Tensor | None]):
        """Where one of two is masked, the other is taken; where one of them has no mask, the result has none."""
        found, of_found = inputs[0], masks[0]
        for x, mask in zip(inputs[1:], masks[1:]):
            x = x if mask is None else where(mask, x, found)
            found = found if of_found is None else where(of_found, found, x)
            of_found = None if mask is None or of_found is None else logical_or(of_found, mask)
            found = self._function(found, x)
        return found


class Maximum(_Extreme):
    """The elementwise maximum of a list of tensors, which broadcast against each other.

    Args:
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _function = staticmethod(maximum)


class Minimum(_Extreme):
    """The elementwise minimum of a list of tensors, which broadcast against each other.

    Args:
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _function = staticmethod(minimum)


class Subtract(Merge):
    """The difference of a list of exactly two tensors, the first minus the second.

    Args:
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: at the call, for another number of tensors.
    """

    def build(self, input_shape: Sequence[Any]):
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError(
                "A `Subtract` layer should be called on exactly 2 inputs. Received: "
                f"input_shape={input_shape}"
            )

    def _merge(self, inputs: Sequence[Tensor]):
        if len(inputs) != 2:
            raise ValueError(
                f"A `Subtract` layer should be called on exactly 2 inputs. Received: inputs={inputs}"
            )
        return inputs[0] - inputs[1]


def add(inputs: TensorLike, **kwargs):
    """Sum a list of tensors by an `Add` layer.

    Args:
      inputs: a list of tensors that broadcast against each other.
      **kwargs: arguments of the layer, such as `name`.

    Returns:
      The sum, a tensor.
    """
    return Add(**kwargs)(inputs)


def subtract(inputs: TensorLike, **kwargs):
    """Subtract the second of two tensors from the first by a `Subtract` layer.

    Args:
      inputs: a list of two tensors.
      **kwargs: arguments of the layer, such as `name`.

    Returns:
      The difference, a tensor.
    """
    return Subtract(**kwargs)(inputs)


def multiply(inputs: TensorLike, **kwargs):
    """Multiply a list of tensors by a `Multiply` layer.

    Args:
      inputs: a list of tensors that broadcast against each other.
      **kwargs: arguments of the layer, such as `name`.

    Returns:
      The product, a tensor.
    """
    return Multiply(**kwargs)(inputs)


def average(inputs: TensorLike, **kwargs):
    """Average a list of tensors by an `Average` layer.

    Args:
      inputs: a list of tensors that broadcast against each other.
      **kwargs: arguments of the layer, such as `name`.

    Returns:
      The mean, a tensor.
    """
    return Average(**kwargs)(inputs)


def maximum_of(inputs: TensorLike, **kwargs):
    """Take the elementwise maximum of a list of tensors by a `Maximum` layer.

    Args:
      inputs: a list of tensors that broadcast against each other.
      **kwargs: arguments of the layer, such as `name`.

    Returns:
      The maximum, a tensor.
    """
    return Maximum(**kwargs)(inputs)


def minimum_of(inputs: TensorLike, **kwargs):
    """Take the elementwise minimum of a list of tensors by a `Minimum` layer.

    Args:
      inputs: a list of tensors that broadcast against each other.
      **kwargs: arguments of the layer, such as `name`.

    Returns:
      The minimum, a tensor.
    """
    return Minimum(**kwargs)(inputs)


boundaries(globals())
