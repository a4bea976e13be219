"""Numbers in even steps: `range`, `linspace`, and the grids that they span."""

from __future__ import annotations

import builtins
import math
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor, int_array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.broadcasting import BroadcastTo
from tapeflow.ops.array.layout import ExpandDims, Reshape
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.math import arithmetic, casting, choice, comparison, logic
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import as_shape, joined, rank_of, size_of, static_value
from tapeflow.ops.table import FLOATING, INDEX, REAL, Sample, op
from tapeflow.ops.validate import MAX_ELEMENTS, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def _gather() -> ModuleType:
    from tapeflow.ops.indexing import gather  # a circle: it is made of this module

    return gather


def _range_rule(call):
    shapes.require_ranks(call, 0, 0, 0)
    values = [call.value(i) for i in builtins.range(3)]
    if any(v is None for v in values):
        return [(None,)]
    return [(_range_size(*(v.reshape(()).item() for v in values)),)]


def _range_size(start: int, limit: int, delta: int) -> int:
    if delta == 0:
        raise invalid(f"Requires delta != 0: {delta}")
    if delta > 0 and not start <= limit:
        raise invalid(f"Requires start <= limit when delta > 0: {_plain(start)}/{_plain(limit)}")
    if delta < 0 and not start >= limit:
        raise invalid(f"Requires start >= limit when delta < 0: {_plain(start)}/{_plain(limit)}")
    if isinstance(start, int):
        size = -((start - limit) // delta) if delta > 0 else -((limit - start) // -delta)
    else:
        steps = abs((limit - start) / delta)
        if not steps <= MAX_ELEMENTS:
            raise invalid(f"Requires ((limit - start) / delta) <= {MAX_ELEMENTS}")
        size = math.ceil(steps)
    return size


def _plain(x):
    return int(x) if isinstance(x, float) and x.is_integer() else x


@op(
    "Range",
    "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
    types={"Tidx": Preferring((dtypes.int32, *(t for t in REAL if t != dtypes.int32)))},
    shape=_range_rule,
    rounds=True,
    foldable=True,
)
def Range(xp: ModuleType, start: Array, limit: Array, delta: Array):
    for label, x in (("start", start), ("limit", limit), ("delta", delta)):
        if x.size != 1:
            raise invalid(f"{label} must be a scalar, not shape {shape_text(x.shape)}")
    dtype = start.dtype
    first, last, step = (x.reshape(()).item() for x in (start, limit, delta))
    size = _range_size(first, last, step)
    if dtype.kind in "fV" and size:
        # Counted in the dtype itself, whose rounding decides whether `limit` is reached.
        with np.errstate(over="ignore"):
            size = math.ceil(float(abs((limit - start) / delta).reshape(())))
    if isinstance(first, int):
        return (first + step * np.arange(size)).astype(dtype)
    return (first + np.arange(size) * step).astype(dtype)


Range.gradient(None)


@Range.samples
def _(rng: SampleGenerator):
    yield Sample(0, 5, 1, expect=np.arange(5, dtype=np.int32))
    yield Sample(3, 18, 3, expect=np.array([3, 6, 9, 12, 15], np.int32))
    yield Sample(3, 1, -1, expect=np.array([3, 2], np.int32))
    yield Sample(2, 2, 1, expect=np.zeros(0, np.int32))
    yield Sample(
        np.float64(0.5), np.float64(1.5), np.float64(0.25), expect=np.array([0.5, 0.75, 1, 1.25])
    )
    yield Sample(5, 0, 1, raises=InvalidArgumentError)
    yield Sample(0, 5, -1, raises=InvalidArgumentError)
    yield Sample(0, 5, 0, raises=InvalidArgumentError)
    yield Sample(0.0, float("nan"), 1.0, raises=InvalidArgumentError)
    yield Sample(0.0, 1e30, 1.0, raises=InvalidArgumentError)
    yield Sample([0, 1], 5, 1, raises=InvalidArgumentError)


_RANGE_ORDER = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]


