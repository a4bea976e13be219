"""`tf.__internal__.distribute`: what optimizers, metrics and tests of libraries ask a strategy."""

from tapeflow.__internal__.distribute import combinations, interim, multi_process_runner
from tapeflow.distribute.merging import (
    strategy_supports_no_merge_call,
    variable_sync_on_read_context,
)
from tapeflow.distribute.sharded import ShardedVariable

__all__ = [
    "ShardedVariable", "combinations", "interim", "multi_process_runner", "strategy_supports_no_merge_call",
    "variable_sync_on_read_context",
]  # fmt: skip
