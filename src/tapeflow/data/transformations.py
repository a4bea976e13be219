"""Transformations as functions of a dataset, from before they were methods of it: `dataset.apply(unbatch())`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, PathLike, Tensor, TensorLike
from tapeflow.core.device import canonical_name
from tapeflow.core.errors import FailedPreconditionError, OutOfRangeError
from tapeflow.core.public import boundaries
from tapeflow.data import element, leaves
from tapeflow.data.arguments import integer, require
from tapeflow.data.dataset import INFINITE_CARDINALITY, Dataset
from tapeflow.data.parts import parts_of
from tapeflow.data.sources import values as sources
from tapeflow.data.transform.asserting import asserted
from tapeflow.data.transform.shuffling import random_access
from tapeflow.graph.tensor import SymbolicTensor

if TYPE_CHECKING:
    from tapeflow.core.specs.tensor_spec import TensorSpec
    from tapeflow.data.iteration.iterating import Iterator


def Counter(start: int = 0, step: int = 1, dtype: DTypeLike = dtypes.int64):
    """Count without end: start, start + step, ...

    Args:
      start: the first number.
      step: the distance of the numbers.
      dtype: their dtype.

    Returns:
      A dataset.
    """
    return Dataset.counter(start, step, dtype)


class RandomDataset(Dataset):
    """Random int64 scalars of 32 bits, without end.

    Args:
      seed: an integer for the same numbers in every run; None for others.
      rerandomize_each_iteration: whether every pass draws other numbers.
      name: the name of the dataset in a graph.
    """

    _shown_as = "RandomDatasetV2"

    def __init__(self, seed: int | None = None, rerandomize_each_iteration=None, name: str | None = None):
        self.__dict__.update(Dataset.random(seed, rerandomize_each_iteration).__dict__)


def cardinality(dataset):
    """The number of elements of a dataset as an int64 scalar."""
    return dataset.cardinality()


def assert_cardinality(expected_cardinality: TensorLike):
    """A transformation that declares the number of elements of its dataset.

    A pass raises FailedPreconditionError where it has more or fewer.
    """

    return lambda dataset: asserted(dataset, expected_cardinality)


def get_structure(dataset_or_iterator):
    """The element spec of a dataset or an iterator."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator "
            f"object, but got {type(dataset_or_iterator)}."
        ) from None


def get_single_element(dataset):
    """The only element of a dataset."""
    return dataset.get_single_element()


def get_next_as_optional(iterator: Iterator):
    """The next element of an iterator, as an Optional."""
    return iterator.get_next_as_optional()


def from_list(elements: Sequence[Any], name: str | None = None):
    """A dataset of the elements of a non-empty list."""
    return sources.from_list(elements)


def at(dataset, index: int):
    """Find an element of a dataset by its number.

    Args:
      dataset: a `tf.data.Dataset`.
      index: the number, from 0.

    Returns:
      The element.

    Raises:
      OutOfRangeError: for one that is not there.
      FailedPreconditionError: for datasets of which it is not known how many elements they have, or that never end.
    """
    if not context.executing_eagerly():
        from tapeflow.data.nodes import folds_in_graphs  # a circle: its kernel is this function

        found = folds_in_graphs.element_at(dataset, index)
        if found is not None:
            return found
    number = integer(index, "GetElementAtIndex")
    parts = parts_of(dataset)
    size = parts.size
    if size < 0:
        known = "infinite" if size == INFINITE_CARDINALITY else "unknown"
        raise FailedPreconditionError(
            None, None,
            f"Dataset of type {parts.kind}DatasetOp::Dataset has {known} cardinality, which does not support "
            "random access. [Op:GetElementAtIndex]",
        )  # fmt: skip
    if number < 0 or 0 <= size <= number:
        raise OutOfRangeError(
            None, None, f"Index out of range [0, {size}):{number} [Op:GetElementAtIndex]"
        )
    rows = parts_of(dataset).rows
    if rows is not None and parts_of(dataset).kind in ("TensorSlice", "Range"):
        return element.map_leaves(lambda column: column[number], rows.columns)
    with random_access():
        for value in parts_of(dataset.skip(number)).start():
            return value
    raise OutOfRangeError(None, None, f"Index out of range: {number} [Op:GetElementAtIndex]")


def unbatch():
    """A transformation: see Dataset.unbatch."""
    return lambda dataset: dataset.unbatch()


def unique():
    """A transformation: see Dataset.unique."""
    return lambda dataset: dataset.unique()


def ignore_errors(log_warning: bool = False):
    """A transformation: see Dataset.ignore_errors."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def scan(initial_state, scan_func: Callable[..., Any]):
    """Make a transformation: see `Dataset.scan`.

    Args:
      initial_state: the state to start from, a structure of tensors.
      scan_func: a function of the state and an element that gives (the next state, an output).

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]):
    """A transformation: see Dataset.take_while."""
    return lambda dataset: dataset.take_while(predicate)


def enumerate_dataset(start: int = 0):
    """A transformation: see Dataset.enumerate."""
    return lambda dataset: dataset.enumerate(start)