@api("range")
@tensor_function
@graph_scope("range")
def range(
    start: TensorLike, limit: TensorLike | None = None, delta: TensorLike = 1, dtype: DTypeLike | None = None,
    name: str | None = "range",
):
    """Make a vector of numbers from `start` up to, but without, `limit`.

    Args:
      start: the first number, a real scalar; alone, it is the limit, and the numbers start at 0.
      limit: where they end, a real scalar that is not part of the result.
      delta: the step, which may be negative.
      dtype: the dtype of the result; None: the widest of the three, of int32, int64, float32 and float64 in this
        order.
      name: a name for the operation (optional).

    Returns:
      A vector of `ceil((limit - start) / delta)` numbers.

    Raises:
      InvalidArgumentError: for a step of 0, and one that leads away from `limit`.

    >>> tf.range(5)
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([0, 1, 2, 3, 4], dtype=int32)>
    >>> tf.range(3, 0, -1)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([3, 2, 1], dtype=int32)>
    >>> tf.range(0.0, 1.0, 0.25)
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([0.  , 0.25, 0.5 , 0.75], dtype=float32)>
    """
    if limit is None:
        start, limit = 0, start
    if dtype is not None:
        numbers = [_number_of(x, dtypes.as_dtype(dtype)) for x in (start, limit, delta)]
        return Range(*numbers)
    if type(start) is int and type(limit) is int and type(delta) is int:
        if all(-(2**31) <= n < 2**31 for n in (start, limit, delta)):
            return Range(start, limit, delta)
        return Range(*map(convert_to_tensor, int_array((start, limit, delta))))
    tensors = [convert_to_tensor(x) for x in (start, limit, delta)]
    if any(t.dtype not in _RANGE_ORDER for t in tensors):
        known = {
            t.dtype
            for t, x in zip(tensors, (start, limit, delta), strict=True)
            if hasattr(x, "dtype")
        }
        if len(known) != 1 or (not (one := next(iter(known))).is_integer and not one.is_floating):
            raise TypeError(
                f"Cannot make a range of {', '.join(t.dtype.name for t in tensors)} numbers"
            )
        widest = one
    else:
        widest = max((t.dtype for t in tensors), key=_RANGE_ORDER.index)
    return Range(*(casting.cast(t, widest) for t in tensors))


def _number_of(x: TensorLike, dtype: DType):
    return casting.cast(x, dtype) if hasattr(x, "dtype") else convert_to_tensor(x, dtype)


@op(
    "LinSpace",
    "start: T, stop: T, num: Tidx -> output: T",
    types={"T": FLOATING, "Tidx": Preferring(INDEX)},
    ranks="start: 0, stop: 0, num: 0",
    shape=lambda call: [(shapes.size_value(call, 2, least=1),)],
)
def LinSpace(xp: ModuleType, start: Array, stop: Array, num: Array):
    for label, x in (("start", start), ("stop", stop), ("num", num)):
        if np.ndim(x):
            raise invalid(f"{label} must be a scalar, not shape {shape_text(np.shape(x))}")
    count = int(num)
    if count <= 0:
        raise invalid(f"Requires num > 0: {count}")
    if count == 1:
        return xp.reshape(start, (1,))
    step = (stop - start) / (count - 1)
    values = start + step * np.arange(count - 1).astype(start.dtype)
    return xp.concatenate([values, xp.reshape(stop, (1,))]).astype(start.dtype)


LinSpace.gradient(None)


@LinSpace.samples
def _(rng: SampleGenerator):
    yield Sample(np.float64(1), np.float64(5), 5, expect=np.array([1.0, 2, 3, 4, 5]))
    yield Sample(np.float64(1), np.float64(5), 1, expect=np.array([1.0]))
    yield Sample(np.float64(1), np.float64(-1), 4)
    yield Sample(1.0, 2.0, 0, raises=InvalidArgumentError)
    yield Sample(1.0, 2.0, -1, raises=InvalidArgumentError)
    yield Sample([1.0], 2.0, 2, raises=InvalidArgumentError)


@LinSpace.reference
def _(start: np.ndarray, stop: np.ndarray, num: np.ndarray):
    return np.linspace(start, stop, int(num)).astype(np.asarray(start).dtype)


