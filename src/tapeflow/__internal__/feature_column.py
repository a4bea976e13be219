"""`tf.__internal__.feature_column`: what layers that take feature columns need."""

from tapeflow.feature_column.cache import FeatureTransformationCache
from tapeflow.feature_column.column import DenseColumn, FeatureColumn, SequenceDenseColumn
from tapeflow.feature_column.serialization import (
    deserialize_feature_column,
    serialize_feature_column,
)
from tapeflow.feature_column.state import StateManager

__all__ = [
    "DenseColumn", "FeatureColumn", "FeatureTransformationCache", "SequenceDenseColumn", "StateManager",
    "deserialize_feature_column", "serialize_feature_column",
]  # fmt: skip
