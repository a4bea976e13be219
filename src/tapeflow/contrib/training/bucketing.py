"""Batches of examples that are alike, from queues: each example goes to a bucket, and batches are of one bucket."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import CancelledError, OutOfRangeError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.control.flow import cond_v1
from tapeflow.ops.control.grouping import group, no_op
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal, greater_equal
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.queue import queues as queues
from tapeflow.ops.static import static_value
from tapeflow.train.queue_runner import QueueRunner, add_queue_runner
from tapeflow.train.queues.parts import (
    as_given,
    as_list,
    as_stored,
    checked_keep,
    common_shapes,
    in_structure_of,
)
from tapeflow.train.queues.producers import add_summary, refuse_eager

_CLOSED = (OutOfRangeError, CancelledError)


def _sizes(batch_size: Any, num_buckets: int):
    """The size of a batch of each bucket, as a number where it is known."""
    if not isinstance(batch_size, (list, tuple)):
        batch_size = [batch_size] * num_buckets
    elif len(batch_size) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    known = [static_value(convert_to_tensor(size, dtypes.int32)) for size in batch_size]
    return [size if number is None else int(number) for size, number in zip(batch_size, known)]


def bucket(
    tensors, which_bucket, batch_size: int, num_buckets, num_threads: int = 1, capacity: int = 32,
    bucket_capacities=None, shapes=None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
    keep_input: bool = True, shared_name=None, name: str | None = None,
):  # fmt: skip
    """(the bucket, a batch of its examples).

    Args:
      tensors: a list or dict of tensors, which are another example from run to run.
      which_bucket: the number of the example's bucket.
      batch_size: the size of batches; a list: that of each bucket.
      num_buckets: the number of buckets.
      num_threads: how many threads make examples.
      capacity: how many batches, and how many examples of each bucket, the queues hold.
      bucket_capacities: how many examples of each bucket the queues hold.
      shapes: of the examples, where the tensors do not say.
      dynamic_pad: whether examples may differ in shape, and are padded with zeros.
      allow_smaller_final_batch: whether the last batches may be smaller.
      keep_input: a bool; examples for which it does not hold are left out.
      shared_name: graphs' queues with the same one are one queue in a session.
      name: the name of the scope of operations.
    Raises:
      RuntimeError: eagerly.
      ValueError: for lists of other lengths, no tensors, and unknown shapes.
    """
    refuse_eager()
    sizes = _sizes(batch_size, num_buckets)
    capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    if len(capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({capacities}) must have exactly num_buckets ({num_buckets}) elements."
        )
    values = as_list(tensors)
    if not values:
        raise ValueError("Expected at least one tensor in bucket().")
    with name_scope(name or "bucket"):
        keep_input = checked_keep(keep_input, False)
        given = as_stored(values, False)
        types = [x.dtype.base_dtype for x in given]
        shapes = common_shapes([given], shapes, False)
        which_bucket = cast(which_bucket, dtypes.int32)
        make = queues.PaddingFIFOQueue if dynamic_pad else queues.FIFOQueue
        held = []
        for i, size in enumerate(capacities):
            shared = f"{shared_name}_{i}" if shared_name else None
            held.append(make(size, types, shapes, shared_name=shared, name=f"bucket_queue_{i}"))
        same = not allow_smaller_final_batch and not isinstance(batch_size, (list, tuple))
        size = sizes[0] if same and isinstance(sizes[0], int) else None
        batches = queues.PaddingFIFOQueue(
            capacity, [dtypes.int32, *types], [(), *(TensorShape([size]).concatenate(s) for s in shapes)],
            shared_name=shared_name, name="top_queue",
        )  # fmt: skip

        def put():
            ways = [functools.partial(queue.enqueue, given) for queue in held]
            return group(*(cond_v1(equal(which_bucket, i), way, no_op) for i, way in enumerate(ways)))

        always = static_value(keep_input) is not None and bool(static_value(keep_input))
        filling = put() if always else group(cond_v1(keep_input, put, no_op))
        passing = []
        for i, (queue, size) in enumerate(zip(held, sizes)):
            take = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
            taken = take(size, name=f"read_bucket_{i}")
            passing.append(batches.enqueue([i, *(taken if isinstance(taken, list) else [taken])]))
        add_queue_runner(QueueRunner(
            held[0], passing, batches.close(), batches.close(cancel_pending_enqueues=True), _CLOSED
        ))  # fmt: skip
        add_queue_runner(QueueRunner(
            batches, [filling] * num_threads, group(*(q.close() for q in held)),
            group(*(q.close(cancel_pending_enqueues=True) for q in held)), _CLOSED,
        ))  # fmt: skip
        full = cast(batches.size(), dtypes.float32) * (1.0 / capacity)
        add_summary(f"fraction_of_{capacity}_full", full)
        number, *batch = batches.dequeue()
        batch = as_given(batch if len(batch) > 1 else batch[0], values, False)
        return number, in_structure_of(tensors, batch)


def bucket_by_sequence_length(
    input_length: TensorLike, tensors: Sequence[Tensor], batch_size: int, bucket_boundaries: Sequence[float],
    num_threads: int = 1, capacity: int = 32, bucket_capacities=None, shapes=None, dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False, keep_input: bool = True, shared_name: str | None = None,
    name: str | None = None,
):  # fmt: skip
    """(lengths, a batch of examples of about one length); see `bucket`.

    A bucket has the lengths from one of the ascending `bucket_boundaries` to below the next; there is one more for
    shorter and one for longer ones. Raises TypeError or ValueError for boundaries that are no ascending integers.
    """
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {bucket_boundaries}")
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for low, high in pairwise(bucket_boundaries):
        if not isinstance(low, int) or not isinstance(high, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {low} and {high}")
        if low >= high:
            raise ValueError(
                f"Buckets must contain sequential increasing lengths, but saw: {low} before {high}"
            )
    with name_scope(name or "bucket_by_sequence_length"):
        length = cast(input_length, dtypes.int32)
        below = greater_equal(length, list(bucket_boundaries))
        values = as_list(tensors)
        _, (lengths, *batch) = bucket(
            [length, *values], reduce_sum(cast(below, dtypes.int32)), batch_size, len(bucket_boundaries) + 1,
            num_threads, capacity, bucket_capacities, None if shapes is None else [(), *shapes], dynamic_pad,
            allow_smaller_final_batch, keep_input, shared_name,
        )  # fmt: skip
        return lengths, in_structure_of(tensors, batch)
