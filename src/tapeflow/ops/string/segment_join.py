"""Strings of segments joined."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError, OutOfRangeError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import Preferring
from tapeflow.ops.string.rows import attr_bytes, texts
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


def _rule(call: ShapeCall):
    data, ids, count = call.shape(0), call.shape(1), shapes.size_value(call, 2)
    if data is None or ids is None:
        return [None]
    shapes.at_least(data, len(ids))
    shapes.merge(data[: len(ids)], ids)
    return [(count, *data[len(ids) :])]


@op("UnsortedSegmentJoin",
    "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    types={"Tindices": INDEX, "Tnumsegments": Preferring(INDEX)}, attrs={"separator": ""}, shape=_rule)  # fmt: skip
def UnsortedSegmentJoin(
    xp: ModuleType, inputs: Array, segment_ids: Array, num_segments: Array, separator: str
):
    if num_segments.ndim:
        raise invalid("Number of segments must be a scalar")
    count = int(num_segments)
    if count < 0:
        raise invalid(f"Number of segments must be non-negative but got {count}")
    rank = segment_ids.ndim
    if rank > inputs.ndim:
        raise OutOfRangeError(
            None, None, f"Invalid segment_id rank {rank} for input with {inputs.ndim} dimension(s)"
        )
    for axis, (a, b) in enumerate(zip(segment_ids.shape, inputs.shape, strict=False)):
        if a != b:
            raise invalid(
                f"Segment dimension is {a} while input dimension is {b} in rank {axis}"
            )
    ids = segment_ids.ravel()
    if ((ids < 0) | (ids >= count)).any():
        raise invalid(
            "segment_ids are not allowed to exceed num_segments or to have negative values."
        )
    inner = inputs.shape[rank:]
    rows = inputs.reshape(len(ids), int(np.prod(inner, dtype=np.int64)))
    glue = attr_bytes(separator)
    out = np.empty((count, rows.shape[1]), object)
    for segment in range(count):
        mine = rows[ids == segment]
        for column in range(rows.shape[1]):
            out[segment, column] = glue.join(mine[:, column])
    return out.reshape(count, *inner)


UnsortedSegmentJoin.gradient(None)


@UnsortedSegmentJoin.samples
def _(rng: SampleGenerator):
    square = np.array([[b"a", b"b"], [b"c", b"d"]], object)
    yield Sample(texts("a", "b", "c"), [0, 2, 0], 3, ":", expect=texts("a:c", "", "b"))
    yield Sample(square, [0, 0], 1, expect=np.array([[b"ac", b"bd"]], object))
    yield Sample(square, [[0, 1], [1, 0]], 2, expect=texts("ad", "bc"))
    yield Sample(texts("a"), [3], 3, raises=InvalidArgumentError)
    yield Sample(texts("a"), [-1], 3, raises=InvalidArgumentError)
    yield Sample(texts("a", "b"), [0], 3, raises=InvalidArgumentError)
    yield Sample(texts("a"), [[0]], 3, raises=OutOfRangeError)
    yield Sample(texts("a"), [0], [1], raises=InvalidArgumentError)
    yield Sample(texts("a"), [0], -1, raises=InvalidArgumentError)


@api("strings.unsorted_segment_join")
@tensor_function
def unsorted_segment_join(
    inputs: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """Join the strings that have one segment id.

    Args:
      inputs: a string tensor.
      segment_ids: int32 or int64 numbers of segments, whose shape is the beginning of the shape of `inputs`.
      num_segments: how many segments there are, a scalar integer.
      separator: what stands between the strings.
      name: a name for the operation (optional).

    Returns:
      A string tensor `[num_segments, ...]`; "" for segments without strings.

    Raises:
      InvalidArgumentError: for ids outside of [0, num_segments).

    >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], num_segments=2, separator=":").numpy()
    array([b'b', b'a:c'], dtype=object)
    """
    return UnsortedSegmentJoin(inputs, segment_ids, num_segments, separator)
