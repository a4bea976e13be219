"""Graphs: nodes that compose the rows of the op table, what runs them, and what draws them.

Loading this package gives the native core and the packages below it their hooks for graphs, so that any module of it is
loaded with all that building a graph needs.
"""

from types import ModuleType

from tapeflow.core import context
from tapeflow.graph import default_graph, operation, services, tensor
from tapeflow.graph.build import building, derivatives, recording, variables
from tapeflow.graph.control_flow import conditional, loop, loop_gradient
from tapeflow.graph.control_flow import flow as control
from tapeflow.graph.nodes import python_ops, resource_nodes
from tapeflow.graph.run import errors_at, planning, session
from tapeflow.ops import operators
from tapeflow.ops.control import staging
from tapeflow.ops.state import resource_op, variable


def _graph_def() -> ModuleType:
    from tapeflow.graph.interchange import graph_def  # start-up time

    return graph_def


def _library_nodes() -> ModuleType:
    from tapeflow.graph.op_defs import library_nodes  # start-up time

    return library_nodes


def _drawing() -> ModuleType:
    from tapeflow.graph.interchange import drawing  # start-up time

    return drawing


services.register(services.Services(building, derivatives.gradients, _graph_def, _library_nodes, _drawing))
context.register_default_graph(default_graph.default_graph)
staging.register_staging(control.Staging)
variable.register_creation(variables.Creation)
resource_op.register_build(resource_nodes.build)
tensor.register_evaluation(session.evaluate)
operation.register_run(session.run_operation)
