"""`tf.data` with the functions of 1.x."""

from __future__ import annotations

from tapeflow.core.public import boundaries
from tapeflow.data import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Dataset,
    DatasetSpec,
    FixedLengthRecordDataset,
    NumpyIterator,
    Options,
    TextLineDataset,
    TFRecordDataset,
    ThreadingOptions,
)
from tapeflow.data import experimental_v1 as experimental
from tapeflow.data.iteration.graph_iterating import GraphIterator as Iterator

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
    "get_output_classes",
    "get_output_shapes",
    "get_output_types",
    "make_initializable_iterator",
    "make_one_shot_iterator",
]


def make_one_shot_iterator(dataset):
    """An iterator over a dataset, with `get_next()`."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset, shared_name: str | None = None):
    """An iterator over a dataset that `initializer` starts again."""
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator):
    """The structure of dtypes of an element."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator):
    """The structure of shapes of an element."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator):
    """The structure of Python classes of an element."""
    return dataset_or_iterator.output_classes


boundaries(globals())
