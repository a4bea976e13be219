"""The names of 2.0."""

from tapeflow.keras.dtype_policy import Policy, global_policy
from tapeflow.keras.dtype_policy import set_global_policy as set_policy
from tapeflow.keras.optimizers.loss_scale import LossScaleOptimizer

__all__ = ["LossScaleOptimizer", "Policy", "global_policy", "set_policy"]
