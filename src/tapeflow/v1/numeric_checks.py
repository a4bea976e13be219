"""Checks of 1.x that no number of a graph is infinite or NaN."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.public import public
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.ops.control.grouping import group
from tapeflow.ops.math.check import check_numerics


@api(v1="add_check_numerics_ops")
@public
def add_check_numerics_ops():
    """An operation that checks every floating point tensor of the default graph, one after the other.

    Raises RuntimeError where operations run eagerly, ValueError for tensors within control flow.
    """
    if context.executing_eagerly():
        raise RuntimeError(
            "add_check_numerics_ops() is not compatible with eager execution. To check for Inf's and NaN's under "
            "eager execution, call tf.debugging.enable_check_numerics() once before executing the checked operations."
        )
    graph = get_default_graph()
    checks = []
    for op in list(graph.operations):
        for output in op.outputs:
            if output.dtype.is_floating:
                with graph.control_dependencies(checks):
                    checks = [check_numerics(output, message=output.name)]
    return group(*checks)