def shuffle_and_repeat(buffer_size: int, count: int | None = None, seed: int | None = None):
    """Make a transformation: shuffle, then repeat.

    Args:
      buffer_size: how many elements the buffer of the shuffle holds.
      count: how many passes; None or -1 for without end.
      seed: an integer for the same order in every run; None for others.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(
    map_func: Callable[..., Any], cycle_length: int, block_length: int = 1, sloppy: bool = False,
    buffer_output_elements: int | str | None = None, prefetch_input_elements: int | None = None,
):
    """Make a transformation: see `Dataset.interleave`. The sizes of the buffers are not those that are given.

    Args:
      map_func: a function of an element that gives a dataset.
      cycle_length: from how many datasets elements are taken in turn.
      block_length: how many elements are taken from a dataset before the next.
      sloppy: whether the order may depend on timing.
      buffer_output_elements: at least 1; nothing depends on it.
      prefetch_input_elements: at least 0; nothing depends on it.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      InvalidArgumentError: for numbers below these.
    """
    op = "LegacyParallelInterleaveDatasetV2"
    for name, value, lowest in (("buffer_output_elements", buffer_output_elements, 1),
                                ("prefetch_input_elements", prefetch_input_elements, 0)):  # fmt: skip
        if value is not None and not isinstance(value, SymbolicTensor):
            require(integer(value, op) >= lowest, f"`{name}` must be >= {lowest}, but is {value}", op)
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, num_parallel_calls=cycle_length, deterministic=not sloppy
    )


def rejection_resample(class_func: Callable[..., Any], target_dist, initial_dist=None, seed: int | None = None):
    """Make a transformation: see `Dataset.rejection_resample`.

    Args:
      class_func: a function of an element that gives the number of its class.
      target_dist: the wanted part of each class, a vector.
      initial_dist: the part of each class in the dataset; None to estimate it.
      seed: an integer; None for other numbers each time.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def snapshot(
    path: PathLike, compression: str = "AUTO", reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
):
    """Make a transformation: see `Dataset.snapshot`.

    Args:
      path: the directory.
      compression: "GZIP", or None for none, for which also "AUTO" and "SNAPPY" stand.
      reader_func: a function of a dataset of datasets, the files, that gives the dataset; None for one after another.
      shard_func: a function of an element that gives the number of its file, an int64 scalar; None for one file.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def save(
    dataset, path: PathLike, compression=None, shard_func: Callable[..., Any] | None = None, checkpoint_args=None
):
    """Write the elements of a dataset to a directory; see `Dataset.save`.

    Args:
      dataset: a `tf.data.Dataset`.
      path: the directory.
      compression: "GZIP", or None for none, for which also "AUTO" and "SNAPPY" stand.
      shard_func: a function of an element that gives the number of its file, an int64 scalar; None for one file.
      checkpoint_args: as those of `Dataset.save`.
    """
    return dataset.save(path, compression, shard_func, checkpoint_args)


def load(path, element_spec=None, compression=None, reader_func: Callable[..., Any] | None = None):
    """Read the dataset that `save` wrote; see `Dataset.load`.

    Args:
      path: the directory.
      element_spec: the structure of an element; None for what was saved with it.
      compression: that of `save`.
      reader_func: a function of a dataset of datasets, the files, that gives the dataset; None for one after another.

    Returns:
      A dataset.
    """
    return Dataset.load(path, element_spec, compression, reader_func)


def prefetch_to_device(device: str, buffer_size: int | None = None):
    """Make a transformation: see `Dataset.prefetch`; there is one device.

    Args:
      device: the name of a device.
      buffer_size: how many elements are made ahead; None for as many as are useful.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: for what names no device.
    """
    canonical_name(device)
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0"):
    """Make a transformation that does nothing: elements are on the only device there is.

    Args:
      target_device: the name of a device.
      source_device: the name of a device.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: for what names no device.
    """
    for device in (target_device, source_device):
        canonical_name(device)
    return lambda dataset: dataset


def to_variant(dataset: Dataset):
    """A variant tensor that holds a dataset."""
    return dataset._variant_tensor


def from_variant(variant: Tensor, structure: TensorSpec):
    """Find the dataset in a variant tensor.

    Args:
      variant: the tensor, as `to_variant` gives it.
      structure: the structure of specs of an element.

    Returns:
      A dataset.
    """
    return leaves.from_tensors(element.DatasetSpec(structure), [variant])


def sample_from_datasets(datasets, weights=None, seed: int | None = None, stop_on_empty_dataset: bool = False):
    """Take elements from datasets that are chosen at random; see `Dataset.sample_from_datasets`.

    Args:
      datasets: a list of datasets of elements of one structure.
      weights: the probability of each, a vector, or a dataset of such; None for equal ones.
      seed: an integer; None for other choices each time.
      stop_on_empty_dataset: whether to end when a chosen dataset has no more elements; if not, the others go on.

    Returns:
      A dataset.
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


choose_from_datasets = Dataset.choose_from_datasets


boundaries(globals())
