"""`tf.keras.mixed_precision`: computing in half precision with weights in single precision."""

from tapeflow.keras.dtype_policy import DTypePolicy, global_policy, set_global_policy
from tapeflow.keras.dtype_policy import DTypePolicy as Policy
from tapeflow.keras.mixed_precision import experimental
from tapeflow.keras.optimizers.loss_scale import LossScaleOptimizer

dtype_policy = global_policy
set_dtype_policy = set_global_policy

__all__ = [
    "DTypePolicy",
    "LossScaleOptimizer",
    "Policy",
    "dtype_policy",
    "experimental",
    "global_policy",
    "set_dtype_policy",
    "set_global_policy",
]
