"""The scopes that TensorFlow's functions have in a graph when they are called without a name.

A function of one operation needs none: its node is named after its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# By module of `tapeflow.ops`: functions whose scope has their own name.
_OWN = {
    "activation": "relu_layer",
    "bias": "xw_plus_b",
    "casting": "saturate_cast",
    "clip": "clip_by_average_norm clip_by_norm clip_by_value",
    "construction": "linspace one_hot ones ones_like range zeros zeros_like",
    "convolve": "atrous_conv2d_transpose conv1d_transpose conv2d_transpose conv3d_transpose conv_transpose",
    "ctc": "ctc_unique_labels",
    "diagonal": "diag_part set_diag",
    "division_no_nan": "multiply_no_nan reciprocal_no_nan",
    "edit_distance": "edit_distance",
    "embedding": "embedding_lookup",
    "embedding_sparse": "embedding_lookup_sparse",
    "gather": "boolean_mask",
    "joining": "concat parallel_stack split stack unstack",
    "layout": "transpose",
    "loss": "log_poisson_loss",
    "mapping": "foldl foldr scan",
    "matrix_function": "matrix_transpose",
    "morphology": "erosion2d",
    "normalization": "l2_normalize zero_fraction",
    "random": "categorical multinomial random_crop truncated_normal",
    "random_stateless": "stateless_truncated_normal",
    "random_stateless_choice": "stateless_categorical stateless_multinomial stateless_shuffle",
    "reduction": "count_nonzero",
    "signal_frames": "frame overlap_and_add",
    "special": "erfcinv erfinv ndtri polyval",
    "spectral": "fftshift ifftshift",
}
# Functions whose scope has another name; one that ends with "/" does not name the result.
_OTHER = {
    "activation.crelu_v1": "CRelu",
    "activation.gelu": "Gelu",
    "activation.leaky_relu": "LeakyRelu",
    "casting.to_bfloat16": "ToBFloat16",
    "casting.to_double": "ToDouble",
    "casting.to_float": "ToFloat",
    "casting.to_int32": "ToInt32",
    "casting.to_int64": "ToInt64",
    "check.assert_all_finite": "VerifyFinite",
    "clip.clip_by_global_norm": "clip_by_global_norm/",
    "clip.global_norm": "global_norm/",
    "construction.sequence_mask": "SequenceMask",
    "convolve.conv1d": "conv1d",
    "convolve_depthwise.depthwise_conv2d": "depthwise",
    "convolve_depthwise.separable_conv2d": "separable_conv2d",
    "diagonal.trace": "Trace",
    "division_no_nan.divide_no_nan": "div_no_nan",
    "dropout.dropout": "dropout/",
    "einsum.einsum": "einsum/",
    "gather.batch_gather": "BatchGather",
    "loss.sigmoid_cross_entropy_with_logits": "logistic_loss",
    "loss.softmax_cross_entropy_with_logits": "softmax_cross_entropy_with_logits/",
    "loss.softmax_cross_entropy_with_logits_v1": "softmax_cross_entropy_with_logits_sg/",
    "loss.sparse_softmax_cross_entropy_with_logits": "SparseSoftmaxCrossEntropyWithLogits/",
    "loss.weighted_cross_entropy_with_logits": "logistic_loss",
    "mapping.map_fn": "map",
    "matmul.matvec": "MatVec",
    "matmul.tensordot": "Tensordot",
    "matrix_function.normalize": "normalize/",
    "normalization.batch_normalization": "batchnorm",
    "normalization.moments": "moments/",
    "normalization.normalize_moments": "normalize/",
    "normalization.sufficient_statistics": "sufficient_statistics/",
    "normalization.weighted_moments": "weighted_moments/",
    "random.gamma": "random_gamma",
    "random.normal": "random_normal",
    "random.poisson": "random_poisson",
    "random.uniform": "random_uniform",
    "random_stateless.stateless_normal": "stateless_random_normal",
    "random_stateless.stateless_uniform": "stateless_random_uniform",
    "random_stateless_choice.stateless_gamma": "stateless_random_gamma",
    "random_stateless_choice.stateless_poisson": "stateless_random_poisson",
    "reduction.reduce_logsumexp": "ReduceLogSumExp",
    "segment.unsorted_segment_mean": "UnsortedSegmentMean",
    "segment.unsorted_segment_sqrt_n": "UnsortedSegmentSqrtN",
}

SCOPES = {
    f"{module}.{name}": name for module, names in _OWN.items() for name in names.split()
} | _OTHER
_OPS = "tapeflow.ops."


def of(function: Callable[..., Any]) -> str | None:
    """The scope of a function without a name; those of 1.x, whose names end with "_v1", share their siblings'."""
    module = function.__module__ or ""
    if not module.startswith(_OPS):
        return None
    key = f"{module[len(_OPS) :]}.{function.__qualname__}"
    return SCOPES.get(key) or SCOPES.get(key.removesuffix("_v1").removesuffix("_v2"))


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name below a scope; control inputs and colocations keep what they begin with."""
    if not import_scope:
        return name
    start = next((mark for mark in ("loc:@", "^") if name.startswith(mark)), "")
    return f"{start}{import_scope.rstrip('/')}/{name[len(start) :]}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name without the scope that it begins with; control inputs and colocations keep what they begin with."""
    if not export_scope:
        return name
    start = next((mark for mark in ("loc:@", "^") if name.startswith(mark)), "")
    return start + name[len(start) :].removeprefix(f"{export_scope.rstrip('/')}/")
