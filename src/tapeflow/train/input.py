"""Input of 1.x through queues: `tf.train.string_input_producer`, `tf.train.batch` and related functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor, is_symbolic_tensor
from tapeflow.core.public import names_itself, public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.graph import get_default_graph
from tapeflow.ops.array.ranges import range as numbers
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape_v1, size_v1
from tapeflow.ops.control.assertions import Assert
from tapeflow.ops.control.flow import cond_v1, control_dependencies, group, no_op
from tapeflow.ops.indexing.boolean_mask import boolean_mask_v1
from tapeflow.ops.indexing.gather import gather_v1
from tapeflow.ops.io import summary_rows as summary
from tapeflow.ops.io.file import matching_files
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import greater
from tapeflow.ops.queue import queues as queues
from tapeflow.ops.random.functions import shuffle as random_shuffle
from tapeflow.ops.sparse.serialization import (
    deserialize_many_sparse,
    serialize_many_sparse,
    serialize_sparse,
)
from tapeflow.ops.state.variable import VariableV1 as Variable
from tapeflow.ops.static import static_value
from tapeflow.train.queue_runner import QueueRunner, add_queue_runner

_LOCAL = "local_variables"
_EAGER = (
    "Input pipelines based on Queues are not supported when eager execution is enabled. Please use tf.data to ingest "
    "data into your model instead."
)


def refuse_eager():
    """Raises RuntimeError if operations run eagerly."""
    if context.executing_eagerly():
        raise RuntimeError(_EAGER)


def add_summary(name: str, value: Tensor):
    """A summary of a number of the graph, which joins the collection of summaries."""
    graph = get_default_graph()
    with name_scope(name) as scope:
        graph.add_to_collection("summaries", summary.ScalarSummary(scope.rstrip("/"), value))


@public
@names_itself
def match_filenames_once(pattern: str, name: str | None = None):
    """A local variable with the names of files that match, found when it is initialised."""
    with name_scope(name or "matching_filenames"):
        return Variable(
            lambda: matching_files(pattern), trainable=False, validate_shape=False, collections=[_LOCAL],
            name=name or "matching_filenames", dtype=dtypes.string,
        )  # fmt: skip


@public
@names_itself
def limit_epochs(tensor: TensorLike, num_epochs: int | None = None, name: str | None = None):
    """`tensor`, whose reading raises OutOfRangeError after `num_epochs` times. Raises ValueError below 1.

    Args:
      tensor: the tensor.
      num_epochs: how often all are given; None: without end.
      name: a name for the operation (optional).
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name or "limit_epochs") as scope:
        epochs = Variable(0, dtype=dtypes.int64, name="epochs", trainable=False, collections=[_LOCAL])
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return identity(tensor, name=scope)


