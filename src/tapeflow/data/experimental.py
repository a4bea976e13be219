"""`tf.data.experimental`: names from before they became methods of Dataset."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.data.arguments import integer
from tapeflow.data.dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from tapeflow.data.iterating import Optional, ThreadingOptions, single_element

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Counter",
    "Optional",
    "ThreadingOptions",
    "assert_cardinality",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "enumerate_dataset",
    "from_list",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_window",
    "map_and_batch",
    "parallel_interleave",
    "prefetch_to_device",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "take_while",
    "unbatch",
    "unique",
]


def Counter(start=0, step=1, dtype=dtypes.int64):
    """start, start + step, ... without end."""
    return Dataset.counter(start, step, dtype)


def cardinality(dataset):
    """The number of elements of a dataset as an int64 scalar."""
    return dataset.cardinality()


def assert_cardinality(expected_cardinality):
    """A transformation that declares the number of elements of its dataset."""
    size = integer(expected_cardinality, "AssertCardinalityDataset")
    return lambda dataset: Dataset(
        "AssertCardinality", dataset._start, lambda: dataset.element_spec, size, dataset._rows
    )


def get_structure(dataset_or_iterator):
    """The element spec of a dataset or an iterator."""
    return dataset_or_iterator.element_spec


def get_single_element(dataset):
    """The only element of a dataset."""
    return single_element(dataset)


def get_next_as_optional(iterator):
    """The next element of an iterator, as an Optional."""
    return iterator.get_next_as_optional()


def from_list(elements, name=None):
    """A dataset of the elements of a non-empty list."""
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    first = Dataset.from_tensors(elements[0])
    return Dataset(
        "List",
        lambda: (e for x in elements for e in Dataset.from_tensors(x)),
        lambda: first.element_spec,
        len(elements),
    )


def unbatch():
    """A transformation: see Dataset.unbatch."""
    return lambda dataset: dataset.unbatch()


def unique():
    """A transformation: see Dataset.unique."""
    return lambda dataset: dataset.unique()


def scan(initial_state, scan_func):
    """A transformation: see Dataset.scan."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate):
    """A transformation: see Dataset.take_while."""
    return lambda dataset: dataset.take_while(predicate)


def enumerate_dataset(start=0):
    """A transformation: see Dataset.enumerate."""
    return lambda dataset: dataset.enumerate(start)


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    """A transformation: see Dataset.group_by_window."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def bucket_by_sequence_length(*args, **kwargs):
    """A transformation: see Dataset.bucket_by_sequence_length."""
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **kwargs)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """A transformation: shuffles, then repeats."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func,
    batch_size,
    num_parallel_batches=None,
    drop_remainder=False,
    num_parallel_calls=None,
):
    """A transformation: maps, then batches."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


def parallel_interleave(
    map_func,
    cycle_length,
    block_length=1,
    sloppy=False,
    buffer_output_elements=None,
    prefetch_input_elements=None,
):
    """A transformation: see Dataset.interleave."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def prefetch_to_device(device, buffer_size=None):
    """A transformation: see Dataset.prefetch."""
    return lambda dataset: dataset.prefetch(buffer_size)


sample_from_datasets = Dataset.sample_from_datasets
choose_from_datasets = Dataset.choose_from_datasets
