"""`tf.feature_column.sequence_categorical_column_*`: categories in sequences."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.public import public
from tapeflow.feature_column.column import CategoricalColumn, IdWeightPair
from tapeflow.feature_column.hashed import categorical_column_with_hash_bucket
from tapeflow.feature_column.identity import categorical_column_with_identity
from tapeflow.feature_column.vocabulary import (
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_prod
from tapeflow.ops.math.rounding import ceil
from tapeflow.ops.math.segment_functions import segment_max
from tapeflow.ops.sparse import shaping

if TYPE_CHECKING:
    from tapeflow.core.sparse_tensor import SparseTensor
    from tapeflow.feature_column.cache import FeatureTransformationCache
    from tapeflow.feature_column.embedding import EmbeddingColumn
    from tapeflow.feature_column.indicator import IndicatorColumn
    from tapeflow.feature_column.state import StateManager


class SequenceCategoricalColumn(
    CategoricalColumn, namedtuple("SequenceCategoricalColumn", ("categorical_column",))
):
    """The categories of another column with an axis of time: ids [batch, time, n]."""

    @property
    def name(self):
        return self.categorical_column.name

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def parents(self):
        return [self.categorical_column]

    @property
    def num_buckets(self):
        return self.categorical_column.num_buckets

    def transform_feature(self, transformation_cache, state_manager):
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ):
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        sizes = shape_of(ids)
        wanted = stack([sizes[0], sizes[1], reduce_prod(sizes[2:])])
        if weights is not None:
            weights = shaping.reshape(weights, wanted)
        return IdWeightPair(shaping.reshape(ids, wanted), weights)


def lengths_of(sequences: SparseTensor, elements: int = 1):
    """The length of each row of a sparse tensor [batch, time, ...], of steps of that many `elements`."""
    # Each row ends with its last element that is there; rows without any come after the others' segments.
    ends = segment_max(sequences.indices[:, 1] + 1, sequences.indices[:, 0])
    steps = cast(ceil(ends / elements), dtypes.int64)
    missing = shape_of(sequences)[:1] - shape_of(steps)[:1]
    return concat([steps, zeros(missing, dtype=steps.dtype)], axis=0)


def refuse_sequence(column: Any, function: str, state_manager: Any) -> None:
    """Raises ValueError where a column of sequences is to give a tensor without time."""
    source = column.categorical_column
    if isinstance(source, SequenceCategoricalColumn):
        raise ValueError(
            f"In {function}: {column.name}. categorical_column must not be of type "
            f"{getattr(state_manager, 'prefix', '')}SequenceCategoricalColumn. "
            "Suggested fix A: If you wish to use DenseFeatures, use a non-sequence categorical_column_with_*. "
            "Suggested fix B: If you wish to create sequence input, use SequenceFeatures instead of DenseFeatures. "
            f"Given (type {type(source)}): {source}"
        )


def require_sequence(column: EmbeddingColumn | IndicatorColumn, function: str) -> None:
    """Raises ValueError where a column without time is to give sequences."""
    source = column.categorical_column
    if not isinstance(source, SequenceCategoricalColumn):
        raise ValueError(
            f"In {function}: {column.name}. categorical_column must be of type SequenceCategoricalColumn to use "
            "SequenceFeatures. Suggested fix: Use one of sequence_categorical_column_with_*. "
            f"Given (type {type(source)}): {source}"
        )


@public
def sequence_categorical_column_with_identity(key: str, num_buckets: int, default_value: int | None = None):
    """Make a `categorical_column_with_identity` of sequences.

    Args:
      key: the name of the feature.
      num_buckets: the number of ids; integers are from 0 to below it.
      default_value: the id of all others; None where there must not be any.

    Returns:
      A column.
    """
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


@public
def sequence_categorical_column_with_hash_bucket(
    key: TensorLike, hash_bucket_size, dtype: DTypeLike = dtypes.string
):
    """Make a `categorical_column_with_hash_bucket` of sequences.

    Args:
      key: the name of the feature.
      hash_bucket_size: the number of ids, above 0.
      dtype: the dtype of the feature, string or an integer.

    Returns:
      A column.
    """
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


@public
def sequence_categorical_column_with_vocabulary_file(
    key: TensorLike, vocabulary_file, vocabulary_size=None, num_oov_buckets: int = 0, default_value=None,
    dtype: DTypeLike = dtypes.string,
):
    """Make a `categorical_column_with_vocabulary_file` of sequences.

    Args:
      key: the name of the feature.
      vocabulary_file: the file.
      vocabulary_size: how many lines count; None for all.
      num_oov_buckets: into how many ids behind the others values that are not in the file are hashed.
      default_value: the id of such values where there are no buckets; None for none.
      dtype: the dtype of the feature, string or an integer.

    Returns:
      A column.
    """
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
        )
    )


@public
def sequence_categorical_column_with_vocabulary_list(
    key: TensorLike, vocabulary_list: Sequence[str], dtype: DTypeLike | None = None, default_value: int = -1,
    num_oov_buckets: int = 0,
):
    """Make a `categorical_column_with_vocabulary_list` of sequences.

    Args:
      key: the name of the feature.
      vocabulary_list: the values, each once.
      dtype: the dtype of the feature; None for that of the list.
      default_value: the id of values that are not among them; -1 for none.
      num_oov_buckets: into how many ids behind the others such values are hashed, instead.

    Returns:
      A column.
    """
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    )
