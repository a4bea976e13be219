"""Ops that deal slices out to several tensors by number, and interleave them back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, IntLike, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Size
from tapeflow.ops.indexing import gather
from tapeflow.ops.signature import integer
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import first_out_of_range, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _partition_rule(call):
    data, partitions = call.shape(0), call.shape(1)
    out = None
    if data is not None and partitions is not None:
        shapes.merge(shapes.at_least(data, len(partitions))[: len(partitions)], partitions)
        out = (None, *data[len(partitions) :])
    return [out] * call.attr("num_partitions")


@op(
    "DynamicPartition",
    "data: T, partitions: int32 -> outputs: num_partitions>=1*T",
    types={"T": ANY},
    attrs={"num_partitions": integer},
    shape=_partition_rule,
)
def DynamicPartition(xp: ModuleType, data: Array, partitions: np.ndarray, num_partitions: int):
    if data.shape[: partitions.ndim] != partitions.shape:
        raise invalid(
            "data.shape must start with partitions.shape, got data.shape = "
            f"{shape_text(data.shape)}, partitions.shape = {shape_text(partitions.shape)}"
        )
    bad = first_out_of_range(partitions, num_partitions)
    if bad:
        raise invalid(f"partitions{bad[0]} = {bad[1]} is not in [0, {num_partitions})")
    return [data[partitions == i] for i in range(num_partitions)]


@DynamicPartition.gradient(needs="partitions")
def _(call: GradientCall, dys: Sequence[Tensor]):
    # Dealing out the positions in the same way says where each row of the gradients belongs.

    places = Reshape(range_(Size(call.partitions)), call.shape("partitions"))
    order = DynamicPartition(places, call.partitions, call.num_partitions)
    whole = ParallelDynamicStitch(list(order), list(dys))
    return Reshape(whole, call.shape("data")), None


DynamicPartition.compiled(never="how many rows it returns depends on values")


@DynamicPartition.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4, 2), [1, 0, 1, 1], num_partitions=2)
    yield Sample(rng.normal(2, 2), [[1, 0], [0, 1]], num_partitions=3)
    yield Sample(rng.normal(0), np.zeros(0, np.int32), num_partitions=2, differentiable=False)
    yield Sample(rng.normal(3), [0, 2, 0], num_partitions=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [0, -1, 0], num_partitions=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [0, 1], num_partitions=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [0, 0, 0], num_partitions=0, raises=InvalidArgumentError)


@DynamicPartition.reference
def _(data: np.ndarray, partitions: np.ndarray, num_partitions: int):
    data, partitions = np.asarray(data), np.asarray(partitions)
    flat = data.reshape(-1, *data.shape[partitions.ndim :])
    return [
        np.array(
            [row for row, p in zip(flat, partitions.ravel(), strict=True) if p == i], data.dtype
        ).reshape(-1, *flat.shape[1:])
        for i in range(num_partitions)
    ]


@api("dynamic_partition")
@tensor_function
def dynamic_partition(data: TensorLike, partitions: IntLike, num_partitions, name: str | None = None):
    """Deal the slices of a tensor out to several tensors.

    Args:
      data: a tensor of any dtype.
      partitions: for each slice the number of its part, an int32 tensor whose shape is the beginning of that of
        `data`.
      num_partitions: how many parts there are, an int.
      name: a name for the operation (optional).

    Returns:
      A list of `num_partitions` tensors of the dtype of `data`, the slices of each in their order.

    Raises:
      InvalidArgumentError: for a number outside of [0, num_partitions), and shapes that do not start alike.

    >>> [part.numpy().tolist() for part in tf.dynamic_partition([10, 20, 30], [0, 1, 0], 2)]
    [[10, 30], [20]]
    """
    return DynamicPartition(data, partitions, num_partitions)


def _stitch(xp, indices, data):
    inner: tuple = ()
    for i, (index, part) in enumerate(zip(indices, data, strict=True)):
        if part.shape[: index.ndim] != index.shape:
            raise invalid(
                f"data[{i}].shape = {shape_text(part.shape)} does not start with "
                f"indices[{i}].shape = {shape_text(index.shape)}"
            )
        if i == 0:
            inner = part.shape[index.ndim :]
        elif part.shape[index.ndim :] != inner:
            raise invalid(
                f"Need data[0].shape[{indices[0].ndim}:] = data[{i}].shape[{index.ndim}:], got "
                f"data[0].shape = {shape_text(data[0].shape)}, data[{i}].shape = "
                f"{shape_text(part.shape)}, indices[0].shape = {shape_text(indices[0].shape)}, "
                f"indices[{i}].shape = {shape_text(index.shape)}"
            )
        bad = first_out_of_range(index, 2**31)
        if bad:
            raise invalid(f"indices{bad[0]} is out of range")
    size = 1 + max((int(i.max()) for i in indices if i.size), default=-1)
    merged = xp.full((size, *inner), b"" if data[0].dtype == object else 0, data[0].dtype)
    for index, part in zip(indices, data, strict=True):
        if xp is np:
            merged[index] = part
        else:
            merged = merged.at[index].set(part)
    return merged


def _stitch_rule(call):
    half = call.count // 2
    rest = None
    length: int | None = 0
    for i in range(half):
        index, part, value = call.shape(i), call.shape(half + i), call.value(i)
        if value is None:
            length = None
        elif length is not None and value.size:
            length = max(length, int(value.max()) + 1)
        if index is not None and part is not None:
            shapes.merge(shapes.at_least(part, len(index))[: len(index)], index)
            rest = shapes.merge(rest, part[len(index) :])
    return [None if rest is None else (length, *rest)]


_STITCH = "indices: N>=1*int32, data: N>=1*T -> merged: T"


def _stitch_gradient(call: GradientCall, dy: Tensor):
    # Of indices given twice only the last row was kept, as in the forward pass.
    return [None] * len(call.indices), [gather.gather(dy, index) for index in call.indices]


def _stitch_samples(rng: SampleGenerator):
    yield Sample([[0, 2], [1]], [rng.normal(2), rng.normal(1)])
    yield Sample([0, [[2, 1]]], [rng.normal(3), rng.normal(1, 2, 3)])
    yield Sample([[0, 3]], [rng.normal(2, 2)])
    yield Sample([np.zeros(0, np.int32)], [rng.normal(0)], differentiable=False)
    yield Sample([[0, 2], [1]], [rng.normal(2), rng.normal(2)], raises=InvalidArgumentError)
    yield Sample([[0, -2]], [rng.normal(2)], raises=InvalidArgumentError)
    yield Sample([0, [1]], [rng.normal(2), rng.normal(1)], raises=InvalidArgumentError)


def _stitch_reference(indices, data):
    rows: dict = {}
    for index, part in zip(indices, data, strict=True):
        for at in np.ndindex(*np.shape(index)):
            rows[int(np.asarray(index)[at])] = np.asarray(part)[at]
    data = [np.asarray(d) for d in data]
    blank = np.zeros(data[0].shape[np.ndim(indices[0]) :], data[0].dtype)
    size = max(rows, default=-1) + 1
    return np.array([rows.get(i, blank) for i in range(size)], blank.dtype).reshape(
        -1, *blank.shape
    )


@op("DynamicStitch", _STITCH, types={"T": ANY}, shape=_stitch_rule)
def DynamicStitch(xp: ModuleType, indices: Sequence[Array], data: Sequence[Array]):
    return _stitch(xp, indices, data)


DynamicStitch.gradient(needs="indices")(_stitch_gradient)
DynamicStitch.samples(_stitch_samples)
DynamicStitch.reference(_stitch_reference)


@op("ParallelDynamicStitch", _STITCH, types={"T": ANY}, shape=_stitch_rule)
def ParallelDynamicStitch(xp: ModuleType, indices: Sequence[Array], data: Sequence[Array]):
    return _stitch(xp, indices, data)


ParallelDynamicStitch.gradient(needs="indices")(_stitch_gradient)
ParallelDynamicStitch.samples(_stitch_samples)
ParallelDynamicStitch.reference(_stitch_reference)


@api("dynamic_stitch")
@tensor_function
def dynamic_stitch(indices: Iterable[TensorLike], data: Iterable[TensorLike], name: str | None = None
) -> Tensor:
    """Put slices from several tensors in their places in one.

    Args:
      indices: a list of int32 tensors: the places of the slices of each tensor of `data`.
      data: a list of tensors of one dtype, each of whose shapes starts with that of its indices.
      name: a name for the operation (optional).

    Returns:
      A tensor with as many rows as the greatest index says; of several slices for one place the last stays, places
      without any are zero.

    >>> tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([10, 20, 30], dtype=int32)>
    """
    return DynamicStitch(list(indices), list(data))


@public
def parallel_stitch(indices: Any, data: Any, name: str | None = None):
    """`dynamic_stitch`, for indices that are all different.

    Args:
      indices: a list of int32 tensors.
      data: a list of tensors, whose shapes begin with those of `indices`.
      name: a name for the operation (optional).
    """
    return ParallelDynamicStitch(list(indices), list(data))
