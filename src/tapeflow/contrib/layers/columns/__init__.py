"""The feature columns of `tf.contrib.layers`, of which those of `tf.feature_column` have come."""

from tapeflow.contrib.layers.columns.base import check_feature_columns
from tapeflow.contrib.layers.columns.categorical import (
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    weighted_sparse_column,
)
from tapeflow.contrib.layers.columns.crossed import crossed_column
from tapeflow.contrib.layers.columns.dense import (
    embedding_column,
    one_hot_column,
    scattered_embedding_column,
    shared_embedding_columns,
)
from tapeflow.contrib.layers.columns.models import (
    infer_real_valued_columns,
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    sequence_input_from_feature_columns,
    weighted_sum_from_feature_columns,
)
from tapeflow.contrib.layers.columns.numeric import (
    _real_valued_var_len_column,
    bucketized_column,
    real_valued_column,
)
from tapeflow.contrib.layers.columns.parsing import (
    create_feature_spec_for_parsing,
    make_place_holder_tensors_for_base_features,
    parse_feature_columns_from_examples,
    parse_feature_columns_from_sequence_examples,
    transform_features,
)
