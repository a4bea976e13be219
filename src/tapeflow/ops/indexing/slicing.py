"""Slices: `Slice`, `StridedSlice` and its gradient, and `tensor[key]` for the keys that are not plain numbers."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api, api_value
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import int_array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import Pack
from tapeflow.ops.indexing.boolean_mask import boolean_mask
from tapeflow.ops.indexing.strided_slice import StridedSlice, cast_rows
from tapeflow.ops.static import static_value
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

newaxis = None
api_value("newaxis", "newaxis")

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _slice_rule(call: ShapeCall):
    rank = shapes.same_dimension(shapes.vector_length(call, 1), shapes.vector_length(call, 2))
    shape = call.shape(0)
    if rank is None:
        rank = None if shape is None else len(shape)
    if rank is None:
        return [None]
    shape = shapes.with_rank(shape, rank)
    begin, size = shapes.vector_value(call, 1), shapes.vector_value(call, 2)
    for n in (*(begin or ()), *(size or ())):
        if n < -1:
            raise invalid(f"Invalid value in tensor used for shape: {n}")
    if size is None:
        return [call.value_as_shape(2) or (None,) * rank]
    return [tuple(map(_slice_size, shape, begin or (-1,) * rank, size))]


def _slice_size(d: int | None, begin: int, size: int) -> int | None:
    if size != -1:
        return size  # whether the part lies inside, running it will tell
    if d is None or begin == -1:
        return None
    if begin > d:
        raise invalid(f"Negative dimension size caused by subtracting {begin} from {d}")
    return d - begin


@op(
    "Slice",
    "input: T, begin: Index, size: Index -> output: T",
    types={"T": ANY, "Index": INDEX},
    shape=_slice_rule,
    moves=True,
    foldable=True,
)
def Slice(xp: ModuleType, input: Array, begin: np.ndarray, size: np.ndarray):
    begin, size = np.asarray(begin), np.asarray(size)
    if begin.shape != (input.ndim,) or size.shape != (input.ndim,):
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {input.ndim}, but got shapes "
            f"{shape_text(begin.shape)} and {shape_text(size.shape)} instead."
        )
    key = []
    for i, (b, s, d) in enumerate(zip(begin.tolist(), size.tolist(), input.shape, strict=True)):
        if not 0 <= b <= d:
            raise invalid(f"Expected begin[{i}] in [0, {d}], but got {b}")
        if s != -1 and not 0 <= s <= d - b:
            raise invalid(f"Expected size[{i}] in [0, {d - b}], but got {s}")
        key.append(slice(b, d if s == -1 else b + s))
    return input[tuple(key)]


Slice.batching(batching.per_axis(begin=0, size=-1))


@Slice.gradient(needs="begin")
def _(call: GradientCall, dy: Tensor):
    from tapeflow.ops.array.padding import Pad

    before = static_value(call.begin)
    whole, part = call.static_shape("input"), dy.shape
    if before is not None and whole.is_fully_defined() and part.is_fully_defined():
        sizes = zip(whole.as_list(), before, part.as_list(), strict=True)
        after = [d - int(b) - p for d, b, p in sizes]
        return Pad(dy, np.stack([before, after], 1).astype(before.dtype)), None, None

    begin = call.begin
    rest = call.shape("input") - Shape(dy) - cast_rows(begin, dtypes.int32)
    padded = Pad(dy, Pack([cast_rows(begin, dtypes.int32), rest], 1))
    padded.set_shape(whole)  # known, wherever the slice was
    return padded, None, None


@Slice.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4, 3), [1, 0], [2, -1])
    yield Sample(rng.normal(4, 3), [4, 0], [0, 3])
    yield Sample(rng.normal(4), np.array([2]), np.array([2]))
    yield Sample(rng.normal(), np.zeros(0, np.int32), np.zeros(0, np.int32))
    yield Sample(rng.normal(5, 2), [0, 0], [6, 1], raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [6, 0], [0, 1], raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [-1, 0], [1, 1], raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [0, 0], [-2, 1], raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [0], [1], raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [[0, 0]], [[1, 1]], raises=InvalidArgumentError)


@Slice.reference
def _(input: np.ndarray, begin: np.ndarray, size: np.ndarray):
    out = np.asarray(input)
    for axis, (b, s) in enumerate(zip(begin, size, strict=True)):
        out = np.take(out, np.arange(b, out.shape[axis] if s == -1 else b + s), axis)
    return out


@api("slice")
@tensor_function
def slice_(input_: TensorLike, begin: TensorLike, size: TensorLike, name: str | None = None) -> Tensor:
    """Take the part of a tensor that starts at `begin` and has shape `size`.

    Args:
      input_: a tensor of any dtype.
      begin: where the part starts in each dimension, a vector of int32 or int64.
      size: how large it is in each dimension, a vector of the dtype of `begin`; -1: all that follows.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input_`.

    Raises:
      InvalidArgumentError: where the part reaches beyond `input_`.

    >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[2, 3],
           [5, 6]], dtype=int32)>
    """
    return Slice(input_, begin, size)


class Spec(NamedTuple):
    """`tensor[key]` in StridedSlice's terms: three vectors and the five masks."""

    begin: Any
    end: Any
    strides: Any
    masks: tuple[int, int, int, int, int]

    def vectors(self) -> list[Any]:
        """begin, end and strides, in one dtype, which packing a mixture may have made different."""
        parts = [self.begin, self.end, self.strides]
        if len({dtypes.as_dtype(p.dtype) for p in parts}) > 1:
            parts = [cast_rows(p, dtypes.int64) for p in parts]
        return parts


_NOT_AN_INDEX = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices, got {!r}"
)
_INDEX_TYPES = (dtypes.int16, dtypes.int32, dtypes.int64)


def parse_key(key) -> Spec:
    """The Spec of a key made of integers, slices, `...`, None and scalar integer tensors.

    Raises TypeError for anything else.
    """
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    begin_mask = end_mask = ellipsis = new_axis = shrink = 0
    for i, entry in enumerate(key if isinstance(key, (tuple, list)) else (key,)):
        bit = 1 << i
        start, stop, step = 0, 0, 1
        if entry is Ellipsis:
            ellipsis |= bit
        elif entry is None:
            new_axis |= bit
        elif isinstance(entry, slice):
            if entry.start is None:
                begin_mask |= bit
            else:
                start = _number(entry.start)
            if entry.stop is None:
                end_mask |= bit
            else:
                stop = _number(entry.stop)
            if entry.step is not None:
                step = _number(entry.step)
        else:
            start = _number(entry)
            stop = start + 1
            shrink |= bit
        begin.append(start)
        end.append(stop)
        strides.append(step)
    masks = (begin_mask, end_mask, ellipsis, new_axis, shrink)
    return Spec(_index_vector(begin), _index_vector(end), _index_vector(strides), masks)


def _number(x: TensorLike):
    """An int, or a symbolic scalar tensor."""
    if isinstance(x, (int, np.integer)) and not isinstance(x, (bool, np.bool_)):
        return int(x)
    if hasattr(x, "dtype") and dtypes.as_dtype(x.dtype) in _INDEX_TYPES and not _has_dimensions(x):
        known = static_value(x)
        return x if known is None else int(known)
    raise TypeError(_NOT_AN_INDEX.format(x))


def _has_dimensions(x) -> bool:
    return bool(x.shape.rank if isinstance(x.shape, TensorShape) else len(x.shape))


def _index_vector(entries: Any):
    if all(isinstance(e, int) for e in entries):
        return int_array(entries)

    return Pack([e if isinstance(e, int) else cast_rows(e, dtypes.int32) for e in entries])


def is_mask(key) -> bool:
    if isinstance(key, (bool, np.bool_)):
        return True
    return (
        hasattr(key, "dtype")
        and hasattr(key, "shape")
        and dtypes.as_dtype(key.dtype) == dtypes.bool
    )


@public
def getitem(tensor: TensorLike, key: Any):
    """`tensor[key]` for every key: the plain ones, tensors as integers, and boolean masks.

    Args:
      tensor: a tensor.
      key: what stands in brackets.
    """
    if is_mask(key):
        return boolean_mask(tensor, key)
    spec = parse_key(key)
    return StridedSlice(tensor, *spec.vectors(), *spec.masks)
