"""Conversion, indexing, updates and control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.autodiff.vectorized_map import vectorized_map as tf_vectorized_map
from tapeflow.core.annotations import AxisLike, DTypeLike, Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor as tf_convert_to_tensor
from tapeflow.core.convert import is_tensor as tf_is_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public, public_names
from tapeflow.core.structures import nest
from tapeflow.keras.ops.conversion import operation, tensor
from tapeflow.ops.array.ranges import meshgrid as tf_meshgrid
from tapeflow.ops.array.ranges import range as tf_range
from tapeflow.ops.array.rows import stop_gradient as tf_stop_gradient
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.stacking import stack as tf_stack
from tapeflow.ops.array.stacking import unstack as tf_unstack
from tapeflow.ops.control.flow import cond as tf_cond
from tapeflow.ops.control.flow import while_loop as tf_while_loop
from tapeflow.ops.control.mapping import map_fn as tf_map_fn
from tapeflow.ops.indexing.scatter import scatter_nd as tf_scatter_nd
from tapeflow.ops.indexing.slicing import slice_ as tf_slice_
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_add as tf_tensor_scatter_nd_add
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_max as tf_tensor_scatter_nd_max
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_min as tf_tensor_scatter_nd_min
from tapeflow.ops.indexing.tensor_scatter import (
    tensor_scatter_nd_update as tf_tensor_scatter_nd_update,
)
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.casting import saturate_cast as tf_saturate_cast
from tapeflow.ops.math.reductions import reduce_max as tf_reduce_max
from tapeflow.ops.math.segment_functions import unsorted_segment_max as tf_unsorted_segment_max
from tapeflow.ops.math.segment_functions import unsorted_segment_min as tf_unsorted_segment_min
from tapeflow.ops.math.segment_functions import unsorted_segment_prod as tf_unsorted_segment_prod
from tapeflow.ops.math.segment_functions import unsorted_segment_sum as tf_unsorted_segment_sum
from tapeflow.ops.sparse.functions import to_dense as tf_to_dense


@public
def convert_to_tensor(x: Any, dtype: DTypeLike | None = None, sparse=None, ragged=None):
    """Return x as a tensor of a dtype; sparse and ragged ones become dense where `sparse` or `ragged` is False.

    Args:
      x: a tensor, array or number.
      dtype: the dtype; None: that of `x`.
      sparse: whether a sparse tensor stays sparse.
      ragged: whether a ragged tensor stays ragged.
    """
    if (sparse is False and hasattr(x, "dense_shape")) or (ragged is False and hasattr(x, "row_splits")):
        if isinstance(x, IndexedSlices):
            x = tf_convert_to_tensor(x)
        else:
            x = tf_to_dense(x) if hasattr(x, "dense_shape") else x.to_tensor()
    elif hasattr(x, "dense_shape") or hasattr(x, "row_splits"):
        return x if dtype is None else tf_cast(x, dtype)
    return tensor(x, dtype)


@public
def convert_to_numpy(x: TensorLike):
    """Return x as a NumPy array; what is sparse or ragged becomes dense."""
    return np.array(convert_to_tensor(x, sparse=False, ragged=False))


@public
def is_tensor(x: TensorLike):
    """Return whether x is a tensor."""
    return tf_is_tensor(x)


@public
def shape(x: TensorLike):
    """Return the sizes of x, a tensor in place of each that is not known."""
    x = tensor(x) if not hasattr(x, "shape") else x
    sizes = tuple(x.shape.as_list() if hasattr(x.shape, "as_list") else x.shape)
    if None not in sizes or not tf_is_tensor(x):
        return sizes
    dynamic = tf_shape(x)
    return tuple(dynamic[i] if size is None else size for i, size in enumerate(sizes))


@public
def dtype(x: TensorLike):
    """Return the name of the dtype of x."""
    return tensor(x).dtype.name


@operation
def cast(x: TensorLike, dtype: DTypeLike):
    """Return x in another dtype."""
    return tensor(x, dtype)


@operation
def saturate_cast(x: TensorLike, dtype: DTypeLike):
    """Return x in another dtype, with the greatest and the least number that it has beyond those."""
    return tf_saturate_cast(tensor(x), dtype)


@operation
def stop_gradient(variable: Variable):
    """Return the value, through which no gradient flows."""
    return tf_stop_gradient(tensor(variable))


@operation
def unstack(x: TensorLike, num: int | None = None, axis: AxisLike = 0):
    """Return the parts of x along an axis, as a list.

    Args:
      x: a tensor, or what can be converted to one.
      num: how many parts there are; None for the size of the axis.
      axis: the axis, an integer.
    """
    return tf_unstack(tensor(x), num, axis)


@operation
def slice(inputs: TensorLike, start_indices, shape: Sequence[Any]):
    """Return the part of a shape that begins at indices."""
    return tf_slice_(tensor(inputs), start_indices, shape)


@operation
def scatter(indices: TensorLike, values: TensorLike, shape: Sequence[Any]):
    """Return zeros of a shape, with values added at indices."""
    return tf_scatter_nd(tensor(indices), tensor(values), shape)


@operation
def scatter_update(inputs, indices, updates, reduction=None):
    """Return `inputs` with other values at indices, or with `updates` added, or with
    the greater or the lesser of both.

    Args:
      reduction: None, "add", "max" or "min".
    """
    if reduction not in _UPDATES:
        raise ValueError(f"Unsupported reduction: {reduction!r}. Expected one of {list(_UPDATES)}")
    inputs = tensor(inputs)
    indices, updates = tensor(indices), tensor(updates, inputs.dtype)
    return _UPDATES[reduction](inputs, indices, updates)


_UPDATES = {
    None: tf_tensor_scatter_nd_update,
    "add": tf_tensor_scatter_nd_add,
    "max": tf_tensor_scatter_nd_max,
    "min": tf_tensor_scatter_nd_min,
}


@operation
def slice_update(inputs: Variable, start_indices: Sequence[int], updates: Any):
    """Return `inputs` with `updates` in place of the part that begins at indices."""
    inputs = tensor(inputs)
    updates = tensor(updates, inputs.dtype)
    grid = tf_meshgrid(*(tf_range(n) for n in updates.shape.as_list()), indexing="ij")
    places = tf_stack([axis + tf_cast(start, "int32") for axis, start in zip(grid, start_indices, strict=True)], -1)
    return tf_tensor_scatter_nd_update(inputs, places, updates)


@public
def cond(pred, true_fn: Callable[..., Any], false_fn: Callable[..., Any]):
    """Return true_fn() if `pred` holds, false_fn() otherwise.

    Args:
      pred: a scalar bool tensor.
      true_fn, false_fn: a function without arguments.
    """
    return tf_cond(tensor(pred, "bool"), true_fn, false_fn)


@public
def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars, maximum_iterations=None):
    """Return `loop_vars` after body(*loop_vars) replaced them as long as cond(*loop_vars) holds.

    Args:
      cond: a function of the loop variables that returns a scalar bool.
      body: a function of the loop variables that returns their next values.
      loop_vars: a tensor, or a structure of tensors.
      maximum_iterations: how often `body` runs at most; None: any number.
    """
    several = isinstance(loop_vars, (tuple, list))

    def step(*values):
        values = body(*values)
        return values if isinstance(values, (list, tuple)) else (values,)

    found = tf_while_loop(cond, step, tuple(loop_vars) if several else (loop_vars,),
                          maximum_iterations=maximum_iterations)  # fmt: skip
    return tuple(found) if several else found[0]


@public
def fori_loop(lower: TensorLike, upper: TensorLike, body_fun, init_val):
    """Return a value after value = body_fun(i, value) for i from `lower` before `upper`.

    Args:
      lower: the first number.
      upper: the number behind the last.
      body_fun: a function of the number and the value.
      init_val: the first value.
    """
    return while_loop(lambda i, value: i < upper, lambda i, value: (i + 1, body_fun(i, value)), (lower, init_val))[1]


@public
def map(f: Callable[..., Any], xs):
    """Return f(x) for each part x of tensors along their first axis, stacked.

    Args:
      f: a function of one part.
      xs: a tensor, or a structure of tensors.
    """
    xs = nest.map_structure(tensor, xs)
    specs = nest.map_structure(lambda x: x[0], xs)
    outputs = f(specs)
    return tf_map_fn(f, xs, fn_output_signature=nest.map_structure(lambda x: x.dtype, outputs))


@public
def vectorized_map(function: Callable[..., Any], elements):
    """Return function(x) for each part x of tensors along their first axis, computed at once.

    Args:
      function: a function of one part.
      elements: a tensor, or a structure of tensors.
    """
    return tf_vectorized_map(function, elements)


@operation
def segment_sum(data, segment_ids: TensorLike, num_segments: TensorLike | None = None, sorted: bool = False):
    """Return the sums of the rows of each segment."""
    return _segments(data, segment_ids, num_segments, tf_unsorted_segment_sum)


@operation
def segment_prod(data, segment_ids: TensorLike, num_segments: TensorLike | None = None, sorted: bool = False):
    """Return the products of the rows of each segment."""
    return _segments(data, segment_ids, num_segments, tf_unsorted_segment_prod)


@operation
def segment_max(data, segment_ids: TensorLike, num_segments: TensorLike | None = None, sorted: bool = False):
    """Return the greatest elements of the rows of each segment."""
    return _segments(data, segment_ids, num_segments, tf_unsorted_segment_max)


@operation
def segment_min(data, segment_ids: TensorLike, num_segments: TensorLike | None = None, sorted: bool = False):
    """Return the least elements of the rows of each segment."""
    return _segments(data, segment_ids, num_segments, tf_unsorted_segment_min)


def _segments(data: Tensor, segment_ids, num_segments, reduce):
    ids = tensor(segment_ids)
    if num_segments is None:
        num_segments = tf_reduce_max(ids) + 1
    return reduce(tensor(data), ids, num_segments)


__all__ = public_names(globals())
