"""Elements picked by index, condition or order."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.public import public
from tapeflow.experimental.numpy.arrays import promoted, tensor
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape, broadcast_to
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.array.stacking import unstack
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where as where_
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.division import floormod
from tapeflow.ops.math.sorting import argsort as argsort_
from tapeflow.ops.math.sorting import sort as sort_


@public
def where(condition: TensorLike, x=None, y=None):
    """Return elements of `x` where a condition holds, else of `y`.

    Args:
      condition: an array; what is not zero holds.
      x, y: arrays, which broadcast with it; without both, the indices where the condition holds are returned, one
        tensor for each axis.
    """
    condition = cast(tensor(condition), dtypes.bool)
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    x, y = promoted(x, y)
    return where_(condition, x, y)


@public
def nonzero(a: TensorLike):
    """The indices of the elements that are not zero: a list with a tensor for each axis."""
    x = tensor(a)
    if not len(x.shape):
        x = reshape(x, [1])
    return unstack(where_(cast(x, dtypes.bool)), num=len(x.shape), axis=1)


@public
def select(condlist, choicelist, default=0):
    """Return elements of the first choice whose condition holds.

    Args:
      condlist: a list of bool arrays.
      choicelist: a list of as many arrays; all broadcast.
      default: what stands where no condition holds.
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if not condlist:
        raise ValueError("condlist must be non-empty")
    *choices, out = promoted(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        out = where_(tensor(condition), choice, out)
    return out


@public
def take(a: TensorLike, indices, axis: AxisLike | None = None, out=None, mode: str = "clip"):
    """Return elements at indices.

    Args:
      a: an array, or what makes one.
      indices: integers of any shape.
      axis: the axis; None: all elements in a row.
      out: must be None, else ValueError is raised.
      mode: what becomes of indices outside: "clip", or "wrap" around.
    """
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    if mode == "raise":
        raise ValueError("The mode 'raise' is not supported: use 'clip' or 'wrap'.")
    x, indices = tensor(a), tensor(indices)
    if axis is None:
        x, axis = reshape(x, [-1]), 0
    size = cast(shape(x)[axis], indices.dtype)
    if mode == "clip":
        indices = clip_by_value(indices, zeros_like(size), size - 1)
    else:
        indices = floormod(indices, size)
    return gather(x, indices, axis=axis)


@public
def take_along_axis(arr, indices, axis):
    """Return, for each place along the other axes, the elements at its own indices along an axis.

    Args:
      arr: an array, or what makes one.
      indices: integers that broadcast with `arr` but for the axis.
      axis: the axis; None: all elements in a row.
    """
    x, indices = tensor(arr), tensor(indices)
    if axis is None:
        return take_along_axis(reshape(x, [-1]), indices, 0)
    rank = len(x.shape)
    if len(indices.shape) != rank:
        raise ValueError("`arr` and `indices` must have the same number of axes.")
    axis %= rank
    order = [i for i in range(rank) if i != axis] + [axis]
    back = sorted(range(rank), key=order.__getitem__)
    x, indices = transpose(x, order), transpose(indices, order)
    lead = broadcast_dynamic_shape(shape(x)[:-1], shape(indices)[:-1])
    x = broadcast_to(x, concat([lead, shape(x)[-1:]], 0))
    indices = broadcast_to(indices, concat([lead, shape(indices)[-1:]], 0))
    indices = where_(indices < 0, indices + cast(shape(x)[-1], indices.dtype), indices)
    return transpose(gather(x, indices, axis=-1, batch_dims=rank - 1), back)


@public
def compress(condition, a: TensorLike, axis: AxisLike | None = None):
    """Return the slices along an axis where a condition holds.

    Args:
      condition: a vector of booleans, which may be shorter than the axis.
      a: an array, or what makes one.
      axis: the axis; None: all elements in a row.
    """
    x, condition = tensor(a), cast(tensor(condition), dtypes.bool)
    if len(condition.shape) != 1:
        raise ValueError("condition must be a 1-d array.")
    if axis is None:
        x, axis = reshape(x, [-1]), 0
    return gather(x, reshape(where_(condition), [-1]), axis=axis)


def _quick(kind, order):
    if kind not in ("quicksort", "stable"):
        raise ValueError(
            'Invalid value for argument `kind`. Only kind="quicksort" and kind="stable" are supported. '
            f"Received: kind={kind}"
        )
    if order is not None:
        raise ValueError("The `order` argument is not supported. Pass order=None")


@public
def sort(a: TensorLike, axis: AxisLike = -1, kind: str = "quicksort", order=None):
    """Return elements in ascending order.

    Args:
      a: an array, or what makes one.
      axis: the axis; None: all elements in a row.
      kind: "quicksort" or "stable", which give the same; ValueError for others.
      order: must be None, else ValueError is raised.
    """
    _quick(kind, order)
    x = tensor(a)
    return sort_(reshape(x, [-1]) if axis is None else x, -1 if axis is None else axis)


@public
def argsort(a: TensorLike, axis: AxisLike = -1, kind: str = "quicksort", order=None):
    """Return the int64 indices that sort an array.

    Args:
      a: an array, or what makes one.
      axis: the axis; None: all elements in a row.
      kind: "quicksort" or "stable", which give the same; ValueError for others.
      order: must be None, else ValueError is raised.
    """
    _quick(kind, order)
    x = tensor(a)
    stable = kind == "stable"
    x, axis = (reshape(x, [-1]), -1) if axis is None or x.shape.rank == 0 else (x, axis)
    x = cast(x, dtypes.int8) if x.dtype == dtypes.bool else x
    return cast(argsort_(x, axis, stable=stable), dtypes.int64)
