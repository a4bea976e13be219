"""The names of operations that public functions add: that of `name=`, of a scope, or of an operator."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.graph.graph import Graph
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor


class _Wish(threading.local):
    """The name that the next operation is to have, if the caller gave one, and the scope of the function that runs."""

    name: str | None = None
    scope: str | None = None


wishes = _Wish()


def named(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a public function with `name=`, or with a scope of its own, while a graph is built.

    What it adds is named after it: a single operation gets the name itself. Of several, the one that is the
    result does, and the others are below it.
    """
    name = kwargs.get("name")
    if name is None and hasattr(function, "__code__"):
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        if "name" in names and names.index("name") < len(args):
            name = args[names.index("name")]
    if isinstance(name, bytes):
        name = name.decode()
    graph = context.current_graph()
    if graph is None:
        return function(*args, **kwargs)
    scope = getattr(function, "graph_scope", None)
    if name and not (isinstance(name, str) and takes_over(function)):
        return function(*args, **kwargs)
    # A function in the place of its sibling, of 1.x or 2.x, is in the scope already.
    wanted = name or (scope if scope != wishes.scope else None)
    if wanted is None:
        return function(*args, **kwargs)
    around, wishes.scope = wishes.scope, scope
    try:
        if name or not wanted.endswith("/"):
            return _below(graph, wanted, function, args, kwargs)
        with graph.name_scope(wanted[:-1]):
            return function(*args, **kwargs)
    finally:
        wishes.scope = around


def operator(name: str, function: Any, x: TensorLike, y: TensorLike) -> Any:
    """What an operator of tensors does while a graph is built: its nodes are named after it, not after their kinds."""
    graph = context.current_graph()
    if isinstance(x, (np.ndarray, np.generic)):
        x = _like(x, y)
    if graph is None or isinstance(function, _native.Op):
        wishes.name = name
        try:
            return function(x, y)
        finally:
            wishes.name = None
    return _below(graph, name, function, (x, y), {})


def _like(array: Any, y: TensorLike) -> Any:
    """An array left of a tensor, in the tensor's dtype: the tensor's operator is the one that is called."""
    if not isinstance(y, (_native.Tensor, SymbolicTensor, _native.Variable)):
        return array
    wanted = y.dtype.base_dtype
    if array.dtype.kind not in "biufc" or not (
        wanted.is_bool or wanted.is_integer or wanted.is_floating or wanted.is_complex
    ):
        return array
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # complex numbers lose their imaginary parts, as in TensorFlow
        return np.asarray(array).astype(wanted.as_numpy_dtype)


def _below(graph: Graph, name: str, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    first = len(graph.operations)
    unique = name[:-1] if name.endswith("/") else graph.unique_name(name)
    with graph.name_scope(unique + "/"):
        result = function(*args, **kwargs)
    _take_name(graph, result, unique, first)
    return result


def takes_over(function: Any) -> bool:
    """Whether `name=` means the operations that a function adds: not for methods, nor where the name comes first."""
    code = getattr(function, "__code__", None)
    if (
        code is None
        or "." in function.__qualname__.replace("<locals>.", "")
        or hasattr(function, "names_itself")
    ):
        return False
    return code.co_varnames[:1] != ("name",)


def _take_name(graph: Graph, result: Any, name: str, first: int) -> None:
    while isinstance(result, (list, tuple)) and result:
        result = result[0]
    op = (
        result
        if isinstance(result, Operation)
        else getattr(result, "op", None)
        if isinstance(result, SymbolicTensor)
        else None
    )
    if op is None or op.graph is not graph or op.index < first or name in graph.names:
        return
    own = op.name + "/"
    graph.rename(op, name)
    # The constants among its inputs are below it.
    for each in graph.operations[first : op.index]:
        if (
            each.name.startswith(own)
            and (below := f"{name}/{each.name[len(own) :]}") not in graph.names
        ):
            graph.rename(each, below)


def name_after_scope(result: Any) -> None:
    """Give an operation the name of the scope that it was added in, as the one that the scope is about."""
    graph, scope = context.current_graph(), context.current_name_scope().rstrip("/")
    if graph is not None and scope and isinstance(result, SymbolicTensor):
        _take_name(graph, result, scope, result.op.index)


def wish(name: str | None) -> None:
    """Let the next operation have `name`."""
    wishes.name = name
