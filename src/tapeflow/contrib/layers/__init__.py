"""`tf.contrib.layers`: layers as functions, whose variables belong to the model, in scopes of arguments."""

from __future__ import annotations

from tapeflow.autodiff.custom_gradient import recompute_grad
from tapeflow.compat.v1 import nn
from tapeflow.contrib.layers import columns as feature_column
from tapeflow.contrib.layers import summaries
from tapeflow.contrib.layers.columns import (
    bucketized_column,
    check_feature_columns,
    create_feature_spec_for_parsing,
    crossed_column,
    embedding_column,
    infer_real_valued_columns,
    input_from_feature_columns,
    joint_weighted_sum_from_feature_columns,
    make_place_holder_tensors_for_base_features,
    one_hot_column,
    parse_feature_columns_from_examples,
    parse_feature_columns_from_sequence_examples,
    real_valued_column,
    scattered_embedding_column,
    sequence_input_from_feature_columns,
    shared_embedding_columns,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    transform_features,
    weighted_sparse_column,
    weighted_sum_from_feature_columns,
)
from tapeflow.contrib.layers.convolutions import (
    avg_pool2d,
    avg_pool3d,
    conv1d,
    conv2d,
    conv2d_in_plane,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    convolution,
    convolution1d,
    convolution2d,
    convolution2d_in_plane,
    convolution2d_transpose,
    convolution3d,
    convolution3d_transpose,
    images_to_sequence,
    max_pool2d,
    max_pool3d,
    pool,
    separable_conv2d,
    separable_convolution2d,
    sequence_to_images,
)
from tapeflow.contrib.layers.crossing import SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
from tapeflow.contrib.layers.dense import (
    bias_add,
    dense_to_sparse,
    dropout,
    elu,
    flatten,
    fully_connected,
    legacy_fully_connected,
    legacy_linear,
    legacy_relu,
    linear,
    maxout,
    one_hot_encoding,
    relu,
    relu6,
    repeat,
    softmax,
    stack,
    unit_norm,
)
from tapeflow.contrib.layers.features import (
    bow_encoder,
    embed_sequence,
    embedding_lookup_unique,
    poincare_normalize,
    scale_gradient,
    spatial_softmax,
)
from tapeflow.contrib.layers.named_outputs import (
    collect_named_outputs,
    convert_collection_to_dict,
)
from tapeflow.contrib.layers.normalizing import batch_norm, group_norm, instance_norm, layer_norm
from tapeflow.contrib.layers.optimizing import (
    OPTIMIZER_CLS_NAMES,
    OPTIMIZER_SUMMARIES,
    adaptive_clipping_fn,
    optimize_loss,
)
from tapeflow.contrib.layers.summaries import (
    summarize_activation,
    summarize_activations,
    summarize_collection,
    summarize_tensor,
    summarize_tensors,
)
from tapeflow.contrib.layers.weights import (
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
    variance_scaling_initializer,
    xavier_initializer,
    xavier_initializer_conv2d,
)


def __getattr__(name: str):
    if name == "safe_embedding_lookup_sparse":
        return nn.safe_embedding_lookup_sparse
    raise AttributeError(f"module 'tapeflow.contrib.layers' has no attribute {name!r}")
