"""tf.compat.v1.mixed_precision.experimental: loss scales."""

from tapeflow.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale

__all__ = ["DynamicLossScale", "FixedLossScale", "LossScale"]
