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
from tapeflow.data.parts import kind_of, rows_of, size_of
from tapeflow.data.sources import values as sources
from tapeflow.data.transform import batching, grouping
from tapeflow.data.transform.asserting import asserted
from tapeflow.data.transform.folding import fold_specs
from tapeflow.data.transform.record import spread_specs
from tapeflow.data.transform.tracing import Traced
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
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
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
    size = size_of(dataset)
    if size < 0:
        known = "infinite" if size == INFINITE_CARDINALITY else "unknown"
        raise FailedPreconditionError(
            None, None,
            f"Dataset of type {kind_of(dataset)}DatasetOp::Dataset has {known} cardinality, which does not support "
            "random access. [Op:GetElementAtIndex]",
        )  # fmt: skip
    if number < 0 or 0 <= size <= number:
        raise OutOfRangeError(
            None, None, f"Index out of range [0, {size}):{number} [Op:GetElementAtIndex]"
        )
    rows = rows_of(dataset)
    if rows is not None and kind_of(dataset) in ("TensorSlice", "Range"):
        return element.map_leaves(lambda column: column[number], rows.columns)
    for value in dataset.skip(number)._start():
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


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size=None,
    window_size_func: Callable[..., Any] | None = None,
):
    """Make a transformation: see `Dataset.group_by_window`.

    Args:
      key_func: a function of an element that gives an int64 scalar.
      reduce_func: a function of a key and a dataset of elements that gives a dataset.
      window_size: how many elements of a key make a dataset.
      window_size_func: a function of a key that gives that number, instead of `window_size`.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def bucket_by_sequence_length(
    element_length_func,
    bucket_boundaries,
    bucket_batch_sizes,
    padded_shapes=None,
    padding_values=None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
):
    """Make a transformation: see `Dataset.bucket_by_sequence_length`.

    Args:
      element_length_func: a function of an element that gives its length, an int32 or int64 scalar.
      bucket_boundaries: the ascending lengths that buckets begin with.
      bucket_batch_sizes: the batch size of each bucket, one more than boundaries.
      padded_shapes: as that of `padded_batch`.
      padding_values: as that of `padded_batch`.
      pad_to_bucket_boundary: whether elements are padded to the length before the next bucket, instead of to the
        longest of the batch.
      no_padding: whether elements of a batch have one length anyway.
      drop_remainder: whether a last batch that is smaller is left out.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


class Reducer:
    """What `group_by_reducer` does with the elements of a key.

    Args:
      init_func: a function of the key that gives the first state.
      reduce_func: a function of the state and an element that gives the next state.
      finalize_func: a function of the last state that gives the result.
    """

    def __init__(
        self, init_func: Callable[..., Any], reduce_func: Callable[..., Any], finalize_func: Callable[..., Any]
    ):
        self._init_func = init_func
        self._reduce_func = reduce_func
        self._finalize_func = finalize_func

    @property
    def init_func(self):
        """The first state, of a key."""
        return self._init_func

    @property
    def reduce_func(self):
        """The next state, of a state and an element."""
        return self._reduce_func

    @property
    def finalize_func(self):
        """The result, of the last state."""
        return self._finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer):
    """Make a transformation: one result for each key, of a fold over its elements, in the order of the keys.

    Args:
      key_func: a function of an element that gives an int64 scalar.
      reducer: a `Reducer`.

    Returns:
      A function for `Dataset.apply`.
    """

    def apply(dataset: Dataset):
        specs, spread = spread_specs(dataset)
        name = "group_by_reducer"
        key = Traced(key_func, specs, name, spread)
        init = Traced(reducer.init_func, [grouping.KEY], name, False)
        reduce, kept = fold_specs(reducer.reduce_func, init.spec, dataset.element_spec, "reduce")
        spread = type(kept) is tuple
        finalize = Traced(reducer.finalize_func, list(kept) if spread else [kept], name, spread)
        return grouping.reduced_by_key(dataset, key, init, reduce, finalize)

    return apply


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


def map_and_batch(
    map_func: Callable[..., Any], batch_size: int, num_parallel_batches=None, drop_remainder: bool = False,
    num_parallel_calls=None,
):
    """Make a transformation: map, then batch. An error in an element is one of its whole batch.

    Args:
      map_func: a function of an element.
      batch_size: how many elements a batch has.
      num_parallel_batches: how many batches are made at once.
      drop_remainder: whether a last batch that is smaller is left out.
      num_parallel_calls: how many calls run at once; not together with the number of batches.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: where both kinds of parallelism are given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, but "
            f"`num_parallel_batches` was set to {num_parallel_batches} and `num_parallel_calls` as set to "
            f"{num_parallel_calls}."
        )
    calls = num_parallel_calls
    if calls is None and num_parallel_batches is not None:
        calls = -1
    return lambda dataset: batching.batched_whole(dataset.map(map_func, calls), batch_size, drop_remainder)


map_and_batch_with_legacy_function = map_and_batch


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


def dense_to_ragged_batch(batch_size: int, drop_remainder: bool = False, row_splits_dtype=dtypes.int64):
    """Make a transformation: see `Dataset.ragged_batch`.

    Args:
      batch_size: how many elements a batch has.
      drop_remainder: whether a last batch that is smaller is left out.
      row_splits_dtype: int32 or int64, the dtype of the ragged tensors' row splits.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: int, row_shape):
    """Make a transformation: see `Dataset.sparse_batch`.

    Args:
      batch_size: how many elements a batch has.
      row_shape: the shape of a row of the batch, which elements may not exceed.

    Returns:
      A function for `Dataset.apply`.
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


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


def pad_to_cardinality(cardinality: int, mask_key: str = "valid"):
    """Make a transformation of datasets of dicts: fill up with elements of zeros, and mark those that are real.

    Args:
      cardinality: how many elements there are in all.
      mask_key: the key that says whether an element is real.

    Returns:
      A function for `Dataset.apply`.
    """

    def apply(dataset: Dataset):
        spec = dataset.element_spec
        size = size_of(dataset)
        if not hasattr(spec, "keys"):
            raise ValueError(f"`pad_to_cardinality` requires its input dataset to be a dictionary, not {spec}.")
        if size == -2:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has cardinality -2"
            )
        if size == -1 or size > cardinality:
            raise ValueError(
                f"The dataset passed into `pad_to_cardinality` must have a cardinalty less than the target "
                f"cardinality ({cardinality}), but has cardinality {size}"
            )
        blank = element.unflatten(spec, iter(leaves.blank(spec)))
        true = dataset.map(lambda features: {**features, mask_key: True})
        false = Dataset.from_tensors({**blank, mask_key: False}).repeat(cardinality - size)
        return true.concatenate(false).apply(assert_cardinality(cardinality))

    return apply


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
