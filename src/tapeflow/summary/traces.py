"""`tf.summary.trace_on` and its like: the graphs of the functions that run, and a profile, for TensorBoard."""

from __future__ import annotations

import os
from typing import Any

from tapeflow import _native, protos
from tapeflow.core import context
from tapeflow.core.log import get_logger
from tapeflow.core.public import public
from tapeflow.function import function
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.interchange.graph_def import Library, function_def, to_graph_def
from tapeflow.ops.io import summary_values
from tapeflow.summary import profiling
from tapeflow.summary.writing import write


class _Trace:
    """The functions that were called since a trace began."""

    def __init__(self, graph: bool, profiles: bool):
        self.graph, self.profiles = graph, profiles
        self.functions: dict[int, Any] = {}
        self.to_folder = False

    def watch(self, concrete: Any) -> None:
        self.functions.setdefault(id(concrete), concrete)

    def start(self) -> None:
        if self.graph:
            function.watchers.append(self.watch)
            _native.set_functions_fast(False)

    def stop(self) -> None:
        if self.watch in function.watchers:
            function.watchers.remove(self.watch)
            _native.set_functions_fast(not context.functions_run_eagerly())


_current: _Trace | None = None


@public
def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir=None):
    """Begin to remember the graphs of the functions that run.

    It works in eager execution only; elsewhere it warns and does nothing.

    Args:
      graph: whether to remember graphs.
      profiler: whether to take a profile also.
      profiler_outdir: the folder of the profile (optional).
    """
    global _current
    if not _allowed("Cannot enable trace inside a tf.function.", "Must enable trace in eager mode."):
        return
    if _current is not None:
        get_logger().warning("Trace already enabled")
        return
    _current = _Trace(graph, profiler)
    _current.start()
    if profiler:
        profiling.start("" if profiler_outdir is None else os.fspath(profiler_outdir))
        _current.to_folder = profiler_outdir is not None


def _allowed(in_function: str, in_graph: str) -> bool:
    graph = context.current_graph()
    if graph is None:
        return True
    get_logger().warning(in_function if getattr(graph, "building_function", False) else in_graph)
    return False


@public
def trace_export(name: str, step=None, profiler_outdir=None):
    """Write what `tf.summary.trace_on` remembered, and end the trace.

    Args:
      name: the tag of the summary.
      step: the number of the step; None: that of `tf.summary.experimental.set_step`.
      profiler_outdir: the folder of the profile, where there is one and `trace_on` got no folder.

    Raises:
      ValueError: where no trace was begun, and where a profile has no folder.
    """
    if not _allowed(
        "Cannot export trace inside a tf.function.", "Can only export trace while executing eagerly."
    ):
        return
    trace = _current
    if trace is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    if trace.profiles and profiler_outdir is None and not trace.to_folder:
        raise ValueError("Argument `profiler_outdir` is not specified.")
    plugin = "graph_run_metadata" if trace.profiles else "graph_run_metadata_graph"
    if trace.graph:
        data = run_metadata(list(trace.functions.values())).SerializeToString()
        write(name, data, step, summary_values.metadata(plugin, None, b"1"))
    if trace.profiles:
        profiling.stop_to(profiler_outdir)
    trace_off()


@public
def trace_off():
    """Ends a trace and forgets what it remembered."""
    global _current
    if _current is not None:
        _current.stop()
        if _current.profiles and profiling.is_running():
            profiling.stop(save=False)
    _current = None


def run_metadata(functions: list[Any]) -> Any:
    """The graphs of functions as a `RunMetadata` message."""
    made = protos.RunMetadata()
    for concrete in functions:
        own = made.function_graphs.add()
        graph = to_graph_def(concrete.graph, add_shapes=True)
        library = Library()
        library.functions[concrete.graph_name] = function_def(
            Body(concrete.graph, concrete.graph.outputs), concrete.graph_name, library.name_of
        )
        own.pre_optimization_graph.CopyFrom(graph)
        own.pre_optimization_graph.library.function.extend(
            f for name, f in library.functions.items()
            if name not in {g.signature.name for g in graph.library.function}
        )  # fmt: skip
        own.post_optimization_graph.CopyFrom(graph)
        own.partition_graphs.add().CopyFrom(graph)
        made.partition_graphs.add().CopyFrom(graph)
    return made