@public
@names_itself
def input_producer(
    input_tensor: Any, element_shape=None, num_epochs: int | None = None, shuffle: bool = True,
    seed: int | None = None, capacity: int = 32, shared_name: str | None = None, summary_name: str | None = None,
    name: str | None = None, cancel_op=None,
):  # fmt: skip
    """A queue of the rows of a tensor, filled by a QueueRunner.

    Args:
      element_shape: of a row, where the tensor does not say.
      num_epochs: how often the rows come; None: without end. Its count is a local variable.
      shuffle, seed: whether and how rows are shuffled within each epoch.
      summary_name: of a summary of how full the queue is.

    Raises RuntimeError if operations run eagerly, ValueError for rows of unknown shape.
    """
    refuse_eager()
    with name_scope(name or "input_producer"):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(TensorShape(element_shape))
        if not element_shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                             "specified")  # fmt: skip
        if shuffle:
            input_tensor = random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = queues.FIFOQueue(
            capacity, dtypes=[input_tensor.dtype.base_dtype], shapes=[element_shape], shared_name=shared_name,
            name=name or "input_producer",
        )  # fmt: skip
        fill = queue.enqueue_many([input_tensor])
        add_queue_runner(QueueRunner(queue, [fill], cancel_op=cancel_op))
        if summary_name is not None:
            add_summary(summary_name, cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


@public
@names_itself
def string_input_producer(
    string_tensor: Any, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
    capacity: int = 32, shared_name: str | None = None, name: str | None = None, cancel_op=None,
):  # fmt: skip
    """A queue of strings, such as names of files, filled by a QueueRunner.

    Raises RuntimeError if operations run eagerly, ValueError for no strings.

    Args:
      string_tensor: a vector of strings.
      num_epochs: how often all are given; None: without end.
      shuffle: whether each epoch has an order of its own.
      seed: of the order (optional).
      capacity: how many elements the queue holds.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
      cancel_op: an operation that closes the queue (optional).
    """
    refuse_eager()
    complaint = "string_input_producer requires a non-null input tensor"
    if not is_symbolic_tensor(string_tensor) and not isinstance(string_tensor, Variable):
        if len(string_tensor) == 0:
            raise ValueError(complaint)
    with name_scope(name or "input_producer") as scope:
        string_tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        with control_dependencies([Assert(greater(size_v1(string_tensor), 0), [complaint])]):
            string_tensor = identity(string_tensor)
        return input_producer(
            string_tensor, [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", scope, cancel_op,
        )  # fmt: skip


@public
@names_itself
def range_input_producer(
    limit: TensorLike, num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
    capacity: int = 32, shared_name: str | None = None, name: str | None = None,
):
    """A queue of the numbers below `limit`, filled by a QueueRunner.

    Args:
      limit: the number of numbers.
      num_epochs: how often all are given; None: without end.
      shuffle: whether each epoch has an order of its own.
      seed: of the order (optional).
      capacity: how many elements the queue holds.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
    """
    with name_scope(name or "input_producer") as scope:
        return input_producer(
            numbers(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", scope,
        )  # fmt: skip


@public
@names_itself
def slice_input_producer(
    tensor_list: Sequence[Any], num_epochs: int | None = None, shuffle: bool = True, seed: int | None = None,
    capacity: int = 32, shared_name: str | None = None, name: str | None = None,
):
    """A row of each of the tensors, the same of all, taken from a queue of the rows' numbers.

    Raises ValueError for no tensors.

    Args:
      tensor_list: tensors of one first dimension.
      num_epochs: how often all are given; None: without end.
      shuffle: whether each epoch has an order of its own.
      seed: of the order (optional).
      capacity: how many elements the queue holds.
      shared_name: a name under which sessions share the queue (optional).
      name: a name for the operation (optional).
    """
    refuse_eager()
    with name_scope(name or "input_producer"):
        tensors = [convert_to_tensor(x) for x in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(
            shape_v1(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name
        )
        index = queue.dequeue()
        return [gather_v1(x, index) for x in tensors]


# Batches.


def as_list(tensors):
    """The values of a list, or of a dict by its sorted keys."""
    if isinstance(tensors, dict):
        tensors = [tensors[key] for key in sorted(tensors, key=str)]
    return [x if isinstance(x, SparseTensor) else convert_to_tensor(x) for x in tensors]


def as_stored(values: Any, many: bool):
    """The values as tensors that queues can hold, sparse ones serialized."""
    found = []
    for x in values:
        if isinstance(x, SparseTensor):
            x = serialize_many_sparse(x) if many else serialize_sparse(x)
            x.set_shape([None, 3] if many else [3])
        found.append(x)
    return found


def as_given(tensors: TensorLike, values: Sequence[Any], many: bool):
    """What a queue gave, with sparse tensors in the places of those in `values`."""
    listed = tensors if isinstance(tensors, list) else [tensors]
    found = []
    for x, value in zip(listed, values, strict=True):
        if isinstance(value, SparseTensor):
            rank = value.dense_shape.shape.as_list()[0] if value.dense_shape.shape.rank else None
            element = rank if rank is None else rank - many
            x = deserialize_many_sparse(x, value.dtype, element)
            if element is not None:
                x.indices.set_shape([None, element + 1])
                x.dense_shape.set_shape([element + 1])
        found.append(x)
    return found if isinstance(tensors, list) else found[0]


def in_structure_of(original: Sequence[Any] | dict[str, Any], tensors: TensorLike | SparseTensor):
    """The tensors, as a dict where `original` is one."""
    if not isinstance(original, dict):
        return tensors
    keys = sorted(original, key=str)
    return dict(zip(keys, tensors if isinstance(tensors, list) else [tensors], strict=True))


def common_shapes(lists: Sequence[Any], shapes, many: bool):
    """The shapes of elements that all lists have in common."""
    if shapes is not None:
        return [TensorShape(s) for s in shapes]
    found = []
    for column in zip(*lists, strict=True):
        known = [x.shape for x in column]
        for x in column:
            if x.shape.rank is None:
                raise ValueError(f"Cannot infer Tensor's rank: {x}")
        if many:
            known = [s.with_rank_at_least(1)[1:] for s in known]
        common = known[0]
        for other in known[1:]:
            common = queues.common(common, other)
        found.append(common)
    return found


def checked_keep(keep_input: Tensor | bool, many: bool):
    """A bool scalar, or with `many` a vector. Raises ValueError for other shapes."""
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.rank
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


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
