"""tf.compat.v1.mixed_precision: loss scales."""

from tapeflow.compat.v1.mixed_precision import experimental
from tapeflow.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale
from tapeflow.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer

__all__ = ["DynamicLossScale", "FixedLossScale", "LossScale", "MixedPrecisionLossScaleOptimizer", "experimental"]