@api("linspace", v1="lin_space")
@tensor_function
@graph_scope("linspace")
def linspace(start, stop, num, name: str | None = None, axis=0):
    """Make evenly spaced numbers between two ends, both of which are included.

    Args:
      start: the first number, or a tensor of first numbers. Integers of 8 and 16 bits become float32, wider ones
        float64.
      stop: the last, of the dtype of `start`; the shapes of the two broadcast.
      num: how many, a scalar integer; where it is 1, `start` alone.
      name: a name for the operation (optional).
      axis: the axis along which the numbers stand, in [-rank - 1, rank] of the ends.

    Returns:
      A floating tensor of the shape of the ends, with a new dimension of size `num` at `axis`. Differentiable in
      both ends.

    Raises:
      InvalidArgumentError: for a negative `num`.
      TypeError: for a `num` that is no integer.

    >>> tf.linspace(0.0, 1.0, 5)
    <tf.Tensor: shape=(5,), dtype=float32, numpy=array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)>
    """
    start = convert_to_tensor(start)
    stop = convert_to_tensor(stop, dtype=start.dtype)
    count = convert_to_tensor(num, dtype_hint=dtypes.int32 if isinstance(num, (np.ndarray, np.generic)) else None)
    if not count.dtype.is_integer:
        raise TypeError(
            "Argument `tensor` (name: num) must be of type integer. Received `tensor` = "
            f"{num} of dtype: {count.dtype}"
        )
    if start.dtype.is_integer:
        real = dtypes.float64 if start.dtype.size > 2 else dtypes.float32
        start, stop = casting.cast(start, real), casting.cast(stop, real)
    known = static_value(count)
    start, stop = start + ZerosLike(stop), stop + ZerosLike(start)
    if known is None or start.shape.rank is None:
        return _spaced(start, stop, casting.cast(count, dtypes.int32), axis)
    n = int(known)
    if n < 0:
        raise invalid(f"Requires num >= 0: {n}")
    rank = start.shape.rank
    at = axis % (rank + 1) if axis < 0 else axis
    start, stop = ExpandDims(start, at), ExpandDims(stop, at)
    part = np.arange(max(n, 1)).reshape([-1] + [1] * (rank - at))
    step = (stop - start) / max(n - 1, 1)
    out = start + step * convert_to_tensor(part, dtype=start.dtype)
    if n > 1:
        # The last value is `stop` itself, whatever rounding made of it.
        last = convert_to_tensor(part == n - 1)
        out = choice.where(last, stop, out)
    # And the first one is `start`, also where `stop` is NaN or infinite.
    out = choice.where(convert_to_tensor(part == 0), start, out)
    if n == 0:
        gather = _gather().gather
        out = gather(out, np.zeros(0, np.int32), axis=at)
    return out


def _spaced(start, stop, n: int, axis):
    """`linspace` where the number of values or the rank of the ends is not known yet."""
    gather = _gather().gather
    start, stop = ExpandDims(start, axis), ExpandDims(stop, axis)
    # A length below zero fails here.
    places = range(arithmetic.maximum(n, choice.SelectV2(comparison.less(n, 0), n, 1)))
    behind = -axis - 1 if axis < 0 else rank_of(start) - 1 - axis
    part = Reshape(places, joined([-1], behind))
    step = (stop - start) / casting.cast(arithmetic.maximum(n - 1, 1), start.dtype)
    last = logic.logical_and(comparison.equal(part, n - 1), n > 1)
    out = choice.where(last, stop, start + step * casting.cast(part, start.dtype))
    return gather(out, range(n), axis=axis)


@api("meshgrid")
@tensor_function
def meshgrid(*args, **kwargs):
    """Make the coordinates of the points of a grid.

    Args:
      *args: n vectors, the coordinates along each dimension; of other ranks, they are flattened.
      **kwargs: `indexing`, "xy" (the first two dimensions of the results swapped, as in pictures; the default) or
        "ij"; and `name`.

    Returns:
      A list of n tensors of n dimensions, one for each vector and of its dtype.

    Raises:
      ValueError: for another indexing.
      TypeError: for other keywords.

    >>> x, y = tf.meshgrid([1, 2, 3], [10, 20])
    >>> x
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[1, 2, 3],
           [1, 2, 3]], dtype=int32)>
    >>> y
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[10, 10, 10],
           [20, 20, 20]], dtype=int32)>
    """
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    lines = [Reshape(convert_to_tensor(a), [-1]) for a in args]
    count = len(lines)
    lengths = as_shape([size_of(line, 0) for line in lines])
    out = []
    for i, line in enumerate(lines):
        shape = [1] * count
        shape[i] = -1
        grid = BroadcastTo(Reshape(line, shape), lengths)
        if indexing == "xy" and count > 1:
            grid = Transpose(grid, [1, 0, *builtins.range(2, count)])
        out.append(grid)
    return out
