"""`tf.contrib.data`: transformations from before they were `tf.data.experimental` or methods of Dataset."""

from tapeflow.data.dataset import AUTOTUNE
from tapeflow.data.experimental import (
    Counter,
    CsvDataset,
    Optional,
    RandomDataset,
    Reducer,
    SqlDataset,
    TFRecordWriter,
    bucket_by_sequence_length,
    choose_from_datasets,
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_next_as_optional,
    get_single_element,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    make_batched_features_dataset,
    make_csv_dataset,
    make_saveable_from_iterator,
    map_and_batch,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    rejection_resample,
    sample_from_datasets,
    scan,
    shuffle_and_repeat,
    unbatch,
    unique,
)
from tapeflow.data.stacking import as_shape

__all__ = [
    "AUTOTUNE",
    "Counter",
    "CsvDataset",
    "Optional",
    "RandomDataset",
    "Reducer",
    "SqlDataset",
    "TFRecordWriter",
    "assert_element_shape",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sliding_window_batch",
    "sloppy_interleave",
    "unbatch",
    "unique",
]


def batch_and_drop_remainder(batch_size):
    """A transformation: batches of exactly `batch_size` elements."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    """A transformation: padded batches of exactly `batch_size` elements."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride=1):
    """A transformation: batches of `window_size` elements, `window_stride` apart, every `window_shift` elements."""
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = window_shift if stride is None else stride
    return lambda dataset: dataset.window(
        window_size, 1 if shift is None else shift, window_stride, drop_remainder=True
    ).flat_map(_one_batch(window_size))


def _one_batch(size):
    def batched(*windows):
        from tapeflow.data.dataset import Dataset

        batches = tuple(window.batch(size) for window in windows)
        return batches[0] if len(batches) == 1 else Dataset.zip(batches)

    return batched


def sloppy_interleave(map_func, cycle_length, block_length=1):
    """A transformation: `parallel_interleave` that need not keep the order of elements."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def assert_element_shape(expected_shapes):
    """A transformation: elements whose tensors are known to be of the shapes given. Raises ValueError where not."""

    def check(*parts):
        from tapeflow.core import nest

        element = parts if len(parts) > 1 else parts[0]
        shapes = [as_shape(shape) for shape in nest.flatten(expected_shapes)]
        for tensor, shape in zip(nest.flatten(element), shapes, strict=True):
            tensor.set_shape(shape)
        return element

    return lambda dataset: dataset.map(check)
