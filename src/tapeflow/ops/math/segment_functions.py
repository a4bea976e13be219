"""The reductions over segments that programs call."""

from __future__ import annotations

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops.array import construction
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math import arithmetic, casting, division, elementwise
from tapeflow.ops.math.segment import (
    SegmentMax,
    SegmentMean,
    SegmentMin,
    SegmentProd,
    SegmentSum,
    UnsortedSegmentMax,
    UnsortedSegmentMin,
    UnsortedSegmentProd,
    UnsortedSegmentSum,
)
from tapeflow.ops.static import joined, rank_of


@api("math.segment_sum", v1="segment_sum")
@tensor_function
def segment_sum(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Add the rows of each segment.

    Args:
      data: a numeric tensor.
      segment_ids: for each row of `data` the number of its segment: a sorted int32 or int64 vector.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data` with one row for each number up to the last id; segments without rows get 0.

    Raises:
      InvalidArgumentError: for ids that are not sorted, negative, or not as many as rows.

    >>> tf.math.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 0, 1])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[4, 6],
           [5, 6]], dtype=int32)>
    """
    return SegmentSum(data, segment_ids)


@api("math.segment_mean", v1="segment_mean")
@tensor_function
def segment_mean(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Compute the means of each segment of rows.

    Args:
      data: a numeric tensor.
      segment_ids: for each row of `data` the number of its segment: a sorted int32 or int64 vector.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data` with one row for each number up to the last id; segments without rows get 0.

    Raises:
      InvalidArgumentError: for ids that are not sorted, negative, or not as many as rows.

    >>> tf.math.segment_mean([1.0, 3.0, 7.0], [0, 0, 2])
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([2., 0., 7.], dtype=float32)>
    """
    return SegmentMean(data, segment_ids)


@api("math.segment_prod", v1="segment_prod")
@tensor_function
def segment_prod(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Multiply the rows of each segment.

    Args:
      data: a numeric tensor.
      segment_ids: for each row of `data` the number of its segment: a sorted int32 or int64 vector.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data` with one row for each number up to the last id; segments without rows get 1.

    Raises:
      InvalidArgumentError: for ids that are not sorted, negative, or not as many as rows.
    """
    return SegmentProd(data, segment_ids)


@api("math.segment_max", v1="segment_max")
@tensor_function
def segment_max(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Compute the largest elements of each segment of rows.

    Args:
      data: a real tensor.
      segment_ids: for each row of `data` the number of its segment: a sorted int32 or int64 vector.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data` with one row for each number up to the last id; segments without rows get 0.

    Raises:
      InvalidArgumentError: for ids that are not sorted, negative, or not as many as rows.
    """
    return SegmentMax(data, segment_ids)


@api("math.segment_min", v1="segment_min")
@tensor_function
def segment_min(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Compute the smallest elements of each segment of rows.

    Args:
      data: a real tensor.
      segment_ids: for each row of `data` the number of its segment: a sorted int32 or int64 vector.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data` with one row for each number up to the last id; segments without rows get 0.

    Raises:
      InvalidArgumentError: for ids that are not sorted, negative, or not as many as rows.
    """
    return SegmentMin(data, segment_ids)


@api("math.unsorted_segment_sum", v1="unsorted_segment_sum")
@tensor_function
def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Add the parts of each segment; `segment_ids` need not be sorted.

    Args:
      data: a numeric tensor.
      segment_ids: int32 or int64 numbers of segments, whose shape is the beginning of the shape of `data`; what has
        a negative number is left out.
      num_segments: how many segments there are, a scalar integer.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data`, of shape `[num_segments] + data.shape[rank of segment_ids:]`; segments
      without elements get 0.

    Raises:
      InvalidArgumentError: for ids not below `num_segments`, and a shape that does not fit.

    >>> tf.math.unsorted_segment_sum([[1, 2], [3, 4], [5, 6]], [1, 0, 1], num_segments=3)
    <tf.Tensor: shape=(3, 2), dtype=int32, numpy=
    array([[3, 4],
           [6, 8],
           [0, 0]], dtype=int32)>
    """
    return UnsortedSegmentSum(data, segment_ids, num_segments)


@api("math.unsorted_segment_prod", v1="unsorted_segment_prod")
@tensor_function
def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Multiply the parts of each segment; `segment_ids` need not be sorted.

    Args:
      data: a numeric tensor.
      segment_ids: int32 or int64 numbers of segments, whose shape is the beginning of the shape of `data`; what has
        a negative number is left out.
      num_segments: how many segments there are, a scalar integer.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data`, of shape `[num_segments] + data.shape[rank of segment_ids:]`; segments
      without elements get 1.

    Raises:
      InvalidArgumentError: for ids not below `num_segments`, and a shape that does not fit.
    """
    return UnsortedSegmentProd(data, segment_ids, num_segments)


@api("math.unsorted_segment_max", v1="unsorted_segment_max")
@tensor_function
def unsorted_segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Compute the largest elements of each segment; `segment_ids` need not be sorted.

    Args:
      data: a real tensor.
      segment_ids: int32 or int64 numbers of segments, whose shape is the beginning of the shape of `data`; what has
        a negative number is left out.
      num_segments: how many segments there are, a scalar integer.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data`, of shape `[num_segments] + data.shape[rank of segment_ids:]`; segments
      without elements get the lowest number of the dtype.

    Raises:
      InvalidArgumentError: for ids not below `num_segments`, and a shape that does not fit.

    >>> tf.math.unsorted_segment_max([4, 7, 2], [1, 0, 1], num_segments=2)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([7, 4], dtype=int32)>
    """
    return UnsortedSegmentMax(data, segment_ids, num_segments)


@api("math.unsorted_segment_min", v1="unsorted_segment_min")
@tensor_function
def unsorted_segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """Compute the smallest elements of each segment; `segment_ids` need not be sorted.

    Args:
      data: a real tensor.
      segment_ids: int32 or int64 numbers of segments, whose shape is the beginning of the shape of `data`; what has
        a negative number is left out.
      num_segments: how many segments there are, a scalar integer.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data`, of shape `[num_segments] + data.shape[rank of segment_ids:]`; segments
      without elements get the highest number of the dtype.

    Raises:
      InvalidArgumentError: for ids not below `num_segments`, and a shape that does not fit.
    """
    return UnsortedSegmentMin(data, segment_ids, num_segments)


def _counts(data, ids, count):
    ones = construction.fill(Shape(ids), 1)
    counts = arithmetic.Maximum(UnsortedSegmentSum(ones, ids, count), 1)
    return Reshape(
        casting.cast(counts, data.dtype), joined([-1], rank_of(data) - rank_of(ids))
    )


@api("math.unsorted_segment_mean", v1="unsorted_segment_mean")
@tensor_function
@graph_scope("UnsortedSegmentMean")
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
):
    """Compute the means of each segment; `segment_ids` need not be sorted.

    Args:
      data: a numeric tensor.
      segment_ids: int32 or int64 numbers of segments, whose shape is the beginning of the shape of `data`; what has
        a negative number is left out.
      num_segments: how many segments there are, a scalar integer.
      name: a name for the operation (optional).

    Returns:
      A tensor of shape `[num_segments] + data.shape[rank of segment_ids:]`, divided as by `tf.math.truediv`;
      segments without elements get 0.

    Raises:
      InvalidArgumentError: for ids not below `num_segments`, and a shape that does not fit.
    """
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    total = UnsortedSegmentSum(data, ids, num_segments)
    return division.truediv(total, _counts(data, ids, num_segments))


@api("math.unsorted_segment_sqrt_n", v1="unsorted_segment_sqrt_n")
@tensor_function
@graph_scope("UnsortedSegmentSqrtN")
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
):
    """Add the parts of each segment and divide by the square root of their number; `segment_ids` need not be sorted.

    Args:
      data: a floating or complex tensor.
      segment_ids: int32 or int64 numbers of segments, whose shape is the beginning of the shape of `data`; what has
        a negative number is left out.
      num_segments: how many segments there are, a scalar integer.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `data`, of shape `[num_segments] + data.shape[rank of segment_ids:]`; segments
      without elements get 0.

    Raises:
      InvalidArgumentError: for ids not below `num_segments`, and a shape that does not fit.
    """
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    total = UnsortedSegmentSum(data, ids, num_segments)
    return division.truediv(total, elementwise.Sqrt(_counts(data, ids, num_segments)))
