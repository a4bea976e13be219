"""Ops that make tensors from little: filled ones, ranges, one-hot rows, masks, grids."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import EagerTensor
from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Array, AxisLike, DTypeLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor, int_array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.broadcasting import BroadcastTo
from tapeflow.ops.array.layout import ExpandDims, Reshape, Transpose
from tapeflow.ops.array.rows import Shape
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.math import arithmetic, casting, comparison, reduction
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import as_shape, joined, rank_of, size_of, static_value
from tapeflow.ops.table import ANY, FLOATING, INDEX, NUMERIC, REAL, Sample, op
from tapeflow.ops.validate import MAX_ELEMENTS, dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall


def _gather() -> ModuleType:
    from tapeflow.ops.array import gather  # a circle: it is made of this module

    return gather


def _fill_rule(call: ShapeCall):
    sizes = shapes.vector_value(call, 0)
    shapes.scalar_shape(call, 1)
    if sizes is not None and any(d < 0 for d in sizes):
        raise invalid(f"Fill dimensions must be >= 0, but are {sizes}")
    return [shapes.from_value(call, 0)]


@op(
    "Fill",
    "dims: index_type, value: T -> output: T",
    types={"T": ANY, "index_type": Preferring(INDEX)},
    shape=_fill_rule,
    moves=True,
    foldable=True,
)
def Fill(xp: ModuleType, dims: Array, value: Array):
    if np.ndim(dims) != 1:
        raise invalid(f"dims must represent a vector, got shape {shape_text(np.shape(dims))}")
    shape = dimensions(dims)
    if value.size != 1 or value.ndim > 1:
        raise invalid(f"value must represent a scalar, got shape {shape_text(value.shape)}")
    return xp.full(shape, value.reshape(()), value.dtype)


@Fill.batching
def _(call: BatchedCall):
    rank = call.inputs[0].shape[0]
    if rank is None or not call.only([1]):
        return None
    return [call.broadcast(call.aligned(1, rank), call.with_size(call.inputs[0]))]


@Fill.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return None, reduction.reduce_sum(dy)


@Fill.samples
def _(rng: SampleGenerator):
    yield Sample([2, 3], rng.normal())
    yield Sample(np.zeros(0, np.int32), rng.normal())
    yield Sample([0, 2], rng.normal())
    yield Sample([2, -1], 1.0, raises=InvalidArgumentError)
    yield Sample([[2]], 1.0, raises=InvalidArgumentError)
    yield Sample([2], rng.normal(3), raises=InvalidArgumentError)
    yield Sample(np.array([2**40, 2**40]), 1.0, raises=InvalidArgumentError)


@Fill.reference
def _(dims: np.ndarray, value: np.ndarray):
    return np.zeros(tuple(dims), np.asarray(value).dtype) + value


def _as_dims(shape: Any, integers: bool = False):
    """`shape` as what `Fill` takes: a vector, also for a scalar or a TensorShape.

    With `integers`, raises TypeError for a list of other numbers, which `Fill` refuses with another error.
    """
    if isinstance(shape, (list, tuple)):
        if all(isinstance(d, int) for d in shape):
            return int_array(shape)
        dims = convert_to_tensor(shape, dtype_hint=dtypes.int32)
        if integers and not dims.dtype.is_integer:
            whole = all(isinstance(d, int) or (isinstance(d, float) and d.is_integer()) for d in shape)
            if whole and not context.executing_eagerly():
                return int_array([int(d) for d in shape])  # graphs take 4 / 2 for a size
            raise TypeError(f"Cannot convert {shape} to EagerTensor of dtype int32")
        return dims
    if hasattr(shape, "as_list"):
        return int_array(shape.as_list())
    shape = convert_to_tensor(shape, dtype_hint=dtypes.int32)
    if not shape.dtype.is_integer:
        raise TypeError(f"Cannot convert {shape} to EagerTensor of dtype int32")
    return Reshape(shape, [-1]) if shape.shape.rank == 0 else shape


def _of_a_mesh(layout):
    """The error for a layout of DTensor, which places the parts of a tensor on a mesh of devices."""
    return ValueError(f"layout must be None: a DTensor's layout on a mesh of devices is not supported, got {layout!r}")


@api("fill")
@tensor_function
def fill(dims: TensorLike, value: TensorLike, name: str | None = None, layout: str | None = None):
    """Make a tensor of which every element is one value.

    Args:
      dims: the shape, a vector of int32 or int64.
      value: a scalar of any dtype.
      name: a name for the operation (optional).
      layout: of a mesh of devices; only None is supported.

    Returns:
      A tensor of the dtype of `value` and of shape `dims`.

    Raises:
      InvalidArgumentError: for negative sizes, and for a value that is no scalar.

    >>> tf.fill([2, 3], 9)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[9, 9, 9],
           [9, 9, 9]], dtype=int32)>
    """
    if layout is not None:
        raise _of_a_mesh(layout)
    return Fill(_as_dims(dims), value)


@api("zeros")
@tensor_function
@graph_scope("zeros")
def zeros(shape: ShapeLike, dtype: Any = dtypes.float32, name: str | None = None, layout: str | None = None):
    """Make a tensor of zeros; of bool, of False; of strings, of empty ones.

    Args:
      shape: a list of sizes, a `tf.TensorShape`, or a vector of integers.
      dtype: any dtype.
      name: a name for the operation (optional).
      layout: of a mesh of devices; only None is supported.

    Returns:
      A tensor of `dtype` and of shape `shape`.

    >>> tf.zeros([2, 3])
    <tf.Tensor: shape=(2, 3), dtype=float32, numpy=
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)>
    """
    if layout is not None:
        raise _of_a_mesh(layout)
    return Fill(_as_dims(shape, integers=True), _constant(0, dtype))


@api("ones")
@tensor_function
@graph_scope("ones")
def ones(shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout: str | None = None):
    """Make a tensor of ones.

    Args:
      shape: a list of sizes, a `tf.TensorShape`, or a vector of integers.
      dtype: a numeric dtype or bool.
      name: a name for the operation (optional).
      layout: of a mesh of devices; only None is supported.

    Returns:
      A tensor of `dtype` and of shape `shape`.

    >>> tf.ones([2, 3], tf.int32)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[1, 1, 1],
           [1, 1, 1]], dtype=int32)>
    """
    if layout is not None:
        raise _of_a_mesh(layout)
    return Fill(_as_dims(shape, integers=True), _constant(1, dtype))


_CONSTANTS: dict = {}


def _constant(value: int, dtype: Any):
    dtype = dtypes.as_dtype(dtype)
    key = value, dtype
    if key not in _CONSTANTS:
        if dtype == dtypes.string:
            if value:
                raise TypeError(f"Cannot convert {value} to EagerTensor of dtype string")
            return convert_to_tensor("")
        _CONSTANTS[key] = np.array(value, dtype.as_numpy_dtype)
    return _CONSTANTS[key]


@op("ZerosLike", "x: T -> y: T", types={"T": ANY}, shape=shapes.elementwise, promotes="weakness", foldable=True)
def ZerosLike(xp: ModuleType, x: np.ndarray):
    if x.dtype == object:
        if all(isinstance(v, bytes) for v in x.flat):
            return xp.full(x.shape, b"", object)
        return list_payload.zeros_like_variants(x)
    return xp.zeros(x.shape, x.dtype)


ZerosLike.gradient(None)


@ZerosLike.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3))
    yield Sample(rng.normal(0))
    yield Sample(np.array([b"a"], object), expect=np.array([b""], object))


@ZerosLike.reference
def _(x: np.ndarray):
    return np.asarray(x) * np.asarray(0, np.asarray(x).dtype)


@op(
    "OnesLike",
    "x: T -> y: T",
    types={"T": (*NUMERIC, dtypes.bool)},
    shape=shapes.elementwise,
    promotes="weakness",
    foldable=True,
)
def OnesLike(xp: ModuleType, x: Array):
    return xp.ones(x.shape, x.dtype)


OnesLike.gradient(None)


@OnesLike.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3))
    yield Sample(rng.normal())


@OnesLike.reference
def _(x: np.ndarray):
    return (np.asarray(x) == np.asarray(x)).astype(np.asarray(x).dtype)


@api(v2="zeros_like")
@tensor_function
@graph_scope("zeros_like")
def zeros_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: str | None = None):
    """Make zeros of the shape and dtype of another tensor.

    Args:
      input: a tensor, whose values are not looked at.
      dtype: the dtype of the result; None: that of `input`.
      name: a name for the operation (optional).
      layout: of a mesh of devices; only None is supported.

    Returns:
      A tensor of zeros (False, empty strings) of the shape of `input`.

    >>> tf.zeros_like([[1.5, 2.5]], dtype=tf.int32)
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[0, 0]], dtype=int32)>
    """
    if layout is not None:
        raise _of_a_mesh(layout)
    return _like(ZerosLike, 0, input, dtype)


@api(v2="ones_like")
@tensor_function
@graph_scope("ones_like")
def ones_like(input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: str | None = None):
    """Make ones of the shape and dtype of another tensor.

    Args:
      input: a tensor, whose values are not looked at.
      dtype: the dtype of the result; None: that of `input`.
      name: a name for the operation (optional).
      layout: of a mesh of devices; only None is supported.

    Returns:
      A tensor of ones of the shape of `input`.

    >>> tf.ones_like([[1.5, 2.5]])
    <tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[1., 1.]], dtype=float32)>
    """
    if layout is not None:
        raise _of_a_mesh(layout)
    return _like(OnesLike, 1, input, dtype)


def _like(row: Callable[..., Any], value: int, input: Any, dtype: DTypeLike | None):
    input = convert_to_tensor(input)
    if input.__class__ is not EagerTensor and input.shape.is_fully_defined():
        kind = input.dtype if dtype is None else dtypes.as_dtype(dtype)
        if kind.is_floating or kind.is_integer or kind.is_complex or kind.is_bool:
            # Of a graph's tensor the shape is all that is needed: nothing has to be computed for it.
            return Fill(as_shape(input.shape.as_list()), _constant(value, kind))
    if dtype is None or dtypes.as_dtype(dtype) == input.dtype:
        return row(input)
    return Fill(Shape(input), _constant(value, dtype))


@api(v1="zeros_like")
@tensor_function
@graph_scope("zeros_like")
def zeros_like_v1(
    tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
):
    """`zeros_like` with the 1.x name of its argument."""
    return _like(ZerosLike, 0, tensor, dtype)


@api(v1="ones_like")
@tensor_function
@graph_scope("ones_like")
def ones_like_v1(
    tensor: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
):
    """`ones_like` with the 1.x name of its argument."""
    return _like(OnesLike, 1, tensor, dtype)


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
        out = comparison.where(last, stop, out)
    # And the first one is `start`, also where `stop` is NaN or infinite.
    out = comparison.where(convert_to_tensor(part == 0), start, out)
    if n == 0:
        gather = _gather().gather
        out = gather(out, np.zeros(0, np.int32), axis=at)
    return out


def _spaced(start, stop, n: int, axis):
    """`linspace` where the number of values or the rank of the ends is not known yet."""
    gather = _gather().gather
    start, stop = ExpandDims(start, axis), ExpandDims(stop, axis)
    # A length below zero fails here.
    places = range(arithmetic.maximum(n, comparison.SelectV2(comparison.less(n, 0), n, 1)))
    behind = -axis - 1 if axis < 0 else rank_of(start) - 1 - axis
    part = Reshape(places, joined([-1], behind))
    step = (stop - start) / casting.cast(arithmetic.maximum(n - 1, 1), start.dtype)
    last = comparison.logical_and(comparison.equal(part, n - 1), n > 1)
    out = comparison.where(last, stop, start + step * casting.cast(part, start.dtype))
    return gather(out, range(n), axis=axis)


def _one_hot_rule(call: ShapeCall):
    shape, depth, axis = call.shape(0), shapes.size_value(call, 1), call.attr("axis")
    if shape is None:
        return [None]
    at = shapes.normal_axis(axis, len(shape) + 1)
    return [shape[:at] + (depth,) + shape[at:]]


@op(
    "OneHot",
    "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
    types={"T": ANY, "TI": Preferring((dtypes.int64, dtypes.int32, dtypes.uint8, dtypes.int8))},
    attrs={"axis": -1},
    shape=_one_hot_rule,
)
def OneHot(xp: ModuleType, indices: Array, depth: Array, on_value: Array, off_value: Array, axis: int):
    if not (axis == -1 or 0 <= axis <= indices.ndim):
        raise invalid(
            f"Expected axis to be -1 or between [0, {indices.ndim + 1}).  But received: {axis}"
        )
    for label, x in (("depth", depth), ("on_value", on_value), ("off_value", off_value)):
        if np.ndim(x):
            raise invalid(f"{label} must be a scalar, but got: {shape_text(np.shape(x))}")
    if depth < 0:
        raise invalid(f"depth must be non-negative, got: {int(depth)}")
    at = indices.ndim if axis == -1 else axis
    line = np.arange(int(depth)).reshape([-1] + [1] * (indices.ndim - at))
    return xp.where(xp.expand_dims(indices, at) == line, on_value, off_value)


OneHot.batching(batching.along_attr("axis", 0))


OneHot.gradient(None)


@OneHot.samples
def _(rng: SampleGenerator):
    yield Sample([0, 2, -1, 5], 3, rng.normal(), rng.normal(), differentiable=False)
    yield Sample([[0, 1], [2, 2]], 3, 1.0, 0.0, axis=0)
    yield Sample([[0, 1], [2, 2]], 3, 1.0, 0.0, axis=1)
    yield Sample(1, 3, 1.0, 0.0)
    yield Sample(np.zeros(0, np.int64), 3, 1.0, 0.0)
    yield Sample([0], 0, 1.0, 0.0)
    yield Sample([0, 2], 3, 1.0, 0.0, axis=2, raises=InvalidArgumentError)
    yield Sample([0, 2], -1, 1.0, 0.0, raises=InvalidArgumentError)
    yield Sample([0, 2], [3], 1.0, 0.0, raises=InvalidArgumentError)
    yield Sample([0, 2], 3, [1.0], 0.0, raises=InvalidArgumentError)
    yield Sample([0, 2], 3, 1.0, [0.0], raises=InvalidArgumentError)


@OneHot.reference
def _(indices: np.ndarray, depth: np.ndarray, on_value: np.ndarray, off_value: np.ndarray, axis: int):
    on_value, off_value = np.asarray(on_value), np.asarray(off_value)
    out = np.full((*np.shape(indices), int(depth)), off_value, on_value.dtype)
    for at in np.ndindex(*np.shape(indices)):
        if 0 <= np.asarray(indices)[at] < depth:
            out[(*at, int(np.asarray(indices)[at]))] = on_value
    return np.moveaxis(out, -1, axis)


@api("one_hot")
@tensor_function
@graph_scope("one_hot")
def one_hot(
    indices: TensorLike, depth: TensorLike, on_value: TensorLike | None = None,
    off_value: TensorLike | None = None, axis: AxisLike | None = None, dtype: DTypeLike | None = None,
    name: str | None = None,
):
    """Make rows that are `on_value` at an index and `off_value` elsewhere.

    Args:
      indices: a tensor of uint8, int8, int32 or int64; one that is not in [0, depth) gives a row of `off_value`
        alone.
      depth: the size of the new dimension, a scalar int32.
      on_value: a scalar; None: 1.
      off_value: a scalar of the dtype of `on_value`; None: 0.
      axis: where the new dimension is, in [-1, rank]; None and -1: last.
      dtype: the dtype of the result; None: that of the values if one is given, else float32.
      name: a name for the operation (optional).

    Returns:
      A tensor of the shape of `indices` with a new dimension of size `depth`.

    Raises:
      TypeError: where the dtypes of the values and `dtype` differ.
      InvalidArgumentError: for a negative depth.

    >>> tf.one_hot([0, 2, -1], depth=3)
    <tf.Tensor: shape=(3, 3), dtype=float32, numpy=
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)>
    """
    given = [
        None if v is None else convert_to_tensor(v, dtype_hint=dtype).dtype
        for v in (on_value, off_value)
    ]
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    for label, found in zip(("on_value", "off_value"), given, strict=True):
        if wanted is not None and found is not None and found != wanted:
            raise TypeError(f"dtype {found} of {label} does not match dtype parameter {wanted}")
    if None not in given and given[0] != given[1]:
        raise TypeError(
            f"dtype {given[0]} of on_value does not match dtype {given[1]} of off_value"
        )
    wanted = wanted or given[0] or given[1] or dtypes.float32
    on = convert_to_tensor(1 if on_value is None else on_value, dtype=wanted)
    off = convert_to_tensor(0 if off_value is None else off_value, dtype=wanted)
    return OneHot(indices, depth, on, off, -1 if axis is None else axis)


@api("sequence_mask")
@tensor_function
@graph_scope("SequenceMask")
def sequence_mask(
    lengths: TensorLike, maxlen: TensorLike | None = None, dtype: DTypeLike = dtypes.bool,
    name: str | None = None,
):
    """Make rows of which as many first elements are True as lengths say.

    Args:
      lengths: an integer tensor of any shape.
      maxlen: the size of the rows, a scalar integer; None: the greatest length.
      dtype: the dtype of the result: bool, or one that True and False are cast to.
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of shape `lengths.shape + [maxlen]`.

    Raises:
      ValueError: where `maxlen` is not a scalar.

    >>> tf.sequence_mask([1, 3, 2])
    <tf.Tensor: shape=(3, 3), dtype=bool, numpy=
    array([[ True, False, False],
           [ True,  True,  True],
           [ True,  True, False]])>
    """
    lengths = convert_to_tensor(lengths)
    if maxlen is None:
        maxlen = reduction.reduce_max(lengths)
        maxlen = arithmetic.maximum(maxlen, ZerosLike(maxlen))
    else:
        maxlen = convert_to_tensor(maxlen)
    if maxlen.shape.rank not in (None, 0):
        raise ValueError(
            "Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = "
            f"{maxlen.numpy() if hasattr(maxlen, 'numpy') else maxlen} with shape '{maxlen.shape}' instead"
        )
    places = range(0, maxlen, 1, dtype=maxlen.dtype)
    mask = comparison.less(places, casting.cast(ExpandDims(lengths, -1), maxlen.dtype))
    dtype = dtypes.as_dtype(dtype)
    return mask if dtype == dtypes.bool else casting.cast(mask, dtype)


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
