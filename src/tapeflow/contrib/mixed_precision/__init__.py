"""`tf.contrib.mixed_precision`: losses scaled up, so that gradients in half precision do not vanish."""

from tapeflow.contrib.mixed_precision.managers import (
    ExponentialUpdateLossScaleManager,
    FixedLossScaleManager,
    LossScaleManager,
)
from tapeflow.contrib.mixed_precision.optimizer import LossScaleOptimizer

__all__ = ["ExponentialUpdateLossScaleManager", "FixedLossScaleManager", "LossScaleManager", "LossScaleOptimizer"]
