"""`keras.backend`: shapes of tensors, parts of networks, and random numbers."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import AxisLike, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.keras import losses, settings
from tapeflow.keras.backend.math import reshape, shape
from tapeflow.keras.backend.values import variable
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims as expand_axis
from tapeflow.ops.array.layout import squeeze as squeeze_axes
from tapeflow.ops.array.one_hot import one_hot as one_hot_of
from tapeflow.ops.array.reorder import reverse as reverse_axes
from tapeflow.ops.array.stacking import stack as stack_tensors
from tapeflow.ops.array.tiling import repeat as repeat_along
from tapeflow.ops.array.transposing import transpose as transpose_axes
from tapeflow.ops.indexing.gather import gather as gather_rows
from tapeflow.ops.indexing.top_k import in_top_k as top_k_of
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.nn.bias import bias_add as nn_bias_add
from tapeflow.ops.nn.dropout import dropout as nn_dropout
from tapeflow.ops.nn.normalization import l2_normalize as normalize
from tapeflow.ops.random.functions import normal, uniform
from tapeflow.ops.random.functions import truncated_normal as truncated_normal_numbers
from tapeflow.ops.sparse.arithmetic import sparse_dense_matmul
from tapeflow.ops.sparse.shaping import concat as sparse_concat


@computes_tensors
def flatten(x: TensorLike):
    """All elements in one row."""
    return reshape(x, [-1])


@computes_tensors
def batch_flatten(x: TensorLike):
    """(batch, all the rest)."""
    x = convert_to_tensor(x)
    if x.shape[1:].is_fully_defined():
        return reshape(x, [-1, x.shape[1:].num_elements()])
    return reshape(x, [shape(x)[0], -1])


@computes_tensors
def expand_dims(x: TensorLike, axis: AxisLike = -1):
    """Add an axis of size 1.

    Args:
      x: a tensor, or what can be converted to one.
      axis: where the new axis is.

    Returns:
      A tensor of one more axis.
    """
    return expand_axis(x, axis)


@computes_tensors
def squeeze(x: TensorLike, axis):
    """Remove an axis of size 1.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer.

    Returns:
      A tensor of one axis less.
    """
    return squeeze_axes(x, [axis])


@computes_tensors
def permute_dimensions(x: TensorLike, pattern):
    """Put the axes into another order.

    Args:
      x: a tensor, or what can be converted to one.
      pattern: the axes of x in the new order.

    Returns:
      A tensor.
    """
    return transpose_axes(x, pattern)


@computes_tensors
def repeat_elements(x: TensorLike, rep, axis: AxisLike):
    """Repeat each element of an axis.

    Args:
      x: a tensor, or what can be converted to one.
      rep: how often.
      axis: the axis, an integer.

    Returns:
      A tensor, whose axis is `rep` times as long.
    """
    return repeat_along(x, rep, axis)


@computes_tensors
def stack(x: TensorLike, axis: AxisLike = 0):
    """Put tensors of one shape side by side, along a new axis.

    Args:
      x: a list of tensors.
      axis: where the new axis is.

    Returns:
      A tensor of one more axis.
    """
    return stack_tensors(x, axis)


@computes_tensors
def concatenate(tensors: Any, axis: AxisLike = -1):
    """Join tensors along an axis.

    Args:
      tensors: a list of tensors, all dense or all sparse.
      axis: the axis along which they are joined.

    Returns:
      A tensor, sparse if they are.
    """
    given = list(tensors)
    if given and all(isinstance(each, SparseTensor) for each in given):
        return sparse_concat(axis, given)
    return concat(given, axis)


@computes_tensors
def reverse(x: TensorLike, axes: AxisLike):
    """Reverse the order along axes.

    Args:
      x: a tensor, or what can be converted to one.
      axes: an axis, or several.

    Returns:
      A tensor of the shape of x.
    """
    return reverse_axes(x, [axes] if isinstance(axes, int) else axes)


@computes_tensors
def gather(reference, indices: TensorLike):
    """Take rows by number.

    Args:
      reference: a tensor, whose first axis is that of the rows.
      indices: the numbers, an integer tensor of any shape.

    Returns:
      A tensor of the shape of the numbers and that of a row.
    """
    return gather_rows(reference, indices)


@computes_tensors
def one_hot(indices: TensorLike, num_classes: int):
    """Make rows with a 1 at their place, and 0 elsewhere.

    Args:
      indices: the places, an integer tensor.
      num_classes: the length of the rows.

    Returns:
      A tensor with a new last axis.
    """
    return one_hot_of(indices, num_classes, axis=-1)


# Networks


@computes_tensors
def dot(x, y):
    """Multiply over the last axis of x and the last but one of y.

    Args:
      x, y: tensors of rank 2 or more; x may be a sparse one of rank 2.

    Returns:
      A tensor of the other axes of both.

    >>> print(tf.keras.backend.dot(tf.ones([2, 3, 4]), tf.ones([5, 4, 6])).shape)
    (2, 3, 5, 6)
    """
    if isinstance(x, SparseTensor):
        return sparse_dense_matmul(x, y)
    rank = builtins.max(convert_to_tensor(y).shape.rank - 2, 0)
    first = convert_to_tensor(x)
    if first.shape.rank > 2 or rank:
        return tensordot(first, y, [[first.shape.rank - 1], [rank]])
    return matmul(first, y)


@computes_tensors
def bias_add(x: TensorLike, bias, data_format: str | None = None):
    """Add a number per channel.

    Args:
      x: a tensor.
      bias: a vector of the channels.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.

    Returns:
      A tensor of the shape of x.
    """
    first = settings.normalize_data_format(data_format) == "channels_first"
    return nn_bias_add(x, bias, "NCHW" if first else "NHWC")


@computes_tensors
def dropout(x: TensorLike, level: int, noise_shape=None, seed: int | None = None):
    """Set a random part of a tensor to 0, and divide the others by 1 - level.

    Args:
      x: a tensor, or what can be converted to one.
      level: the part, from 0 to 1.
      noise_shape: the shape of the pattern, 1 for axes along which it is the same; None for that of x.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor of the shape of x.
    """
    return nn_dropout(x, level, noise_shape, seed)


@computes_tensors
def l2_normalize(x: TensorLike, axis: AxisLike | None = None):
    """Scale vectors along an axis to length 1.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis; None for the tensor as one vector.

    Returns:
      A tensor of the shape of x.
    """
    return normalize(x, axis)


@computes_tensors
def in_top_k(predictions: TensorLike, targets: TensorLike, k: int):
    """Compute whether targets are among the k largest predictions.

    Args:
      predictions: scores, `(batch, classes)`.
      targets: the numbers of the classes, `(batch,)`.
      k: how many of the largest count.

    Returns:
      A bool tensor `(batch,)`.
    """
    return top_k_of(targets, predictions, k)


@computes_tensors
def categorical_crossentropy(target: TensorLike, output: TensorLike, from_logits: bool = False, axis: AxisLike = -1):
    """Compute the cross-entropy of one-hot labels; see `keras.losses.categorical_crossentropy`.

    Args:
      target: one-hot labels.
      output: predictions of the same shape.
      from_logits: whether predictions are logits.
      axis: the axis of the classes.

    Returns:
      A tensor without that axis.
    """
    return losses.categorical_crossentropy(target, output, from_logits, axis=axis)


@computes_tensors
def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: AxisLike = -1, ignore_class=None
):
    """Compute the cross-entropy of class numbers; see `keras.losses.sparse_categorical_crossentropy`.

    Args:
      target: the numbers of the classes.
      output: predictions, with one more axis.
      from_logits: whether predictions are logits.
      axis: the axis of the classes.
      ignore_class: a class that counts 0; None for none.

    Returns:
      A tensor of the shape of the labels.
    """
    return losses.sparse_categorical_crossentropy(target, output, from_logits, ignore_class, axis)


@computes_tensors
def random_normal(
    shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None,
    seed: int | None = None,
):
    """Draw numbers with a normal distribution.

    Args:
      shape: the shape of the result.
      mean: the mean of the distribution.
      stddev: the standard deviation.
      dtype: its dtype; None for `keras.config.floatx()`.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor.
    """
    return normal(shape, mean, stddev, settings.default_dtype(dtype), seed)


@computes_tensors
def random_uniform(
    shape: Sequence[Any], minval: float = 0.0, maxval: float = 1.0, dtype: DTypeLike | None = None,
    seed: int | None = None,
):
    """Draw numbers with a uniform distribution on [minval, maxval).

    Args:
      shape: the shape of the result.
      minval: the lower bound.
      maxval: the upper bound.
      dtype: its dtype; None for `keras.config.floatx()`.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor.
    """
    return uniform(shape, minval, maxval, settings.default_dtype(dtype), seed)


@computes_tensors
def truncated_normal(
    shape: Sequence[Any], mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None,
    seed: int | None = None,
):
    """Draw normal numbers; those more than two standard deviations from the mean are drawn again.

    Args:
      shape: the shape of the result.
      mean: the mean of the distribution.
      stddev: the standard deviation.
      dtype: its dtype; None for `keras.config.floatx()`.
      seed: an integer; None for other numbers each time.

    Returns:
      A tensor.
    """
    return truncated_normal_numbers(shape, mean, stddev, settings.default_dtype(dtype), seed)


def random_normal_variable(
    shape: Sequence[Any], mean: Any, scale: bool, dtype: DTypeLike | None = None, name: str | None = None,
    seed: int | None = None,
):
    """Make a variable of normal random numbers.

    Args:
      shape: its shape.
      mean: the mean of the distribution.
      scale: the standard deviation.
      dtype: its dtype; None for `keras.config.floatx()`.
      name: its name.
      seed: an integer; None for other numbers each time.

    Returns:
      The variable.
    """
    return variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


def random_uniform_variable(
    shape: Sequence[Any], low: Any, high: Any, dtype: DTypeLike | None = None, name: str | None = None,
    seed: int | None = None,
):
    """Make a variable of uniform random numbers on [low, high).

    Args:
      shape: its shape.
      low: the lower bound.
      high: the upper bound.
      dtype: its dtype; None for `keras.config.floatx()`.
      name: its name.
      seed: an integer; None for other numbers each time.

    Returns:
      The variable.
    """
    return variable(random_uniform(shape, low, high, dtype, seed), dtype, name)

boundaries(globals())
