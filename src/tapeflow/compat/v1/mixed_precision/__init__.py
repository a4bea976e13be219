"""tf.compat.v1.mixed_precision: loss scales."""

from tapeflow.compat.v1.mixed_precision import experimental
from tapeflow.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale
from tapeflow.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from tapeflow.train.mixed_precision import (
    disable_mixed_precision_graph_rewrite,
    enable_mixed_precision_graph_rewrite,
)

__all__ = [
    "DynamicLossScale", "FixedLossScale", "LossScale", "MixedPrecisionLossScaleOptimizer",
    "disable_mixed_precision_graph_rewrite", "enable_mixed_precision_graph_rewrite", "experimental",
]
