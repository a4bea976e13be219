"""What all feature columns are: descriptions of how raw features become tensors, without state of their own."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from tapeflow.core.deserialization import deserializing


def _serialization() -> ModuleType:
    from tapeflow.feature_column import serialization  # a circle: it is made of this module

    return serialization


# Ids of categories and, where the column has them, a weight of each: sparse tensors of one structure.
IdWeightPair = namedtuple("IdWeightPair", ["id_tensor", "weight_tensor"])
TensorSequenceLengthPair = namedtuple("TensorSequenceLengthPair", ["dense_tensor", "sequence_length"])

# The classes that a configuration may name.
classes: dict[str, type] = {}


class FeatureColumn:
    """Base of the columns, which are named tuples of what describes them."""

    _is_v2_column = True

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if hasattr(cls, "_fields"):
            classes[cls.__name__] = cls

    # Names sort columns only where programs do not; tuples would compare what cannot be compared.
    def __lt__(self, other):
        return str(self) < str(other)

    def __gt__(self, other):
        return str(self) > str(other)

    @property
    def name(self) -> str:
        """A name that is unique among the columns of a layer."""
        raise NotImplementedError

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs to know to find the raw features."""
        raise NotImplementedError

    @property
    def parents(self) -> list[Any]:
        """The columns, or the keys of raw features, that this one is made of."""
        raise NotImplementedError

    def transform_feature(self, transformation_cache, state_manager):
        """The column's tensor; `transformation_cache` gives raw features and those of other columns."""
        raise NotImplementedError

    def create_state(self, state_manager):
        """Makes the variables of the column, if it has any."""

    def get_config(self):
        """The column as plain data."""
        return _serialization().config_of(self)

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None,
        columns_by_name: dict[str, Any] | None = None,
    ):
        """A column from plain data. Raises ValueError for other keys than those of `get_config`."""
        column_of = _serialization().column_of
        with deserializing():
            return column_of(cls, config, custom_objects, columns_by_name)


class DenseColumn(FeatureColumn):
    """A column of dense tensors [batch, *variable_shape]."""

    @property
    def variable_shape(self):
        """The shape of the tensor of one example."""
        raise NotImplementedError

    def get_dense_tensor(self, transformation_cache, state_manager):
        """The tensor of a batch."""
        raise NotImplementedError


class CategoricalColumn(FeatureColumn):
    """A column of ids below `num_buckets`."""

    IdWeightPair = IdWeightPair

    @property
    def num_buckets(self):
        """The number of categories."""
        raise NotImplementedError

    def get_sparse_tensors(self, transformation_cache, state_manager):
        """The IdWeightPair of a batch."""
        return IdWeightPair(transformation_cache.get(self, state_manager), None)


class SequenceDenseColumn(FeatureColumn):
    """A column of dense tensors [batch, time, ...], and of the length of each sequence."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        """The TensorSequenceLengthPair of a batch."""
        raise NotImplementedError


def normalized(feature_columns: Sequence[Any], kinds: Any = FeatureColumn, kind: str = "FeatureColumn") -> list[Any]:
    """The columns, sorted by name. Raises ValueError for what is none, for none at all, and for a name used twice."""
    if isinstance(feature_columns, kinds):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in feature_columns:
        if not isinstance(column, kinds):
            raise ValueError(f"Items of feature_columns must be a {kind}. Given (type {type(column)}): {column}.")
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    found: dict[str, Any] = {}
    for column in feature_columns:
        if column.name in found:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {found[column.name]}. This usually "
                "means that these columns refer to same base feature. Either one must be discarded or a duplicated "
                "but renamed item must be inserted in features dict."
            )
        found[column.name] = column
    return sorted(feature_columns, key=lambda column: column.name)
