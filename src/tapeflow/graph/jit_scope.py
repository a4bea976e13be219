"""Marks of operations that XLA is to compile: attributes of nodes, which `graph.run.clusters` heeds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tapeflow.core import context
from tapeflow.core.public import public
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph

_SCOPES = ("__xla_scope",)


class _Scopes:
    """How many outermost scopes a graph has had, and how many are open."""

    def __init__(self) -> None:
        self.count = self.depth = 0


@public
@contextlib.contextmanager
def jit_scope(compile_ops: bool = True, separate_compiled_gradients: bool = False):
    """Mark the operations added to the graph in a block, and their gradients, as compiled by XLA or not.

    Those of one outermost scope are compiled together, as far as XLA can; without jax they run as others do.

    Args:
      compile_ops: a bool, or a function of a `NodeDef` that gives one.
      separate_compiled_gradients: whether gradients are marked as scopes of their own.

    Raises:
      RuntimeError: if operations run eagerly.
    """
    if context.executing_eagerly():
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. Try use it inside "
            "tf.function."
        )
    graph = get_default_graph()
    known = graph.get_collection_ref(_SCOPES)
    if not known:
        known.append(_Scopes())
    scopes = known[0]
    marks: dict[str, Any] = {
        "_XlaCompile": compile_ops if callable(compile_ops) else bool(compile_ops),
        "_XlaSeparateCompiledGradients": bool(separate_compiled_gradients),
    }
    if not scopes.depth:
        marks["_XlaScope"] = f"jit_scope_{scopes.count}".encode()
        scopes.count += 1
    scopes.depth += 1
    try:
        with graph.attr_scope(marks):
            yield
    finally:
        scopes.depth -= 1


@contextlib.contextmanager
def as_marked(graph: Graph, op: Any) -> Iterator[None]:
    """A block for the gradient of an operation, whose operations are marked as it is."""
    marks = {name: op.extra_attrs[name] for name in _INHERITED if name in op.extra_attrs}
    if "_XlaCompile" not in marks or not hasattr(graph, "attr_scope"):
        yield
        return
    if marks.get("_XlaSeparateCompiledGradients") and "_XlaScope" in marks:
        marks["_XlaScope"] += b"_grad_gradients"
    with graph.attr_scope(marks):
        yield


_INHERITED = ("_XlaCompile", "_XlaSeparateCompiledGradients", "_XlaScope")
