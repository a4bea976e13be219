"""`StridedSlice`, its gradient, and the update of a slice."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.broadcasting import sum_to_shape
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.math.casting import cast
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall


def cast_rows(x: Tensor, dtype: DType):
    return cast(x, dtype)


SLICE_MASKS = {
    "begin_mask": 0,
    "end_mask": 0,
    "ellipsis_mask": 0,
    "new_axis_mask": 0,
    "shrink_axis_mask": 0,
}


def numpy_key(shape: Any, begin: Any, end: Any, strides: Any, masks: Any) -> tuple:
    """The basic NumPy index that a StridedSlice of a tensor of `shape` means, one entry per dimension.

    `masks` are the five masks in the order of the op's attrs. Raises InvalidArgumentError for what the op refuses.
    """
    begin, end, strides = np.asarray(begin), np.asarray(end), np.asarray(strides)
    if begin.ndim != 1 or begin.shape != end.shape or begin.shape != strides.shape:
        raise invalid(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{shape_text(begin.shape)}, {shape_text(end.shape)}, and {shape_text(strides.shape)} instead."
        )
    begin_mask, end_mask, ellipsis, new_axis, shrink = masks
    count = len(begin)
    if ellipsis & (ellipsis - 1):
        raise invalid("Multiple ellipses in slice spec not allowed")
    named = sum(1 for i in range(count) if not (ellipsis | new_axis) >> i & 1)
    rank = len(shape)
    if named > rank:
        raise invalid(f"Index out of range using input dim {rank}; input has only {rank} dims")
    key: list[Any] = []
    dim = 0
    for i in range(count):
        if ellipsis >> i & 1:
            key += [slice(None)] * (rank - named)
            dim += rank - named
            continue
        if new_axis >> i & 1:
            key.append(None)
            continue
        step, size = int(strides[i]), shape[dim]
        if step == 0:
            raise invalid(f"strides[{i}] must be non-zero")
        if shrink >> i & 1:
            if step < 0:
                raise invalid("only stride 1 allowed on non-range indexing.")
            at = 0 if begin_mask >> i & 1 else int(begin[i])
            key.append(at if size is None else _index(at, size, dim))
        else:
            start = None if begin_mask >> i & 1 else int(begin[i])
            stop = None if end_mask >> i & 1 else int(end[i])
            key.append(slice(start, stop, step))
        dim += 1
    return tuple(key)


def _index(at: int, size: int, dim: int) -> int:
    index = at + size if at < 0 else at
    if not 0 <= index < size:
        raise invalid(f"slice index {index} of dimension {dim} out of bounds.")
    return index


def _masks(call: ShapeCall) -> tuple[int, ...]:
    return tuple(call.attr(name) for name in SLICE_MASKS)


def _strided_slice_rule(call):
    shape, parts = call.shape(0), [call.value(i) for i in (1, 2, 3)]
    lengths = [shapes.vector_length(call, i) for i in (1, 2, 3)]
    count = shapes.same_dimension(shapes.same_dimension(lengths[0], lengths[1]), lengths[2])
    if shape is None or count is None:
        return [None]
    if None not in shape and all(p is not None for p in parts):
        numpy_key(shape, *parts, _masks(call))  # for its checks
    begin, end, strides = (call.elements(i) or [None] * count for i in (1, 2, 3))
    begin_mask, end_mask, ellipsis, new_axis, shrink = _masks(call)
    named = sum(1 for i in range(count) if not (ellipsis | new_axis) >> i & 1)
    if named > len(shape):
        raise invalid(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims"
        )
    out: list[int | None] = []
    dims = list(shape)
    for i in range(count):
        if ellipsis >> i & 1:
            kept = len(shape) - named
            out, dims = out + dims[:kept], dims[kept:]
        elif new_axis >> i & 1:
            out.append(1)
        else:
            size = dims.pop(0)
            if shrink >> i & 1:
                continue
            open_first, open_last = bool(begin_mask >> i & 1), bool(end_mask >> i & 1)
            first = None if open_first else begin[i]
            last = None if open_last else end[i]
            if open_first and open_last and strides[i] in (1, -1):
                out.append(size)
            else:
                out.append(_slice_length(size, first, last, strides[i], open_first, open_last))
    return [(*out, *dims)]


def _slice_length(
    size: int | None, first: int | None, last: int | None, step: int | None, open_first: bool, open_last: bool
) -> int | None:
    """How many elements a slice has; `first` and `last` are None where they are unknown or left out (open)."""
    if size is None or step is None:
        return None
    if (first is None and not open_first) or (last is None and not open_last):
        return None
    return len(range(*slice(first, last, step).indices(size)))


@op(
    "StridedSlice",
    "input: T, begin: Index, end: Index, strides: Index -> output: T",
    types={"T": ANY, "Index": (*INDEX, dtypes.int16)},
    attrs=SLICE_MASKS,
    shape=_strided_slice_rule,
    moves=True,
    foldable=True,
    node_name="strided_slice",
)
def StridedSlice(xp: ModuleType, input: Array, begin: Array, end: Array, strides: Array, **masks):
    return input[numpy_key(input.shape, begin, end, strides, masks.values())]


@StridedSlice.batching
def _(call: BatchedCall):
    return batching.sliced(call, list(call.inputs), (1, 2, 3)) if call.only([0]) else None


@StridedSlice.gradient(needs="begin, end, strides")
def _(call: GradientCall, dy: Tensor):
    masks = [getattr(call, name) for name in SLICE_MASKS]
    shape = call.shape("input")
    if call.dtype("begin") != dtypes.int32:
        shape = cast_rows(shape, call.dtype("begin"))
    return StridedSliceGrad(shape, call.begin, call.end, call.strides, dy, *masks), None, None, None


@StridedSlice.samples
def _(rng: SampleGenerator):
    x = rng.normal(4, 3, 2)
    yield Sample(x, [1, 0], [3, 3], [1, 2])
    yield Sample(x, [-1, 2], [-4, 0], [-2, -1])
    yield Sample(x, [0, 0], [0, 0], [1, 1], begin_mask=3, end_mask=3)
    yield Sample(x, [1, 0, 1], [2, 0, 2], [1, 1, 1], ellipsis_mask=2, shrink_axis_mask=4)
    yield Sample(x, [0, 1], [0, 2], [1, 1], new_axis_mask=1, shrink_axis_mask=2)
    yield Sample(x, [0, 0, 0], [0, 0, 1], [1, 1, 1], new_axis_mask=2, ellipsis_mask=1)
    yield Sample(x, [3], [1], [1])
    yield Sample(x, np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32))
    yield Sample(x, np.array([-100]), np.array([100]), np.array([3]))
    yield Sample(x, [4], [5], [1], shrink_axis_mask=1, raises=InvalidArgumentError)
    yield Sample(x, [-5], [0], [1], shrink_axis_mask=1, raises=InvalidArgumentError)
    yield Sample(x, [0], [1], [0], raises=InvalidArgumentError)
    yield Sample(x, [0, 0], [1, 1], [1], raises=InvalidArgumentError)
    yield Sample(x, [0] * 4, [1] * 4, [1] * 4, raises=InvalidArgumentError)
    yield Sample(x, [0, 0], [1, 1], [1, 1], ellipsis_mask=3, raises=InvalidArgumentError)
    yield Sample(x, [0], [1], [-1], shrink_axis_mask=1, raises=InvalidArgumentError)


@StridedSlice.reference
def _(input: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, **masks):
    return np.asarray(input)[_reference_key(begin, end, strides, **masks)]


def _reference_key(
    begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
):
    key: list[Any] = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(...)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(b)
        else:
            key.append(slice(None if begin_mask & bit else b, None if end_mask & bit else e, s))
    return tuple(key)


@op(
    "StridedSliceGrad",
    "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T",
    types={"T": ANY, "Index": INDEX},
    attrs=SLICE_MASKS,
    shape=shapes.given(0),
)
def StridedSliceGrad(xp: ModuleType, shape: Any, begin: Array, end: Array, strides: Array, dy: Array, **masks):
    shape = dimensions(shape)
    key = numpy_key(shape, begin, end, strides, masks.values())
    part = np.broadcast_to(np.int8(0), shape)[key].shape
    if part != dy.shape:
        raise invalid(f"shape of dy was {shape_text(dy.shape)} instead of {shape_text(part)}")
    out = xp.zeros(shape, dy.dtype)
    if xp is not np:
        return out.at[key].set(dy)
    out[key] = dy
    return out


@StridedSliceGrad.batching
def _(call: BatchedCall):
    if not call.only([4]):
        return None
    return batching.sliced(call, [call.with_size(call.inputs[0]), *call.inputs[1:]], (1, 2, 3))


@StridedSliceGrad.gradient(needs="begin, end, strides")
def _(call: GradientCall, dy: Tensor):
    masks = [getattr(call, name) for name in SLICE_MASKS]
    return None, None, None, None, StridedSlice(dy, call.begin, call.end, call.strides, *masks)


StridedSliceGrad.compiled(static="begin, end, strides")


@StridedSliceGrad.samples
def _(rng: SampleGenerator):
    yield Sample([4, 3], [1, 0], [3, 3], [1, 2], rng.normal(2, 2))
    yield Sample([4, 3], [-1], [0], [1], rng.normal(3), shrink_axis_mask=1)
    yield Sample([4, 3], [3, 0], [0, 0], [-1, 1], rng.normal(3, 1, 3), new_axis_mask=2)
    yield Sample([4, 3], [1, 0], [3, 3], [1, 2], rng.normal(2, 3), raises=InvalidArgumentError)
    yield Sample([-4, 3], [1], [3], [1], rng.normal(2, 3), raises=InvalidArgumentError)


@StridedSliceGrad.reference
def _(shape: Sequence[Any], begin: np.ndarray, end: np.ndarray, strides: np.ndarray, dy: np.ndarray, **masks):
    places = np.arange(int(np.prod(shape))).reshape(shape)
    flat = np.zeros(places.size, np.asarray(dy).dtype)
    np.add.at(flat, places[_reference_key(begin, end, strides, **masks)].ravel(), np.ravel(dy))
    return flat.reshape(shape)


@op(
    "TensorStridedSliceUpdate",
    "input: T, begin: Index, end: Index, strides: Index, value: T -> output: T",
    types={"T": ANY, "Index": INDEX},
    attrs=SLICE_MASKS,
    shape=shapes.same_as_first,
)
def TensorStridedSliceUpdate(
    xp: ModuleType, input: Any, begin: Array, end: Array, strides: Array, value: Any, **masks
):
    key = numpy_key(input.shape, begin, end, strides, masks.values())
    part = np.broadcast_to(np.int8(0), input.shape)[key].shape
    if not _fits(value.shape, part):
        raise invalid(
            f"Cannot assign value of shape {shape_text(value.shape)} to a slice of shape {shape_text(part)}"
        )
    if xp is not np:
        return input.at[key].set(value)
    out = np.array(input)
    out[key] = value
    return out


def _fits(shape: Sequence[Any], into) -> bool:
    extra = len(shape) - len(into)
    return extra <= 0 and all(
        a in (1, b) for a, b in zip(shape, into[-len(shape) :] if shape else (), strict=True)
    )


@TensorStridedSliceUpdate.gradient(needs="begin, end, strides")
def _(call: GradientCall, dy: Tensor):
    where = (call.begin, call.end, call.strides)
    masks = [getattr(call, name) for name in SLICE_MASKS]
    part = StridedSlice(dy, *where, *masks)
    zeros = part - part
    return (
        TensorStridedSliceUpdate(dy, *where, zeros, *masks),
        None,
        None,
        None,
        sum_to_shape(part, call.static_shape("value"), call.shape("value")),
    )


TensorStridedSliceUpdate.compiled(static="begin, end, strides")


@TensorStridedSliceUpdate.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4, 3), [1, 0], [3, 3], [1, 2], rng.normal(2, 2))
    yield Sample(rng.normal(4, 3), [1], [3], [1], rng.normal(3))
    yield Sample(rng.normal(4, 3), [1], [3], [1], rng.normal(2), raises=InvalidArgumentError)


@TensorStridedSliceUpdate.reference
def _(input: np.ndarray, begin: np.ndarray, end: np.ndarray, strides: np.ndarray, value: np.ndarray, **masks):
    out = np.array(input)
    out[_reference_key(begin, end, strides, **masks)] = value
    return out


@api("strided_slice")
@tensor_function
def strided_slice(
    input_, begin: TensorLike, end: TensorLike, strides: int | Sequence[int] | None = None, begin_mask: int = 0,
    end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var=None,
    name: str | None = None,
):
    """Take a part of a tensor as `input_[begin:end:strides]` does, one entry for each dimension.

    Bit i of a mask changes the meaning of entry i.

    Args:
      input_: a tensor of any dtype.
      begin: where to start, a vector of int16, int32 or int64; negative numbers count from the end.
      end: where to stop, without that index itself.
      strides: the steps, which may be negative; None: ones.
      begin_mask: bits of entries that start as far out as there is.
      end_mask: bits of entries that go as far as there is.
      ellipsis_mask: one bit, of an entry that stands for as many whole dimensions as are left.
      new_axis_mask: bits of entries that insert a dimension of size 1.
      shrink_axis_mask: bits of entries that take the one index `begin` and drop the dimension.
      var: not used.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input_`.

    Raises:
      InvalidArgumentError: for a stride of 0, an index out of range in `shrink_axis_mask`, and more entries than
        dimensions.

    >>> tf.strided_slice([1, 2, 3, 4, 5, 6], [0], [5], [2])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 3, 5], dtype=int32)>
    """
    if strides is None:
        strides = ones_like(begin)
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return StridedSlice(input_, begin, end, strides, *masks)
