"""Queues of 1.x that give strings, numbers and slices of tensors, in epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor, is_symbolic_tensor
from tapeflow.core.public import names_itself, public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.array.ranges import range as numbers
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape_v1, size_v1
from tapeflow.ops.control.assert_op import Assert
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.gather import gather_v1
from tapeflow.ops.io import summary_rows as summary
from tapeflow.ops.io.file import matching_files
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import greater
from tapeflow.ops.queue import queues as queues
from tapeflow.ops.random.functions import shuffle as random_shuffle
from tapeflow.ops.state.variable import VariableV1 as Variable
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
