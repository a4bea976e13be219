"""Input of 1.x through queues: `tf.train.string_input_producer`, `tf.train.batch` and related functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.public import names_itself, public
from tapeflow.ops.control.flow import cond_v1
from tapeflow.ops.control.grouping import group, no_op
from tapeflow.ops.indexing.boolean_mask import boolean_mask_v1
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
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

# Batches.


def _fill(queue, lists, many, keep_input, threads=1):
    """Adds the QueueRunner that puts each list in."""
    put = queue.enqueue_many if many else queue.enqueue
    ops = []
    for tensors in lists:
        if static_value(keep_input) is not None and bool(static_value(keep_input).all()):
            op = put(tensors)
        elif many and keep_input.shape.rank == 1:
            op = put([boolean_mask_v1(x, keep_input) for x in tensors])
        else:
            op = group(cond_v1(keep_input, lambda t=tensors: put(t), no_op))
        ops += [op] * threads
    add_queue_runner(QueueRunner(queue, ops))


def _check_join(lists: Sequence[Any]):
    """Raises ValueError or TypeError unless the lists have tensors of the same dtypes."""
    if not lists:
        raise ValueError("Expected at least one set of tensors")
    for tensors in lists:
        if len(tensors) != len(lists[0]):
            raise ValueError("All tensors lists must have the same length.")
        if not tensors:
            raise ValueError("Expected at least one tensor")
        if [x.dtype for x in tensors] != [x.dtype for x in lists[0]]:
            raise TypeError(f"Expected types to be consistent: {', '.join(x.dtype.name for x in lists[0])} vs. "
                            f"{', '.join(x.dtype.name for x in tensors)}.")  # fmt: skip


def _batched(
    label, originals, batch_size, capacity, keep_input, threads=1, many=False, shapes=None, dynamic_pad=False,
    allow_smaller=False, shared_name=None, name=None, shuffled=None, seed=None,
):  # fmt: skip
    """What all functions of batches do; `shuffled`: how many elements stay behind to be mixed, or None."""
    refuse_eager()
    if not originals:
        raise ValueError(f"Expected at least one set of tensors in {label}().")
    with name_scope(name or label) as scope:
        if isinstance(originals[0], dict) and any(set(x) != set(originals[0]) for x in originals):
            raise ValueError("All dictionaries must have the same keys")
        values = [as_list(x) for x in originals]
        lists = [as_stored(x, many) for x in values]
        _check_join(lists)
        keep_input = checked_keep(keep_input, many)
        types = [x.dtype.base_dtype for x in lists[0]]
        shapes = common_shapes(lists, shapes, many)
        if shuffled is not None:
            if capacity <= shuffled:
                raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {shuffled}.")
            queue = queues.RandomShuffleQueue(
                capacity, shuffled, types, shapes, seed=seed, shared_name=shared_name
            )
        elif dynamic_pad:
            queue = queues.PaddingFIFOQueue(capacity, types, shapes, shared_name=shared_name)
        else:
            queue = queues.FIFOQueue(capacity, types, shapes, shared_name=shared_name)
        _fill(queue, lists, many, keep_input, threads)
        held = cast(queue.size(), dtypes.float32)
        if shuffled is None:
            add_summary(f"fraction_of_{capacity}_full", held * (1.0 / capacity))
        else:
            over = maximum(0.0, held - shuffled) * (1.0 / (capacity - shuffled))
            add_summary(f"fraction_over_{shuffled}_of_{capacity - shuffled}_full", over)
        take = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        taken = as_given(take(batch_size, name=scope), values[0], many)
        return in_structure_of(originals[0], taken)


@public
@names_itself
def batch(
    tensors: Sequence[Any] | dict[str, Any], batch_size: int, num_threads: int = 1, capacity: int = 32,
    enqueue_many: bool = False, shapes=None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
):  # fmt: skip
    """Batches of what `tensors`, a list or dict, are from run to run.

    Args:
      num_threads: how many threads run them.
      capacity: how many elements the queue holds.
      enqueue_many: whether the tensors are batches already, which are taken apart.
      shapes: of the elements, where the tensors do not say.
      dynamic_pad: whether elements may differ in shape, and are padded with zeros.
      allow_smaller_final_batch: whether the last batch may be smaller.

    Raises RuntimeError if operations run eagerly, ValueError for unknown shapes.
    """
    return _batched("batch", [tensors], batch_size, capacity, True, num_threads, enqueue_many, shapes, dynamic_pad,
                    allow_smaller_final_batch, shared_name, name)  # fmt: skip


@public
@names_itself
def maybe_batch(
    tensors: TensorLike, keep_input: TensorLike, batch_size: int, num_threads: int = 1, capacity: int = 32,
    enqueue_many: bool = False, shapes=None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
):  # fmt: skip
    """As `batch`, of the elements for which `keep_input`, a bool scalar or vector, holds.

    Args:
      tensors: a list or dict of tensors of one element.
      keep_input: a bool scalar, or a vector with `enqueue_many`: whether an element is used.
      batch_size: the number of elements of a batch.
      num_threads: how many threads fill the queue.
      capacity: how many elements the queue holds.
      enqueue_many: whether the first dimension of the tensors counts elements.
      shapes: the shapes of an element's tensors; None: those that are known.
      dynamic_pad: whether elements of a batch are padded with zeros to the largest.
      allow_smaller_final_batch: whether the last batch may have fewer elements.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
    """
    return _batched("maybe_batch", [tensors], batch_size, capacity, keep_input, num_threads, enqueue_many, shapes,
                    dynamic_pad, allow_smaller_final_batch, shared_name, name)  # fmt: skip


@public
@names_itself
def batch_join(
    tensors_list: Sequence[Any], batch_size: int, capacity: int = 32, enqueue_many: bool = False, shapes=None,
    dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
    name: str | None = None,
):  # fmt: skip
    """As `batch`, of several lists or dicts of tensors, each run by a thread of its own.

    Args:
      tensors_list: a list of such lists or dicts, one for each thread.
      batch_size: the number of elements of a batch.
      capacity: how many elements the queue holds.
      enqueue_many: whether the first dimension of the tensors counts elements.
      shapes: the shapes of an element's tensors; None: those that are known.
      dynamic_pad: whether elements of a batch are padded with zeros to the largest.
      allow_smaller_final_batch: whether the last batch may have fewer elements.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
    """
    return _batched("batch_join", list(tensors_list), batch_size, capacity, True, 1, enqueue_many, shapes, dynamic_pad,
                    allow_smaller_final_batch, shared_name, name)  # fmt: skip


@public
@names_itself
def maybe_batch_join(
    tensors_list: Sequence[Any], keep_input, batch_size: int, capacity: int = 32, enqueue_many: bool = False,
    shapes=None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
    name: str | None = None,
):  # fmt: skip
    """As `batch_join`, of the elements for which `keep_input` holds.

    Args:
      tensors_list: a list of such lists or dicts, one for each thread.
      keep_input: a bool scalar, or a vector with `enqueue_many`: whether an element is used.
      batch_size: the number of elements of a batch.
      capacity: how many elements the queue holds.
      enqueue_many: whether the first dimension of the tensors counts elements.
      shapes: the shapes of an element's tensors; None: those that are known.
      dynamic_pad: whether elements of a batch are padded with zeros to the largest.
      allow_smaller_final_batch: whether the last batch may have fewer elements.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
    """
    return _batched("maybe_batch_join", list(tensors_list), batch_size, capacity, keep_input, 1, enqueue_many, shapes,
                    dynamic_pad, allow_smaller_final_batch, shared_name, name)  # fmt: skip


@public
@names_itself
def shuffle_batch(
    tensors: Sequence[Tensor], batch_size: int, capacity: int, min_after_dequeue: int, num_threads: int = 1,
    seed: int | None = None, enqueue_many: bool = False, shapes=None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
):  # fmt: skip
    """As `batch`, in random order, with `min_after_dequeue` elements left to be mixed.

    Raises ValueError for a `capacity` that is not larger than that.

    Args:
      tensors: a list or dict of tensors of one element.
      batch_size: the number of elements of a batch.
      capacity: how many elements the queue holds.
      min_after_dequeue: how many elements stay in the queue to be mixed.
      num_threads: how many threads fill the queue.
      seed: of the order (optional).
      enqueue_many: whether the first dimension of the tensors counts elements.
      shapes: the shapes of an element's tensors; None: those that are known.
      allow_smaller_final_batch: whether the last batch may have fewer elements.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
    """
    return _batched("shuffle_batch", [tensors], batch_size, capacity, True, num_threads, enqueue_many, shapes, False,
                    allow_smaller_final_batch, shared_name, name, min_after_dequeue, seed)  # fmt: skip


@public
@names_itself
def maybe_shuffle_batch(
    tensors: TensorLike, batch_size: int, capacity: int, min_after_dequeue: int, keep_input, num_threads: int = 1,
    seed: int | None = None, enqueue_many: bool = False, shapes=None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
):  # fmt: skip
    """As `shuffle_batch`, of the elements for which `keep_input` holds.

    Args:
      tensors: a list or dict of tensors of one element.
      batch_size: the number of elements of a batch.
      capacity: how many elements the queue holds.
      min_after_dequeue: how many elements stay in the queue to be mixed.
      keep_input: a bool scalar, or a vector with `enqueue_many`: whether an element is used.
      num_threads: how many threads fill the queue.
      seed: of the order (optional).
      enqueue_many: whether the first dimension of the tensors counts elements.
      shapes: the shapes of an element's tensors; None: those that are known.
      allow_smaller_final_batch: whether the last batch may have fewer elements.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
    """
    return _batched("maybe_shuffle_batch", [tensors], batch_size, capacity, keep_input, num_threads, enqueue_many,
                    shapes, False, allow_smaller_final_batch, shared_name, name, min_after_dequeue, seed)  # fmt: skip


@public
@names_itself
def shuffle_batch_join(
    tensors_list: Sequence[Any], batch_size: int, capacity: int, min_after_dequeue: int, seed: int | None = None,
    enqueue_many: bool = False, shapes=None, allow_smaller_final_batch: bool = False, shared_name: str | None = None,
    name: str | None = None,
):  # fmt: skip
    """As `shuffle_batch`, of several lists or dicts of tensors, each run by a thread of its own.

    Args:
      tensors_list: a list of such lists or dicts, one for each thread.
      batch_size: the number of elements of a batch.
      capacity: how many elements the queue holds.
      min_after_dequeue: how many elements stay in the queue to be mixed.
      seed: of the order (optional).
      enqueue_many: whether the first dimension of the tensors counts elements.
      shapes: the shapes of an element's tensors; None: those that are known.
      allow_smaller_final_batch: whether the last batch may have fewer elements.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
    """
    return _batched("shuffle_batch_join", list(tensors_list), batch_size, capacity, True, 1, enqueue_many, shapes,
                    False, allow_smaller_final_batch, shared_name, name, min_after_dequeue, seed)  # fmt: skip


@public
@names_itself
def maybe_shuffle_batch_join(
    tensors_list: Sequence[Any], batch_size: int, capacity: int, min_after_dequeue: int, keep_input,
    seed: int | None = None, enqueue_many: bool = False, shapes=None, allow_smaller_final_batch: bool = False,
    shared_name: str | None = None, name: str | None = None,
):  # fmt: skip
    """As `shuffle_batch_join`, of the elements for which `keep_input` holds.

    Args:
      tensors_list: a list of such lists or dicts, one for each thread.
      batch_size: the number of elements of a batch.
      capacity: how many elements the queue holds.
      min_after_dequeue: how many elements stay in the queue to be mixed.
      keep_input: a bool scalar, or a vector with `enqueue_many`: whether an element is used.
      seed: of the order (optional).
      enqueue_many: whether the first dimension of the tensors counts elements.
      shapes: the shapes of an element's tensors; None: those that are known.
      allow_smaller_final_batch: whether the last batch may have fewer elements.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
    """
    return _batched("maybe_shuffle_batch_join", list(tensors_list), batch_size, capacity, keep_input, 1, enqueue_many,
                    shapes, False, allow_smaller_final_batch, shared_name, name, min_after_dequeue, seed)  # fmt: skip
