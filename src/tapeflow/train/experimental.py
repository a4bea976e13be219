"""`tf.train.experimental`."""

from tapeflow.checkpoint.following import PythonState
from tapeflow.checkpoint.sharding import (
    MaxShardSizePolicy,
    ShardableTensor,
    ShardByTaskPolicy,
    ShardingCallback,
)
from tapeflow.train.loss_scale import DynamicLossScale, FixedLossScale, LossScale
from tapeflow.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from tapeflow.train.mixed_precision import (
    disable_mixed_precision_graph_rewrite,
    enable_mixed_precision_graph_rewrite,
)

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
    "disable_mixed_precision_graph_rewrite",
    "enable_mixed_precision_graph_rewrite",
]
