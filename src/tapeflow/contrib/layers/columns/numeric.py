"""Columns of numbers, and of the ranges that these are in."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tapeflow.contrib.layers.columns.base import _FeatureColumn
from tapeflow.contrib.layers.columns.categorical import _Categorical
from tapeflow.contrib.layers.columns.ranks import with_rank
from tapeflow.core import dtypes
from tapeflow.core.annotations import Collections, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.feature_column.bucketized import ids_of_ranges
from tapeflow.feature_column.column import DenseColumn, IdWeightPair
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.io.example_features import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from tapeflow.ops.math.casting import cast
from tapeflow.ops.statistics.histogram import Bucketize

if TYPE_CHECKING:
    from tapeflow.contrib.layers.columns.base import Features


class _Numbers(_FeatureColumn):
    """What columns of numbers share."""

    _free = ("normalizer",)
    column_name: Any
    normalizer: Any

    @property
    def name(self):
        return self.column_name

    @property
    def parents(self):
        return [self.column_name]

    @property
    def normalizer_fn(self):
        """What the numbers go through, or None."""
        return self.normalizer

    def _normalized(self, found: Tensor):
        return found if self.normalizer is None else self.normalizer(found)

    def for_network(self, tensor: Any, state_manager, output_rank: int):
        return self._to_dnn_input_layer(tensor, output_rank=output_rank)

    def _to_dnn_input_layer(
        self, input_tensor: Tensor, weight_collections: Collections | None = None, trainable: bool = True,
        output_rank: int = 2,
    ):
        dense = cast(self.for_dense_weights(input_tensor), dtypes.float32)
        return with_rank(dense, output_rank, self.name)


class _RealValuedVarLenColumn(
    _Numbers,
    namedtuple(
        "_RealValuedVarLenColumn",
        ["column_name", "default_value", "dtype", "normalizer", "is_sparse"],
    ),
):
    """See `_real_valued_var_len_column`."""

    @property
    def config(self):
        if self.is_sparse:
            return {self.column_name: VarLenFeature(self.dtype)}
        return {self.column_name: FixedLenSequenceFeature([], self.dtype, True, self.default_value)}

    def transform_feature(self, transformation_cache, state_manager):
        found = transformation_cache.get(self.column_name, state_manager)
        if not self.is_sparse:
            return cast(self._normalized(found), dtypes.float32)
        values = cast(self._normalized(found.values), dtypes.float32)
        return SparseTensor(found.indices, values, found.dense_shape)

    def for_dense_weights(self, tensor: TensorLike):
        if self.is_sparse:
            raise ValueError(
                f"Set is_sparse to False if you want a dense Tensor for column_name: {self.name}"
            )
        return tensor


def _real_valued_var_len_column(
    column_name: str, default_value=None, dtype: DType = dtypes.float32, normalizer=None, is_sparse: bool = False
):
    """As many numbers as an example has: sparse, or dense and filled up with `default_value`.

    Raises TypeError for a non-numeric dtype, ValueError for a default value that is missing or a list.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(
            f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}"
        )
    if default_value is None and not is_sparse:
        raise ValueError(
            f"default_value must be provided when is_sparse=False to parse a padded Tensor. column_name: {column_name}"
        )
    if isinstance(default_value, list):
        raise ValueError(
            f"Only scalar default value. default_value: {default_value}, column_name: {column_name}"
        )
    if default_value is not None:
        default_value = int(default_value) if dtype.is_integer else float(default_value)
    return _RealValuedVarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)


class _RealValuedColumn(
    _Numbers,
    DenseColumn,
    namedtuple(
        "_RealValuedColumn", ["column_name", "dimension", "default_value", "dtype", "normalizer"]
    ),
):
    """See `real_valued_column`."""

    @property
    def config(self):
        default = self.default_value if self.default_value is None else list(self.default_value)
        return {self.column_name: FixedLenFeature([self.dimension], self.dtype, default)}

    @property
    def variable_shape(self):
        return TensorShape([self.dimension])

    def transform_feature(self, transformation_cache, state_manager):
        return cast(
            self._normalized(transformation_cache.get(self.name, state_manager)), dtypes.float32
        )

    def get_dense_tensor(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager)

    def for_dense_weights(self, tensor: TensorLike):
        return convert_to_tensor(tensor)


