"""The scatter functions of 1.x, which take the variable as their first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as numbers
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.math.casting import cast
from tapeflow.ops.state import scatter_rows
from tapeflow.ops.state.assignment import referenced
from tapeflow.ops.state.variable import Variable
from tapeflow.ops.static import is_eager


def _scatter(row: Callable[..., Any], ref: Any, indices: TensorLike, updates: TensorLike):
    ref = referenced(ref)
    if not isinstance(ref, Variable):
        raise AttributeError(f"A scatter needs a tf.Variable to write to, but was given {ref!r}")
    indices, updates = convert_to_tensor(indices), convert_to_tensor(updates, ref.dtype)
    if not is_eager(indices, updates) and updates.shape.rank != 0:
        wanted = indices.shape.concatenate(ref.shape[1:])
        if not updates.shape.is_compatible_with(wanted):
            raise ValueError(f"Must have updates.shape = {wanted} or [], got {updates.shape}")
    return ref._after(row(ref, indices, updates))


@api(v1="count_up_to")
@public
def count_up_to(ref: Any, limit, name: str | None = None):
    """Add one to the integer variable `ref`; what it was. Raises OutOfRangeError if it has reached `limit`.

    Args:
      ref: a variable.
      limit: the number at which it stops.
      name: a name for the operation (optional).
    """
    return referenced(ref).count_up_to(limit)


@api(v1="scatter_update")
@public
def scatter_update(
    ref, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
):
    """Replace the rows `indices` of the variable `ref` by `updates`. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return _scatter(scatter_rows.ResourceScatterUpdate, ref, indices, updates)


@api(v1="scatter_add")
@public
def scatter_add(
    ref: TensorLike, indices: TensorLike, updates: TensorLike, use_locking: bool = False,
    name: str | None = None,
):
    """Add `updates` to the rows `indices` of the variable `ref`. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return _scatter(scatter_rows.ResourceScatterAdd, ref, indices, updates)


@api(v1="scatter_sub")
@public
def scatter_sub(
    ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
):
    """Subtract `updates` from the rows `indices` of the variable `ref`. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return _scatter(scatter_rows.ResourceScatterSub, ref, indices, updates)


@api(v1="scatter_mul")
@public
def scatter_mul(
    ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
):
    """Multiply the rows `indices` of the variable `ref` by `updates`. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return _scatter(scatter_rows.ResourceScatterMul, ref, indices, updates)


@api(v1="scatter_div")
@public
def scatter_div(
    ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
):
    """Divide the rows `indices` of the variable `ref` by `updates`. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return _scatter(scatter_rows.ResourceScatterDiv, ref, indices, updates)


@api(v1="scatter_min")
@public
def scatter_min(
    ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
):
    """Lower the rows `indices` of the variable `ref` to `updates` at most. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return _scatter(scatter_rows.ResourceScatterMin, ref, indices, updates)


@api(v1="scatter_max")
@public
def scatter_max(
    ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
):
    """Raise the rows `indices` of the variable `ref` to `updates` at least. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return _scatter(scatter_rows.ResourceScatterMax, ref, indices, updates)


@api(v1="scatter_nd_update")
@public
def scatter_nd_update(
    ref, indices: TensorLike, updates: TensorLike, use_locking: bool = True, name: str | None = None
):
    """Replace the slices at `indices` of the variable `ref` by `updates`. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return ref.scatter_nd_update(indices, updates)


@api(v1="scatter_nd_add")
@public
def scatter_nd_add(
    ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
):
    """Add `updates` to the slices at `indices` of the variable `ref`. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return ref.scatter_nd_add(indices, updates)


@api(v1="scatter_nd_sub")
@public
def scatter_nd_sub(
    ref, indices: TensorLike, updates: TensorLike, use_locking: bool = False, name: str | None = None
):
    """Subtract `updates` from the slices at `indices` of the variable `ref`. Returns the variable.

    Args:
      ref: a variable.
      indices: an integer tensor: rows along the first dimension, or coordinates of slices in its last dimension for
        the functions with `nd`.
      updates: a tensor of the variable's dtype, of the shape of `indices` and of a row.
      use_locking: has no effect on the result.
      name: a name for the operation (optional).
    """
    return ref.scatter_nd_sub(indices, updates)


@api(v1="batch_scatter_update")
@public
def batch_scatter_update(ref, indices, updates, use_locking=True, name: str | None = None):
    """Replaces, for each place along the axes in front of the last one of `indices`, rows of the variable `ref`.

    Args:
      ref: a variable; its first axes are those of `indices` but the last.
      indices: integers `[*batch, n]`.
      updates: `[*batch, n, ...]`.

    Returns the variable.
    """
    indices = convert_to_tensor(indices)
    rank = indices.shape.rank
    shape = Shape(indices)
    places = []
    for axis in range(rank - 1):
        along = cast(numbers(shape[axis]), indices.dtype)
        places.append(broadcast_to(reshape(along, [-1] + [1] * (rank - 1 - axis)), shape))
    return scatter_nd_update(ref, stack([*places, indices], -1), updates, use_locking, name)
