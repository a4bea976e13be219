"""Values of variables, eagerly or in the session of Keras, which begins by initializing what has no value."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from tapeflow.checkpoint import object_writing
from tapeflow.core.context import current_graph
from tapeflow.core.public import boundaries
from tapeflow.core.variables import graph_parts
from tapeflow.graph.graph import Graph
from tapeflow.graph.run.session import Session, get_default_session
from tapeflow.ops.state.variable import Variable

_sessions: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def get_session(op_input_list: Any = ()) -> Any:
    """The default session, else the one of Keras for the graph of some tensors, or the current one.

    Its variables are initialized.

    Raises RuntimeError if operations run eagerly.
    """
    graph = op_input_list if isinstance(op_input_list, Graph) else None
    if graph is None:
        graphs = [x.graph for x in op_input_list or () if hasattr(x, "graph")]
        graph = graphs[0] if graphs else current_graph()
    if graph is None:
        raise RuntimeError("`get_session` is not available when using TensorFlow 2.0.")
    session = get_default_session()
    if session is None or session.graph is not graph:
        session = _sessions.get(graph)
        if session is None:
            session = _sessions[graph] = Session(graph=graph)
    _initialize(graph, session)
    return session


def set_session(session: Any) -> None:
    """Lets Keras use a session for its graph."""
    _sessions[session.graph] = session


def clear_sessions() -> None:
    """Forgets all sessions of Keras."""
    _sessions.clear()


def _initialize(graph: Any, session: Any) -> None:
    """Initializes the variables of a graph that have no value in a session."""
    variables = [
        v for v in graph.get_collection("variables")
        if isinstance(v, Variable) and graph_parts(v) is not None
        and session not in v.__dict__.setdefault("_keras_initialized", weakref.WeakSet())
    ]  # fmt: skip
    if not variables:
        return
    with graph.as_default():
        known = session.run([graph_parts(v).is_initialized for v in variables])
    missing = [v.initializer for v, is_there in zip(variables, known) if not is_there]
    if missing:
        session.run(missing)
    for v in variables:
        v.__dict__["_keras_initialized"].add(session)


def values_of(variables: Any) -> list[np.ndarray]:
    """The values of variables as arrays."""
    variables = list(variables)
    if not variables or graph_parts(variables[0]) is None:
        return [variable.numpy() for variable in variables]
    return get_session(variables[0].graph).run(variables)


def set_values(pairs: Any) -> None:
    """Sets variables, given as (variable, value) pairs."""
    for variable, value in pairs:
        if graph_parts(variable) is None:
            variable.assign(value)
        else:
            variable.load(np.asarray(value), get_session(variable.graph))


object_writing.register_fallback_session(get_session)


boundaries(globals())
