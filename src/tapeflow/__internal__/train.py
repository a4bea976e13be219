"""`tf.__internal__.train`: what optimizers and callbacks of libraries need."""

from tapeflow.checkpoint.state import update_checkpoint_state
from tapeflow.train.mixed_precision import (
    is_mixed_precision_graph_rewrite_enabled,
    set_using_mixed_precision_policy,
)
from tapeflow.train.moving_averages import assign_moving_average

__all__ = [
    "assign_moving_average", "is_mixed_precision_graph_rewrite_enabled", "set_using_mixed_precision_policy",
    "update_checkpoint_state",
]  # fmt: skip
