"""What a profile shows: options by names, and `print_model_analysis`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.compat import v1
from tapeflow.graph.graph import Graph

__all__ = [
    "FLOAT_OPS_OPTIONS", "PRINT_ALL_TIMING_MEMORY", "TRAINABLE_VARS_PARAMS_STAT_OPTIONS", "print_model_analysis",
]  # fmt: skip

_BUILDER = v1.profiler.ProfileOptionBuilder
TRAINABLE_VARS_PARAMS_STAT_OPTIONS = _BUILDER.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = _BUILDER.float_operation()
PRINT_ALL_TIMING_MEMORY = {**_BUILDER.time_and_memory(), "order_by": "name"}


def print_model_analysis(
    graph: Graph, run_meta: Any = None, op_log: Any = None, tfprof_cmd: str = "scope",
    tfprof_options: Mapping[str, Any] | None = None,
):  # fmt: skip
    """Show and return a profile; see `tf.profiler.profile`.

    Args:
      graph: the graph.
      run_meta: a RunMetadata of a run, for times and memory.
      op_log: accepted for compatibility; must be None.
      tfprof_cmd: "scope" or "op".
      tfprof_options: what to show; 0 or None: the defaults.
    """
    return v1.profiler.profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options or None)
