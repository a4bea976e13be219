"""`tf.feature_column`: how raw features, by name, become the input of a model."""

from tapeflow.feature_column.bucketized import bucketized_column
from tapeflow.feature_column.crossed import crossed_column
from tapeflow.feature_column.embedding import embedding_column
from tapeflow.feature_column.hashed import categorical_column_with_hash_bucket
from tapeflow.feature_column.identity import categorical_column_with_identity
from tapeflow.feature_column.indicator import indicator_column
from tapeflow.feature_column.numeric import numeric_column
from tapeflow.feature_column.sequence_categorical import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
)
from tapeflow.feature_column.sequence_numeric import sequence_numeric_column
from tapeflow.feature_column.shared import shared_embeddings
from tapeflow.feature_column.spec import make_parse_example_spec
from tapeflow.feature_column.vocabulary import (
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from tapeflow.feature_column.weighted import weighted_categorical_column

__all__ = [
    "bucketized_column", "categorical_column_with_hash_bucket", "categorical_column_with_identity",
    "categorical_column_with_vocabulary_file", "categorical_column_with_vocabulary_list", "crossed_column",
    "embedding_column", "indicator_column", "make_parse_example_spec", "numeric_column",
    "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file", "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column", "shared_embeddings", "weighted_categorical_column",
]  # fmt: skip
