"""Ops that join tensors along an axis and take them apart again: concat, stack, split, unstack."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.core.tensor_shape import Dimension
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.array.sizes import Size
from tapeflow.ops.math.division import FloorMod
from tapeflow.ops.signature import Preferring, integer
from tapeflow.ops.static import static_value
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

from tapeflow.ops.array.stacking import Pack


def _concat_axis(values, axis: Any) -> int:
    axis = one_value(
        axis,
        "ConcatOp : Concat dim tensor should be a scalar integer, but got shape "
        + shape_text(np.shape(axis)),
    )
    first = values[0]
    if first.ndim == 0:
        raise invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    if not -first.ndim <= axis < first.ndim:
        raise invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{-first.ndim}, {first.ndim}), "
            f"but got {axis}"
        )
    axis %= first.ndim
    for i, value in enumerate(values):
        if value.ndim == 0:
            raise invalid("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
        pair = f"shape[0] = {shape_text(first.shape)} vs. shape[{i}] = {shape_text(value.shape)}"
        if value.ndim != first.ndim:
            raise invalid(f"ConcatOp : Ranks of all input tensors should match: {pair}")
        for d in range(first.ndim):
            if d != axis and value.shape[d] != first.shape[d]:
                raise invalid(f"ConcatOp : Dimension {d} in both shapes must be equal: {pair}")
    return axis


@op(
    "ConcatV2",
    "values: N>=2*T, axis: Tidx -> output: T",
    types={"T": ANY, "Tidx": Preferring(INDEX)},
    shape=shapes.concat,
    moves=True,
    foldable=True,
)
def ConcatV2(xp: ModuleType, values: Sequence[Array], axis: Array):
    return xp.concatenate(values, _concat_axis(values, axis))


ConcatV2.batching(batching.along(-1))


def _part_sizes(call: GradientCall, name: str, axis: Tensor):
    """The sizes along `axis` of the parts that were joined."""
    static = static_value(axis)
    parts = call.static_shape(name)
    if static is not None and all(p.rank is not None for p in parts):
        sizes = [p.as_list()[int(static)] for p in parts]
        if None not in sizes:
            return sizes
    from tapeflow.ops.indexing.gather import GatherV2

    vectors = list(call.shape(name))
    if static is None or static < 0:
        axis = FloorMod(axis, Size(vectors[0], out_type=axis.dtype))
    return GatherV2(Pack(vectors), axis, 1)


@ConcatV2.gradient(needs="axis")
def _(call: GradientCall, dy: TensorLike):
    sizes = _part_sizes(call, "values", call.axis)
    count = len(call.static_shape("values"))
    parts = [dy] if count == 1 else SplitV(dy, sizes, call.axis, count)
    return list(parts), None


@ConcatV2.samples
def _(rng: SampleGenerator):
    yield Sample([rng.normal(2, 3), rng.normal(1, 3)], 0)
    yield Sample([rng.normal(2, 3), rng.normal(2, 1), rng.normal(2, 2)], -1)
    yield Sample([rng.normal(2, 0), rng.normal(2, 3)], 1)
    yield Sample([rng.normal(4)], 0, raises=InvalidArgumentError)
    yield Sample([rng.normal(2, 3), rng.normal(2, 4)], 0, raises=InvalidArgumentError)
    yield Sample([rng.normal(2, 3), rng.normal(2)], 0, raises=InvalidArgumentError)
    yield Sample([rng.normal(2, 3), rng.normal(2, 3)], 2, raises=InvalidArgumentError)
    yield Sample([rng.normal(2, 3), rng.normal(2, 3)], -3, raises=InvalidArgumentError)
    yield Sample([rng.normal(), rng.normal()], 0, raises=InvalidArgumentError)


@ConcatV2.reference
def _(values: Sequence[np.ndarray], axis: np.ndarray):
    return np.moveaxis(
        np.array([row for v in values for row in np.moveaxis(v, int(axis), 0)]), 0, int(axis)
    )


@op(
    "Concat",
    "concat_dim: int32, values: N>=2*T -> output: T",
    types={"T": ANY},
    ranks="concat_dim: 0, values: 1+",
    shape=lambda call: [
        shapes.joined([call.shape(i) for i in range(1, call.count)], call.value(0))
    ],
    moves=True,
)
def Concat(xp: ModuleType, concat_dim: Array, values: Sequence[Array]):
    return xp.concatenate(values, _concat_axis(values, concat_dim))


Concat.batching(batching.along(0))


@Concat.gradient(needs="concat_dim")
def _(call: GradientCall, dy: Tensor):
    sizes = _part_sizes(call, "values", call.concat_dim)
    count = len(call.static_shape("values"))
    return None, list(SplitV(dy, sizes, call.concat_dim, count))


@Concat.samples
def _(rng: SampleGenerator):
    yield Sample(0, [rng.normal(2, 3), rng.normal(1, 3)])
    yield Sample(1, [rng.normal(2), rng.normal(2)], raises=InvalidArgumentError)


@Concat.reference
def _(concat_dim: np.ndarray, values: Sequence[np.ndarray]):
    return np.concatenate(values, int(concat_dim))


@api("concat")
@tensor_function
@graph_scope("concat")
def concat(values: TensorLike, axis: AxisLike, name: str | None = "concat"):
    """Join tensors along an axis that they have.

    Args:
      values: a list of tensors of one dtype and rank, whose shapes are equal but for the size of `axis`.
      axis: the axis, a scalar in [-rank, rank).
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype, with the sum of their sizes along `axis`. A single tensor is returned as it is.

    Raises:
      InvalidArgumentError: for shapes or dtypes that do not fit, an axis out of range, and for no tensors.

    >>> tf.concat([[[1, 2]], [[3, 4], [5, 6]]], axis=0)
    <tf.Tensor: shape=(3, 2), dtype=int32, numpy=
    array([[1, 2],
           [3, 4],
           [5, 6]], dtype=int32)>
    >>> tf.concat([[[1], [2]], [[3], [4]]], axis=1)
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 3],
           [2, 4]], dtype=int32)>
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        # A single tensor is passed on, but the axis must still be a scalar integer.
        axis = convert_to_tensor(axis, dtype=dtypes.int32)
        if axis.shape.rank:
            raise ValueError(f"Shape {axis.shape} must be a scalar")
        return Identity(values[0])
    return ConcatV2(list(values), axis)


