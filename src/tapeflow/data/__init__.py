"""`tf.data`: input pipelines."""

from tapeflow.data import experimental
from tapeflow.data.dataset import AUTOTUNE, INFINITE_CARDINALITY, Dataset
from tapeflow.data.element import DatasetSpec
from tapeflow.data.iteration.iterating import Iterator, IteratorSpec, NumpyIterator
from tapeflow.data.options import Options, ThreadingOptions
from tapeflow.data.parts import UNKNOWN_CARDINALITY
from tapeflow.data.sources.records import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "IteratorSpec",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]
