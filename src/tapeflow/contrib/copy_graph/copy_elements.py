"""Copies of operations, tensors and variables in another graph."""

from __future__ import annotations

from typing import Any

from tapeflow.compat import v1
from tapeflow.graph.graph import Graph

__all__ = ["copy_op_to_graph", "copy_variable_to_graph", "get_copied_op"]

_KEPT = {v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.TRAINABLE_VARIABLES}


def _below(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name


def _collections(element: Any, graph: Graph, scope: str) -> list[Any]:
    """The collections that hold an element, by their names in the other graph."""
    found = []
    for name in graph.get_all_collection_keys():
        if any(each is element for each in graph.get_collection(name)):
            found.append(name if name in _KEPT else _below(scope, name))
    return found


def copy_variable_to_graph(org_instance: Any, to_graph: Graph, scope: str = ""):
    """A variable in another graph, whose initial value is that of the given one.

    Args:
      org_instance: the variable.
      to_graph: the other graph.
      scope: what the copy's name begins with.

    Raises TypeError for what is no variable.
    """
    if not isinstance(org_instance, v1.Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    graph = org_instance.graph
    collections = _collections(org_instance, graph, scope)
    with graph.as_default(), v1.Session(graph=graph) as session:
        value = session.run(org_instance.initialized_value())
    with to_graph.as_default():
        return v1.Variable(
            value, trainable=v1.GraphKeys.TRAINABLE_VARIABLES in collections, name=_below(scope, org_instance.op.name),
            collections=collections, validate_shape=False,
        )  # fmt: skip


def copy_op_to_graph(org_instance: Any, to_graph: Graph, variables: Any, scope: str = ""):
    """An operation or tensor in another graph, with all that it is computed from.

    Args:
      org_instance: the operation or tensor.
      to_graph: the other graph.
      variables: the copies of variables that it reads, made by `copy_variable_to_graph`.
      scope: what the names of the copies begin with.

    Raises TypeError for anything else.
    """
    if not isinstance(org_instance, (v1.Tensor, v1.Operation)):
        raise TypeError(f"Could not copy instance: {org_instance}")
    known = _known(org_instance, to_graph, scope)
    if known is not None:
        return known
    tensor: Any = org_instance if isinstance(org_instance, v1.Tensor) else None
    operation: Any = org_instance if tensor is None else tensor.op
    nodes = v1.GraphDef()
    nodes.versions.CopyFrom(org_instance.graph.graph_def_versions)
    nodes.library.CopyFrom(org_instance.graph.as_graph_def().library)
    given: dict[str, Any] = {}
    copied: dict[str, Any] = {}
    _add(operation, to_graph, scope, nodes, given, copied)
    with to_graph.as_default(), to_graph.name_scope(None), to_graph.control_dependencies(None):
        made = dict(zip(copied, v1.import_graph_def(nodes, given, list(copied), name=""), strict=True))
    for name, op in copied.items():
        for each in op.control_inputs:
            known = made.get(_below(scope, each.name))
            made[name].add_control_inputs([get_copied_op(each, to_graph, scope) if known is None else known])
        for old, new in ((op, made[name]), *zip(op.outputs, made[name].outputs, strict=True)):
            for collection in _collections(old, op.graph, scope):
                to_graph.add_to_collection(collection, new)
    copy = made[_below(scope, operation.name)]
    return copy if tensor is None else copy.outputs[tensor.value_index]


def _known(element: Any, to_graph: Graph, scope: str) -> Any:
    """The element of that name, None where there is none yet."""
    try:
        return get_copied_op(element, to_graph, scope)
    except (KeyError, ValueError):
        return None


def _add(op: Any, to_graph: Graph, scope: str, nodes: Any, given: dict[str, Any], copied: dict[str, Any]) -> None:
    """Adds an operation and what it needs to a GraphDef, and tensors that are there already to `given`."""
    waiting = [(op, False)]
    while waiting:
        each, ready = waiting.pop()
        name = _below(scope, each.name)
        if name in copied:
            continue
        if ready:
            copied[name] = each
            node = nodes.node.add()
            node.CopyFrom(each.node_def)
            node.name = name
            # What is there already has no node to name: these edges are added afterwards.
            node.input[:] = [_below(scope, key) for key in node.input if not key.startswith("^")]
        else:
            waiting.append((each, True))
            for tensor in each.inputs:
                known = _known(tensor, to_graph, scope)
                if known is None:
                    waiting.append((tensor.op, False))
                else:
                    given[_below(scope, tensor.name)] = known
            waiting.extend((x, False) for x in each.control_inputs if _known(x, to_graph, scope) is None)


def get_copied_op(org_instance: Any, graph: Graph, scope: str = ""):
    """The operation or tensor of a graph that has the same name, below a scope. Raises KeyError where none has."""
    return graph.as_graph_element(_below(scope, org_instance.name), allow_tensor=True, allow_operation=True)
