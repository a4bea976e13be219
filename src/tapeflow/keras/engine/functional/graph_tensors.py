"""Symbolic tensors of Keras as tensors of a graph: for sessions, gradients and optimizers of 1.x."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import current_graph
from tapeflow.core.structures import nest
from tapeflow.keras.engine.functional.inference import placeholder_for
from tapeflow.keras.engine.functional.symbolic import KerasTensor

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph


def graph_tensor(x: KerasTensor, graph: Graph | None = None):
    """The tensor of a graph (the current one) that computes a symbolic tensor; made once per graph.

    Inputs become placeholders. Raises ValueError where no graph is being built.
    """
    graph = current_graph() if graph is None else graph
    if graph is None:
        raise ValueError(f"{x} has no value outside of a model that is called.")
    with graph.as_default():
        return _value_of(x, graph)


def graph_tensors(structure: TensorLike, graph: Graph | None = None):
    """A structure with tensors of a graph in place of symbolic ones."""
    return nest.map_structure(
        lambda x: graph_tensor(x, graph) if isinstance(x, KerasTensor) else x, structure
    )


def compute_calls(nodes, graph: Graph):
    """Builds symbolic calls in a graph."""
    with graph.as_default():
        for node in nodes:
            for x in nest.flatten(node.outputs):
                if isinstance(x, KerasTensor):
                    _value_of(x, graph)


def reached_from(value: TensorLike, starts):
    """Whether a tensor or an operation of a graph depends on one of some tensors."""
    wanted = {id(getattr(x, "op", x)) for x in starts}
    seen, queue = set(), [getattr(value, "op", value)]
    while queue:
        op = queue.pop()
        if id(op) in wanted:
            return True
        if id(op) not in seen:
            seen.add(id(op))
            queue += [x.op for x in getattr(op, "inputs", ()) if hasattr(x, "op")]
    return False


def _value_of(x, graph: Graph):
    made = x.node.__dict__.setdefault("_in_graphs", weakref.WeakKeyDictionary())
    if graph not in made:
        for parent in x.node.parents():
            _value_of(parent, graph)
        made[graph] = _outputs_of(x.node, graph)
    return made[graph][x.index]


def _outputs_of(node, graph: Graph):
    if not node.parents():
        return [_placeholder(nest.flatten(node.outputs)[0])]

    def value(leaf: KerasTensor):
        return _value_of(leaf, graph) if isinstance(leaf, KerasTensor) else leaf

    outputs = node.layer(
        nest.map_structure(value, node.inputs),
        *nest.map_structure(value, node.args),
        **nest.map_structure(value, node.kwargs),
    )
    return nest.flatten(outputs)


def _placeholder(x: KerasTensor):
    return placeholder_for(x)