def _default_of(default, dimension: int, dtype, about: str):
    """A default value as a tuple of `dimension` numbers of the dtype; None stays None."""
    if default is None:
        return None
    numbers = [default] * dimension if isinstance(default, (int, float)) else default
    if isinstance(numbers, list):
        if len(numbers) != dimension:
            raise ValueError(
                "The length of default_value must be equal to dimension. "
                f"default_value: {default}, dimension: {dimension}, {about}"
            )
        if all(isinstance(each, int) for each in numbers):
            return tuple(numbers) if dtype.is_integer else tuple(map(float, numbers))
        if dtype.is_floating and all(isinstance(each, (int, float)) for each in numbers):
            return tuple(map(float, numbers))
    raise TypeError(
        f"default_value must be compatible with dtype. default_value: {default}, dtype: {dtype}, {about}"
    )


def real_valued_column(
    column_name: str, dimension: float = 1, default_value: TensorLike | None = None, dtype=dtypes.float32,
    normalizer: Callable[..., Any] | None = None,
):
    """`dimension` numbers as float32, through `normalizer` if there is one.

    `default_value` is for examples without the feature. Raises ValueError or TypeError for a dimension that is no
    positive integer, a non-numeric dtype, and a default value that does not fit them.
    """
    about = f"column_name: {column_name}"
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, {about}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, {about}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, {about}")
    default = _default_of(default_value, dimension, dtype, about)
    return _RealValuedColumn(column_name, dimension, default, dtype, normalizer)


class _BucketizedColumn(
    _Categorical,
    DenseColumn,
    _FeatureColumn,
    namedtuple("_BucketizedColumn", ["source_column", "boundaries"]),
):
    """See `bucketized_column`."""

    combiner = "sum"

    @property
    def name(self):
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self):
        """The number of ranges."""
        return len(self.boundaries) + 1

    @property
    def num_buckets(self):
        return self.length * self.source_column.dimension

    @property
    def config(self):
        return self.source_column.config

    @property
    def parents(self):
        return [self.source_column]

    @property
    def variable_shape(self):
        return TensorShape([self.num_buckets])

    def transform_feature(self, transformation_cache, state_manager):
        found = transformation_cache.get(self.source_column, state_manager)
        return Bucketize(found, boundaries=list(self.boundaries))

    def to_sparse_tensor(self, input_tensor: Tensor):
        """The ranges as ids; each element of the source has its own."""
        return ids_of_ranges(input_tensor, self.length, self.source_column.dimension)

    def get_sparse_tensors(self, transformation_cache: Features, state_manager):
        return IdWeightPair(
            self.to_sparse_tensor(transformation_cache.get(self, state_manager)), None
        )

    def get_dense_tensor(self, transformation_cache, state_manager):
        return self._to_dnn_input_layer(transformation_cache.get(self, state_manager))

    def for_network(self, tensor: Any, state_manager, output_rank):
        return self._to_dnn_input_layer(tensor, output_rank=output_rank)

    def _to_dnn_input_layer(
        self, input_tensor: Tensor, weight_collections: Collections | None = None, trainable: bool = True,
        output_rank: int = 2,
    ):
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        hot = one_hot(cast(input_tensor, dtypes.int64), self.length, on_value=1.0, off_value=0.0)
        return reshape(hot, [-1, self.num_buckets])


def bucketized_column(source_column: Any, boundaries: Sequence[float]):
    """The range that a number of a real-valued column is in, by the ascending `boundaries`.

    A range includes its lower end; boundaries that repeat count once. Raises TypeError for other columns, ValueError
    for boundaries that descend.
    """
    if not isinstance(source_column, _RealValuedColumn):
        raise TypeError(
            f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}"
        )
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    if any(a > b for a, b in pairwise(boundaries)):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return _BucketizedColumn(source_column, tuple(dict.fromkeys(boundaries)))
