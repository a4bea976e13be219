"""`tf.train.experimental`."""

from tapeflow.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale
from tapeflow.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from tapeflow.train.sharding import (
    MaxShardSizePolicy,
    ShardableTensor,
    ShardByTaskPolicy,
    ShardingCallback,
)
from tapeflow.train.trackable import PythonState

__all__ = [
    "DynamicLossScale",
    "FixedLossScale",
    "LossScale",
    "MaxShardSizePolicy",
    "MixedPrecisionLossScaleOptimizer",
    "PythonState",
    "ShardByTaskPolicy",
    "ShardableTensor",
    "ShardingCallback",
]
