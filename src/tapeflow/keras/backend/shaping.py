"""`keras.backend`: shapes of tensors, and parts of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, computes_tensors
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.array import layout, tiling, transposing
from tapeflow.ops.array import sizes as array_sizes
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims as expand_axis
from tapeflow.ops.array.layout import squeeze as squeeze_axes
from tapeflow.ops.array.one_hot import one_hot as one_hot_of
from tapeflow.ops.array.reorder import reverse as reverse_axes
from tapeflow.ops.array.stacking import stack as stack_tensors
from tapeflow.ops.array.tiling import repeat as repeat_along
from tapeflow.ops.array.transposing import transpose as transpose_axes
from tapeflow.ops.indexing.gather import gather as gather_rows
from tapeflow.ops.sparse.shaping import concat as sparse_concat


@computes_tensors
def reshape(x: TensorLike, shape: Sequence[Any]):
    """Give a tensor another shape.

    Args:
      x: a tensor, or what can be converted to one.
      shape: the new sizes; one may be -1, for what is left.

    Returns:
      A tensor with the same elements.
    """
    return layout.reshape(x, shape)


@computes_tensors
def transpose(x: TensorLike):
    """x with its axes in reverse order."""
    return transposing.transpose(x)


@computes_tensors
def shape(x: TensorLike):
    """The shape as a tensor."""
    return array_sizes.shape(x)


@computes_tensors
def repeat(x: TensorLike, n: int):
    """Repeat each example as the steps of a sequence.

    Args:
      x: a tensor `(samples, features)`.
      n: the number of steps.

    Returns:
      A tensor `(samples, n, features)`.
    """
    x = convert_to_tensor(x)
    return tiling.tile(layout.expand_dims(x, 1), [1, n, 1])


@computes_tensors
def tile(x: TensorLike, n: int):
    """Repeat a tensor along its axes.

    Args:
      x: a tensor, or what can be converted to one.
      n: how often along each axis, a list; an integer for a vector.

    Returns:
      A tensor.
    """
    return tiling.tile(x, [n] if isinstance(n, int) else n)


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


boundaries(globals())
