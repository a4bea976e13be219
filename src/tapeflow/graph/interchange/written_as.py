"""Rows that TensorFlow does not know, in GraphDefs: what is written in their place says the row itself."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

# Nodes without a row: TensorFlow's gradients of Python functions are Python functions as well.
_NODES = {"EagerPyFuncGrad": "EagerPyFunc"}


def is_composed(row: Any) -> bool:
    """Whether GraphDefs have a call for a row, of nodes that TensorFlow knows."""
    return row is not None and (row.composite is not None or bool(row.composed_in))


def composition(row: Any) -> Callable[..., Any]:
    """The function that makes the outputs of a composed row of its inputs and attrs."""
    if row.composite is None:
        module = importlib.import_module(f"tapeflow.graph.interchange.written_{row.composed_in}")
        row.composite = module.ROWS[row]
    return row.composite


def type_of(kind: str, row: Any) -> str:
    """The type of the node that an operation of this type and row is written as."""
    return _NODES.get(kind, kind) if row is None or row.spelling is None else row.spelling[0]
