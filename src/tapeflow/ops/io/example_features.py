"""What to expect under a key of an example."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tapeflow.api import api, api_value
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.core.dtypes import DType

VarLenFeature = namedtuple("VarLenFeature", ["dtype"])
api_value("VarLenFeature", "io.VarLenFeature", v1="VarLenFeature")
VarLenFeature.__doc__ = "A feature of any number of values: a sparse tensor."


@api("io.SparseFeature", v1="SparseFeature")
class SparseFeature(
    namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])
):
    """Two features that make a sparse tensor of the size `size`: the indices and the values."""

    def __new__(cls, index_key, value_key, dtype: DTypeLike, size, already_sorted: bool = False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


@api("io.FixedLenFeature", v1="FixedLenFeature")
class FixedLenFeature(namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature of the given shape; without a default value it must be there."""

    def __new__(cls, shape: ShapeLike, dtype: DTypeLike, default_value: Any = None):
        return super().__new__(cls, shape, dtype, default_value)


@api("io.FixedLenSequenceFeature", v1="FixedLenSequenceFeature")
class FixedLenSequenceFeature(
    namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """A feature of any number of values of the given shape, padded with the default value in a batch."""

    def __new__(
        cls, shape: ShapeLike, dtype: DTypeLike, allow_missing: bool = False, default_value: int | None = None
    ):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


@api("io.RaggedFeature", v1="RaggedFeature")
class RaggedFeature(
    namedtuple(
        "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"]
    )
):
    """A feature of any number of values: a ragged tensor, cut further by the features `partitions`."""

    RowSplits = namedtuple("RowSplits", ["key"])
    RowLengths = namedtuple("RowLengths", ["key"])
    RowStarts = namedtuple("RowStarts", ["key"])
    RowLimits = namedtuple("RowLimits", ["key"])
    ValueRowIds = namedtuple("ValueRowIds", ["key"])
    UniformRowLength = namedtuple("UniformRowLength", ["length"])

    def __new__(
        cls, dtype: DTypeLike, value_key=None, partitions: Sequence[Any] = (), row_splits_dtype: DType = dtypes.int32,
        validate: bool = False,
    ):
        partitions = partitions if isinstance(partitions, (list, tuple)) else (partitions,)
        return super().__new__(cls, dtype, value_key, tuple(partitions),
                               dtypes.as_dtype(row_splits_dtype), validate)  # fmt: skip
