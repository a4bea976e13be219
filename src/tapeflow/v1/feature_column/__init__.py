"""`tf.feature_column` with the names and signatures of 1.x."""

from tapeflow.feature_column import (
    bucketized_column,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_list,
    crossed_column,
    embedding_column,
    indicator_column,
    numeric_column,
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
    weighted_categorical_column,
)
from tapeflow.feature_column.vocabulary import (
    categorical_column_with_vocabulary_file_v1 as categorical_column_with_vocabulary_file,
)
from tapeflow.v1.feature_column.input_layer import input_layer
from tapeflow.v1.feature_column.linear_model import linear_model
from tapeflow.v1.feature_column.shared import shared_embedding_columns
from tapeflow.v1.feature_column.state import make_parse_example_spec

__all__ = [
    "bucketized_column", "categorical_column_with_hash_bucket", "categorical_column_with_identity",
    "categorical_column_with_vocabulary_file", "categorical_column_with_vocabulary_list", "crossed_column",
    "embedding_column", "indicator_column", "input_layer", "linear_model", "make_parse_example_spec",
    "numeric_column", "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file", "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column", "shared_embedding_columns", "weighted_categorical_column",
]  # fmt: skip
