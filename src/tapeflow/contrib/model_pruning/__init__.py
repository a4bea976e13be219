"""`tf.contrib.model_pruning`: weights of small magnitude are masked while a model trains (Zhu & Gupta 2017)."""

from tapeflow.contrib.model_pruning import core_layers, layers, pruning, pruning_utils, rnn_cells
from tapeflow.contrib.model_pruning.layers import (
    masked_conv2d,
    masked_convolution,
    masked_fully_connected,
)
from tapeflow.contrib.model_pruning.learning import train
from tapeflow.contrib.model_pruning.pruning import (
    Pruning,
    apply_mask,
    get_masked_weights,
    get_masks,
    get_pruning_hparams,
    get_thresholds,
    get_weight_sparsity,
    get_weights,
)
from tapeflow.contrib.model_pruning.rnn_cells import MaskedBasicLSTMCell, MaskedLSTMCell
from tapeflow.contrib.model_pruning.strip_pruning_vars_lib import (
    graph_def_from_checkpoint,
    strip_pruning_vars_fn,
)

__all__ = [
    "MaskedBasicLSTMCell", "MaskedLSTMCell", "Pruning", "apply_mask", "get_masked_weights", "get_masks",
    "get_pruning_hparams", "get_thresholds", "get_weight_sparsity", "get_weights", "graph_def_from_checkpoint",
    "masked_conv2d", "masked_convolution", "masked_fully_connected", "strip_pruning_vars_fn", "train",
]  # fmt: skip
