"""Graphs: nodes that compose the rows of the op table, what runs them, and what draws them.

Loading this package gives the native core and the packages below it their hooks for graphs, so that any module of it is
loaded with all that building a graph needs.
"""

from tapeflow.graph.build import building, recording, variables
from tapeflow.graph.control_flow import conditional, loop
from tapeflow.graph.control_flow import flow as control
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.run import errors_at, planning, session
