"""tf.nn: activations, losses, convolutions, pooling, normalisation, embeddings."""

import importlib
from typing import Any

from tapeflow.nn import experimental
from tapeflow.ops.array.selection import in_top_k, top_k
from tapeflow.ops.array.spatial import depth_to_space, space_to_depth
from tapeflow.ops.array.spatial import space_to_batch_nd as space_to_batch
from tapeflow.ops.convolution.depthwise_functions import (
    depthwise_conv2d,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    separable_conv2d,
)
from tapeflow.ops.convolution.dilated import with_space_to_batch
from tapeflow.ops.convolution.fractional_pooling import fractional_avg_pool, fractional_max_pool
from tapeflow.ops.convolution.functions import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    conv_transpose,
    convolution,
)
from tapeflow.ops.convolution.morphology import dilation2d, erosion2d
from tapeflow.ops.convolution.pool_functions import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_with_argmax,
    pool,
)
from tapeflow.ops.math.approximate_top_k import approx_max_k, approx_min_k
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.activation import (
    crelu,
    elu,
    leaky_relu,
    relu,
    relu6,
    selu,
    silu,
    softplus,
    softsign,
)
from tapeflow.ops.nn.activation import silu as swish
from tapeflow.ops.nn.bias import bias_add
from tapeflow.ops.nn.candidate_sampling import (
    all_candidate_sampler,
    compute_accidental_hits,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
)
from tapeflow.ops.nn.dropout import dropout
from tapeflow.ops.nn.embedding import embedding_lookup
from tapeflow.ops.nn.embedding_sparse import embedding_lookup_sparse, safe_embedding_lookup_sparse
from tapeflow.ops.nn.gelu import gelu
from tapeflow.ops.nn.isotonic import isotonic_regression
from tapeflow.ops.nn.local_response import local_response_normalization
from tapeflow.ops.nn.local_response import local_response_normalization as lrn
from tapeflow.ops.nn.loss import (
    l2_loss,
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from tapeflow.ops.nn.normalization import (
    batch_norm_with_global_normalization,
    batch_normalization,
    l2_normalize,
    moments,
    normalize_moments,
    sufficient_statistics,
    weighted_moments,
    zero_fraction,
)
from tapeflow.ops.nn.sampled_loss import nce_loss, sampled_softmax_loss
from tapeflow.ops.nn.softmax import log_softmax, softmax
from tapeflow.ops.recurrent.ctc import collapse_repeated, ctc_loss, ctc_unique_labels
from tapeflow.ops.recurrent.ctc_decoding import ctc_beam_search_decoder, ctc_greedy_decoder
from tapeflow.ops.state.loss_scaling import compute_average_loss, scale_regularization_loss

# These stand on Keras or on contrib, which are loaded only when one of them is used.
_LAZY_NAMES = {
    "RNNCellDeviceWrapper": "tapeflow.keras.layers.rnn.cell_wrappers",
    "RNNCellDropoutWrapper": "tapeflow.keras.layers.rnn.cell_wrappers",
    "RNNCellResidualWrapper": "tapeflow.keras.layers.rnn.cell_wrappers",
    "graph_callable": "tapeflow.contrib.eager.graph_callable",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY_NAMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY_NAMES})


__all__ = [
    "all_candidate_sampler",
    "approx_max_k",
    "approx_min_k",
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "collapse_repeated",
    "compute_accidental_hits",
    "compute_average_loss",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "ctc_beam_search_decoder",
    "ctc_greedy_decoder",
    "ctc_loss",
    "ctc_unique_labels",
    "depth_to_space",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "dilation2d",
    "dropout",
    "elu",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "erosion2d",
    "experimental",
    "fixed_unigram_candidate_sampler",
    "fractional_avg_pool",
    "fractional_max_pool",
    "gelu",
    "in_top_k",
    "isotonic_regression",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "learned_unigram_candidate_sampler",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_with_argmax",
    "moments",
    "nce_loss",
    "normalize_moments",
    "pool",
    "relu",
    "relu6",
    "safe_embedding_lookup_sparse",
    "sampled_softmax_loss",
    "scale_regularization_loss",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "softsign",
    "space_to_batch",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "sufficient_statistics",
    "swish",
    "tanh",
    "top_k",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "with_space_to_batch",
    "zero_fraction",
]
