"""The count of training steps that a program shares."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from tapeflow.core import dtypes
from tapeflow.core.context import current_graph, name_scope
from tapeflow.core.public import boundaries
from tapeflow.graph.build import building
from tapeflow.graph.default_graph import default_graph
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.ops.state.variable import Variable

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

_READ = "global_step_read_op_cache"


def get_global_step(graph: Graph | None = None):
    """The global step variable, or None. Raises TypeError when it is no integer scalar."""
    found = _steps_of(graph or current_graph() or default_graph())
    if not found:
        return None
    assert_global_step(found[0])
    return found[0]


def _steps_of(graph: Graph) -> list[Variable]:
    """The step of a graph, which is that of the default graph eagerly; a function has that of its caller's graph."""
    found = graph.get_collection("global_step") or [
        v for v in graph.get_collection("variables") if v.name == "global_step:0"
    ]
    return _steps_of(graph.outer_graph) if not found and isinstance(graph, FuncGraph) else found


def create_global_step(graph: Graph | None = None):
    """Makes the global step, 0. Raises ValueError when there is one."""
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    graph = graph or current_graph()
    with contextlib.nullcontext() if graph is None else graph.as_default(), name_scope(""):
        step = _made(graph)
    (graph or default_graph()).add_to_collection("global_step", step)
    return step


def _made(graph: Graph):
    """The variable: in the variable scope around, if programs have opened one, and in no name scope."""
    scopes = None if graph is None else graph.__dict__.get("_variable_state")
    name = f"{scopes.prefix if scopes else ''}global_step"
    step = Variable(0, trainable=False, name=name, dtype=dtypes.int64)
    if scopes:
        scopes.store[name] = step
    return step


def get_or_create_global_step(graph: Graph | None = None):
    """The global step, made when there is none."""
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor):
    """Raises TypeError when its argument is no integer scalar."""
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(
            f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}'
        )
    if global_step_tensor.shape.rank not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.shape}')


def global_step(sess, global_step_tensor):
    """The value of the global step as a Python int."""
    if sess is None:
        return int(global_step_tensor.numpy())
    found = sess.run(global_step_tensor)
    return int(found.item() if hasattr(found, "item") else found)


def global_step_read(graph: Graph | None = None):
    """A tensor of the value of the graph's global step, the same at each call; None if there is no global step.

    In a run that also counts a step it comes before that, where nothing says otherwise: hooks count on it.
    """
    graph = graph or current_graph()
    if graph is None:
        step = get_global_step()
        return None if step is None else step.read_value()
    step = get_global_step(graph)
    if step is None:
        return None
    found = graph.get_collection(_READ)
    if not found:
        with graph.as_default(), graph.control_dependencies(None):
            read = building.read(step, graph) if isinstance(step, Variable) else step
        if read is not step:
            read.op.index = building.handle_in(graph, step).op.index + 2.0**-12
        graph.add_to_collection(_READ, read)
        found = [read]
    return found[0]


boundaries(globals())