def _split_axis(axis, rank: int) -> int:
    axis = one_value(
        axis,
        f"split_dim_tensor must have exactly one element, got shape {shape_text(np.shape(axis))}",
    )
    if not -rank <= axis < rank:
        raise invalid(f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}")
    return axis % rank


def _split_rule(call: ShapeCall):
    shape, axis, count = call.shape(1), shapes.scalar_value(call, 0), call.attr("num_split")
    if shape is None or axis is None:
        return [None if shape is None else (None,) * len(shape)] * count
    rank = len(shape)
    if not -rank <= axis < rank:
        raise invalid(f"Dimension size, given by scalar input {axis} must be in range [{-rank}, {rank})")
    at = axis % rank
    size = shape[at]
    if size is not None and size % count:
        raise invalid(
            f"Dimension size must be evenly divisible by {count} but is {size}\n"
            "\tNumber of ways to split should evenly divide the split dimension"
        )
    part = None if size is None else size // count
    return [shape[:at] + (part,) + shape[at + 1 :]] * count


@op(
    "Split",
    "split_dim: int32, value: T -> output: num_split>=1*T",
    types={"T": ANY},
    attrs={"num_split": integer},
    shape=_split_rule,
)
def Split(xp: ModuleType, split_dim: Array, value: Array, num_split: int):
    axis = _split_axis(split_dim, value.ndim)
    if value.shape[axis] % num_split:
        raise invalid(
            "Number of ways to split should evenly divide the split dimension, but got split_dim "
            f"{axis} (size = {value.shape[axis]}) and num_split {num_split}"
        )
    return xp.split(value, num_split, axis)


Split.batching(batching.along(0, 1))


@Split.gradient(needs="split_dim")
def _(call: GradientCall, dys: Sequence[Tensor]):
    return None, ConcatV2(list(dys), call.split_dim) if len(dys) > 1 else dys[0]


@Split.samples
def _(rng: SampleGenerator):
    yield Sample(0, rng.normal(4, 3), num_split=2)
    yield Sample(-1, rng.normal(4, 3), num_split=3)
    yield Sample(0, rng.normal(0, 3), num_split=2)
    yield Sample(0, rng.normal(5, 2), num_split=2, raises=InvalidArgumentError)
    yield Sample(3, rng.normal(5, 2), num_split=1, raises=InvalidArgumentError)
    yield Sample(0, rng.normal(5, 2), num_split=0, raises=InvalidArgumentError)
    yield Sample(0, rng.normal(), num_split=1, raises=InvalidArgumentError)


@Split.reference
def _(split_dim: np.ndarray, value: np.ndarray, num_split: int):
    step = np.shape(value)[int(split_dim)] // num_split
    return [
        np.take(value, range(i * step, (i + 1) * step), int(split_dim)) for i in range(num_split)
    ]


