# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.compat.v1 import rnn_cell as rnn_cell
from tapeflow.nn import experimental as experimental
from tapeflow.ops.array.depth import depth_to_space_v1 as depth_to_space
from tapeflow.ops.array.depth import space_to_depth_v1 as space_to_depth
from tapeflow.ops.array.square_blocks import space_to_batch_v1 as space_to_batch
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d_backprop_filter as depthwise_conv2d_native_backprop_filter
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d_backprop_input as depthwise_conv2d_native_backprop_input
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d_native as depthwise_conv2d_native
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d_v1 as depthwise_conv2d
from tapeflow.ops.convolution.depthwise_functions import separable_conv2d_v1 as separable_conv2d
from tapeflow.ops.convolution.dilated import with_space_to_batch as with_space_to_batch
from tapeflow.ops.convolution.fractional_functions import fractional_avg_pool_v1 as fractional_avg_pool
from tapeflow.ops.convolution.fractional_functions import fractional_max_pool_v1 as fractional_max_pool
from tapeflow.ops.convolution.functions import conv2d_backprop_filter as conv2d_backprop_filter
from tapeflow.ops.convolution.functions import conv2d_backprop_input as conv2d_backprop_input
from tapeflow.ops.convolution.functions import conv2d_transpose_v1 as conv2d_transpose
from tapeflow.ops.convolution.functions import conv2d_v1 as conv2d
from tapeflow.ops.convolution.functions_1d import conv1d_transpose as conv1d_transpose
from tapeflow.ops.convolution.functions_1d import conv1d_v1 as conv1d
from tapeflow.ops.convolution.functions_3d import conv3d_backprop_filter as conv3d_backprop_filter
from tapeflow.ops.convolution.functions_3d import conv3d_backprop_filter as conv3d_backprop_filter_v2
from tapeflow.ops.convolution.functions_3d import conv3d_transpose_v1 as conv3d_transpose
from tapeflow.ops.convolution.functions_3d import conv3d_v1 as conv3d
from tapeflow.ops.convolution.functions_any_rank import atrous_conv2d as atrous_conv2d
from tapeflow.ops.convolution.functions_any_rank import atrous_conv2d_transpose as atrous_conv2d_transpose
from tapeflow.ops.convolution.functions_any_rank import conv_transpose as conv_transpose
from tapeflow.ops.convolution.functions_any_rank import convolution_v1 as convolution
from tapeflow.ops.convolution.morphology import dilation2d_v1 as dilation2d
from tapeflow.ops.convolution.morphology import erosion2d_v1 as erosion2d
from tapeflow.ops.convolution.pool_functions import avg_pool as avg_pool_v2
from tapeflow.ops.convolution.pool_functions import avg_pool_v1 as avg_pool
from tapeflow.ops.convolution.pool_functions import max_pool as max_pool_v2
from tapeflow.ops.convolution.pool_functions import max_pool_v1 as max_pool
from tapeflow.ops.convolution.pool_functions import max_pool_with_argmax_v1 as max_pool_with_argmax
from tapeflow.ops.convolution.pool_functions import pool_v1 as pool
from tapeflow.ops.convolution.pool_functions_by_rank import avg_pool1d as avg_pool1d
from tapeflow.ops.convolution.pool_functions_by_rank import avg_pool2d_v1 as avg_pool2d
from tapeflow.ops.convolution.pool_functions_by_rank import avg_pool3d as avg_pool3d
from tapeflow.ops.convolution.pool_functions_by_rank import max_pool1d as max_pool1d
from tapeflow.ops.convolution.pool_functions_by_rank import max_pool2d as max_pool2d
from tapeflow.ops.convolution.pool_functions_by_rank import max_pool3d as max_pool3d
from tapeflow.ops.indexing.top_k import in_top_k_v1 as in_top_k
from tapeflow.ops.indexing.top_k import top_k as top_k
from tapeflow.ops.math.approximate_top_k import approx_max_k as approx_max_k
from tapeflow.ops.math.approximate_top_k import approx_min_k as approx_min_k
from tapeflow.ops.math.trigonometric import sigmoid as sigmoid
from tapeflow.ops.math.trigonometric import tanh as tanh
from tapeflow.ops.nn.activation import crelu_v1 as crelu
from tapeflow.ops.nn.activation import elu as elu
from tapeflow.ops.nn.activation import leaky_relu as leaky_relu
from tapeflow.ops.nn.activation import relu as relu
from tapeflow.ops.nn.activation import relu6 as relu6
from tapeflow.ops.nn.activation import relu_layer as relu_layer
from tapeflow.ops.nn.activation import selu as selu
from tapeflow.ops.nn.activation import silu as silu
from tapeflow.ops.nn.activation import silu as swish
from tapeflow.ops.nn.bias import bias_add as bias_add
from tapeflow.ops.nn.bias import xw_plus_b as xw_plus_b
from tapeflow.ops.nn.candidate_functions import all_candidate_sampler as all_candidate_sampler
from tapeflow.ops.nn.candidate_functions import compute_accidental_hits as compute_accidental_hits
from tapeflow.ops.nn.candidate_functions import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from tapeflow.ops.nn.candidate_functions import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from tapeflow.ops.nn.candidate_functions import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from tapeflow.ops.nn.candidate_functions import uniform_candidate_sampler as uniform_candidate_sampler
from tapeflow.ops.nn.dropout import dropout_v1 as dropout
from tapeflow.ops.nn.embedding import embedding_lookup_v1 as embedding_lookup
from tapeflow.ops.nn.embedding_sparse import embedding_lookup_sparse_v1 as embedding_lookup_sparse
from tapeflow.ops.nn.embedding_sparse import safe_embedding_lookup_sparse_v1 as safe_embedding_lookup_sparse
from tapeflow.ops.nn.l2_loss import l2_loss as l2_loss
from tapeflow.ops.nn.local_response import local_response_normalization as local_response_normalization
from tapeflow.ops.nn.local_response import local_response_normalization as lrn
from tapeflow.ops.nn.loss import softmax_cross_entropy_with_logits_v1 as softmax_cross_entropy_with_logits
from tapeflow.ops.nn.loss import softmax_cross_entropy_with_logits_v2_v1 as softmax_cross_entropy_with_logits_v2
from tapeflow.ops.nn.loss import sparse_softmax_cross_entropy_with_logits_v1 as sparse_softmax_cross_entropy_with_logits
from tapeflow.ops.nn.normalization import batch_norm_with_global_normalization_v1 as batch_norm_with_global_normalization
from tapeflow.ops.nn.normalization import batch_normalization as batch_normalization
from tapeflow.ops.nn.normalization import fused_batch_norm as fused_batch_norm
from tapeflow.ops.nn.normalization import l2_normalize as l2_normalize
from tapeflow.ops.nn.normalization import moments_v1 as moments
from tapeflow.ops.nn.normalization import normalize_moments as normalize_moments
from tapeflow.ops.nn.normalization import sufficient_statistics_v1 as sufficient_statistics
from tapeflow.ops.nn.normalization import weighted_moments_v1 as weighted_moments
from tapeflow.ops.nn.normalization import zero_fraction as zero_fraction
from tapeflow.ops.nn.sampled_loss import nce_loss_v1 as nce_loss
from tapeflow.ops.nn.sampled_loss import sampled_softmax_loss_v1 as sampled_softmax_loss
from tapeflow.ops.nn.sigmoid_loss import log_poisson_loss as log_poisson_loss
from tapeflow.ops.nn.sigmoid_loss import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from tapeflow.ops.nn.sigmoid_loss import weighted_cross_entropy_with_logits_v1 as weighted_cross_entropy_with_logits
from tapeflow.ops.nn.softmax import log_softmax_v1 as log_softmax
from tapeflow.ops.nn.softmax import softmax_v1 as softmax
from tapeflow.ops.nn.softplus import softplus as softplus
from tapeflow.ops.nn.softplus import softsign as softsign
from tapeflow.ops.quantize.products import quantized_avg_pool as quantized_avg_pool
from tapeflow.ops.quantize.products import quantized_conv2d as quantized_conv2d
from tapeflow.ops.quantize.products import quantized_max_pool as quantized_max_pool
from tapeflow.ops.quantize.products import quantized_relu_x as quantized_relu_x
from tapeflow.ops.recurrent.ctc_decoding import ctc_beam_search_decoder as ctc_beam_search_decoder_v2
from tapeflow.ops.recurrent.ctc_decoding import ctc_beam_search_decoder_v1 as ctc_beam_search_decoder
from tapeflow.ops.recurrent.ctc_decoding import ctc_greedy_decoder as ctc_greedy_decoder
from tapeflow.ops.recurrent.ctc_functions import collapse_repeated as collapse_repeated
from tapeflow.ops.recurrent.ctc_functions import ctc_loss_v1 as ctc_loss
from tapeflow.ops.recurrent.ctc_functions import ctc_loss_v2 as ctc_loss_v2
from tapeflow.ops.recurrent.ctc_functions import ctc_unique_labels as ctc_unique_labels
from tapeflow.ops.state.loss_scaling import compute_average_loss as compute_average_loss
from tapeflow.ops.state.loss_scaling import scale_regularization_loss as scale_regularization_loss
from tapeflow.v1.graph_callable import graph_callable as graph_callable
from tapeflow.v1.rnn.loops import bidirectional_dynamic_rnn as bidirectional_dynamic_rnn
from tapeflow.v1.rnn.loops import dynamic_rnn as dynamic_rnn
from tapeflow.v1.rnn.loops import raw_rnn as raw_rnn
from tapeflow.v1.rnn.static import static_bidirectional_rnn as static_bidirectional_rnn
from tapeflow.v1.rnn.static import static_rnn as static_rnn
from tapeflow.v1.rnn.static import static_state_saving_rnn as static_state_saving_rnn
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
    "avg_pool_v2",
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "bidirectional_dynamic_rnn",
    "collapse_repeated",
    "compute_accidental_hits",
    "compute_average_loss",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d",
    "conv3d_backprop_filter",
    "conv3d_backprop_filter_v2",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "ctc_beam_search_decoder",
    "ctc_beam_search_decoder_v2",
    "ctc_greedy_decoder",
    "ctc_loss",
    "ctc_loss_v2",
    "ctc_unique_labels",
    "depth_to_space",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "dilation2d",
    "dropout",
    "dynamic_rnn",
    "elu",
    "embedding_lookup",
    "embedding_lookup_sparse",
    "erosion2d",
    "experimental",
    "fixed_unigram_candidate_sampler",
    "fractional_avg_pool",
    "fractional_max_pool",
    "fused_batch_norm",
    "graph_callable",
    "in_top_k",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "learned_unigram_candidate_sampler",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "log_uniform_candidate_sampler",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_v2",
    "max_pool_with_argmax",
    "moments",
    "nce_loss",
    "normalize_moments",
    "pool",
    "quantized_avg_pool",
    "quantized_conv2d",
    "quantized_max_pool",
    "quantized_relu_x",
    "raw_rnn",
    "relu",
    "relu6",
    "relu_layer",
    "rnn_cell",
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
    "softmax_cross_entropy_with_logits_v2",
    "softplus",
    "softsign",
    "space_to_batch",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "sufficient_statistics",
    "swish",
    "tanh",
    "top_k",
    "uniform_candidate_sampler",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "with_space_to_batch",
    "xw_plus_b",
    "zero_fraction",
]