def _split_v_rule(call):
    shape, sizes, count = call.shape(0), shapes.vector_value(call, 1), call.attr("num_split")
    axis = shapes.scalar_value(call, 2)
    shapes.exactly(shapes.vector_length(call, 1), count)
    if shape == ():
        raise invalid("Can't split scalars")
    if shape is None:
        return [None] * count
    if axis is None:
        return [(None,) * len(shape)] * count
    at = shapes.normal_axis(axis, len(shape))
    if sizes is None:
        return [shape[:at] + (shape[at] if count == 1 else None,) + shape[at + 1 :]] * count
    lengths: list[int | None] = [None if s < 0 else s for s in sizes]
    total = sum(s for s in sizes if s >= 0)
    free = lengths.count(None)
    if shape[at] is not None:
        for i in (i for i, s in enumerate(sizes) if s < -1):
            raise invalid(f"Split size at index {i} must be >= 0. Got: {sizes[i]}")
        if free > 1:
            raise invalid("size_splits can only have one -1")
        if total > shape[at] or (not free and total != shape[at]):
            raise invalid(f"can't split axis of size {shape[at]} into pieces of size {sizes}")
        lengths = [shape[at] - total if s is None else s for s in lengths]
    return [shape[:at] + (length,) + shape[at + 1 :] for length in lengths]


@op(
    "SplitV",
    "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split>=1*T",
    types={"T": ANY, "Tlen": Preferring((dtypes.int64, dtypes.int32, dtypes.int8))},
    attrs={"num_split": integer},
    shape=_split_v_rule,
)
def SplitV(xp: ModuleType, value: Array, size_splits: Array, split_dim: Array, num_split: int):
    sizes = [int(s) for s in np.ravel(size_splits)]
    if np.ndim(size_splits) != 1 or len(sizes) != num_split:
        raise invalid(
            "size of the split_tensor must be 1-D and have the same elements as outputs got "
            f"{np.ndim(size_splits)} -D and {len(sizes)} elements"
        )
    axis = _split_axis(split_dim, value.ndim)
    length = value.shape[axis]
    total = sum(s for s in sizes if s != -1)
    if sizes.count(-1) > 1:
        raise invalid("There can only be one -1 in the input.")
    for i, size in enumerate(sizes):
        if size < -1:
            raise invalid(f"Split size at index {i} must be >= 0. Got: {size}")
    if total > length if -1 in sizes else total != length:
        raise invalid(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {total}"
        )
    sizes = [length - total if s == -1 else s for s in sizes]
    return xp.split(value, np.cumsum(sizes[:-1]), axis)


SplitV.batching(batching.along(2, 0))


@SplitV.gradient(needs="split_dim")
def _(call: GradientCall, dys: Sequence[Tensor]):
    return ConcatV2(list(dys), call.split_dim) if len(dys) > 1 else dys[0], None, None


@SplitV.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(5, 2), [2, 3], 0, num_split=2)
    yield Sample(rng.normal(5, 2), [2, -1, 0], 0, num_split=3)
    yield Sample(rng.normal(2, 5), [1, 4], -1, num_split=2)
    yield Sample(rng.normal(5, 2), [2, 2], 0, num_split=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [6, -1], 0, num_split=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [-1, -1], 0, num_split=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [-2, 7], 0, num_split=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [5], 0, num_split=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(5, 2), [2, 3], 3, num_split=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(), [1], 0, num_split=1, raises=InvalidArgumentError)


@SplitV.reference
def _(value: np.ndarray, size_splits: np.ndarray, split_dim: np.ndarray, num_split: int):
    axis = int(split_dim)
    sizes = [int(s) for s in size_splits]
    rest = np.shape(value)[axis] - sum(s for s in sizes if s >= 0)
    parts, at = [], 0
    for size in (rest if s < 0 else s for s in sizes):
        parts.append(np.take(value, np.arange(at, at + size), axis))
        at += size
    return parts


@api("split")
@tensor_function
@graph_scope("split")
def split(
    value: TensorLike, num_or_size_splits: Any, axis: AxisLike = 0, num: IntLike | None = None,
    name: str | None = "split",
):
    """Cut a tensor into parts along an axis.

    Args:
      value: a tensor of any dtype.
      num_or_size_splits: how many parts of one size, an int that divides the size of the axis; or a list or vector
        of the size of each part, of which one may be -1 for what is left.
      axis: the axis, a scalar in [-rank, rank).
      num: how many parts there are, where `num_or_size_splits` is a vector of unknown size (optional).
      name: a name for the operation (optional).

    Returns:
      A list of tensors of the dtype of `value`.

    Raises:
      InvalidArgumentError: where the parts do not make up the axis.
      ValueError: for a tensor of rank 0 as `num_or_size_splits`, and where `num` is needed.

    >>> a, b = tf.split(tf.range(6), 2)
    >>> a
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 2], dtype=int32)>
    >>> [part.shape.as_list() for part in tf.split(tf.zeros([5, 3]), [1, -1], axis=0)]
    [[1, 3], [4, 3]]
    """
    if isinstance(num_or_size_splits, (int, np.integer, Dimension)):
        return Split(axis, value, int(num_or_size_splits))
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.shape.rank == 0:
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None:
        num = None if sizes.shape.rank is None else sizes.shape.as_list()[0]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {num_or_size_splits}")
    return SplitV(value, sizes, axis, num)
