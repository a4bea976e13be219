"""tf.raw_ops: every op as a function of keywords, under TensorFlow's names."""

from __future__ import annotations

import importlib
import inspect
import typing  # by its own name, as there is an op Any
from collections.abc import Callable
from functools import cache

from tapeflow.core import context
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.public import public
from tapeflow.core.spelling import snake_case
from tapeflow.function import one_node
from tapeflow.graph.nodes import raw_nodes
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.node_rows import NODES
from tapeflow.ops.raw_function import RAW_FUNCTIONS
from tapeflow.ops.signature import Kind, func, type_list
from tapeflow.ops.signature import dtype as dtype_kind
from tapeflow.ops.state.resource_op import ResourceOp, row_of
from tapeflow.ops.table import REGISTRY

# Arguments that TensorFlow's Python functions call otherwise than the op itself.
_REDUCTION = {"axis": "reduction_indices"}
_RENAMED = {
    "All": _REDUCTION,
    "Any": _REDUCTION,
    "EuclideanNorm": _REDUCTION,
    "ExpandDims": {"axis": "dim"},
    "Max": _REDUCTION,
    "Mean": _REDUCTION,
    "Min": _REDUCTION,
    "Prod": _REDUCTION,
    "Select": {"x": "t", "y": "e"},
    "Split": {"axis": "split_dim"},
    "SplitV": {"axis": "split_dim"},
    "Squeeze": {"axis": "squeeze_dims"},
    "Sum": _REDUCTION,
    "Where": {"condition": "input"},
}


# Modules with ops that need what is above the layer of rows: checkpoints, functions, sessions.
_ABOVE_ROWS = (
    "tapeflow.function.batching",
    "tapeflow.graph.run.session_handles",
    "tapeflow.checkpoint.remapping",
    "tapeflow.checkpoint.first_nodes",
    "tapeflow.checkpoint.saving_nodes",
)


@cache
def _load_all() -> None:
    """Import every module of ops, also those that nothing has used yet."""
    load_all_rows()
    for name in _ABOVE_ROWS:
        importlib.import_module(name)


@cache
def _function(name: str) -> Callable[..., typing.Any]:
    row = REGISTRY[name]
    renamed = _RENAMED.get(name, {})

    def call(given: dict[str, typing.Any], name: str | None) -> typing.Any:
        given = {renamed.get(key, key): value for key, value in given.items()}
        inputs = [given.pop(key) for key in row.inputs]
        return row(*inputs, **given)

    shown = {own: public_name for public_name, own in renamed.items()}
    parameters = {
        shown.get(key, key): row.defaults.get(key, ...) for key in (*row.inputs, *row.attrs)
    }
    return _of_keywords(name, parameters, call, row.signature)


@cache
def _resource_function(name: str) -> Callable[..., typing.Any]:
    """The function of an op of objects behind handles."""
    op = row_of(name)
    assert op is not None, name
    inputs = [argument.name for argument in op.inputs]

    def call(given: dict[str, typing.Any], name: str | None) -> typing.Any:
        tensors = [given.pop(key) for key in inputs]
        types = {key: _as_kind(op.attrs[key], key, value) for key, value in given.items()}
        return _by_output(op, op(*tensors, name=name, **types))

    inferred = {argument.type for argument in op.inputs}
    parameters: dict[str, typing.Any] = dict.fromkeys(inputs, ...)
    attrs = {
        key: ... if kind.required else kind.default
        for key, kind in op.attrs.items()
        if key not in inferred
    }
    parameters |= dict(sorted(attrs.items(), key=lambda attr: attr[1] is not ...))
    return _of_keywords(name, parameters, call, op.signature)


def _by_output(op: typing.Any, found: typing.Any) -> typing.Any:
    """The results of an op, of which an output that is a list is one too."""
    lists = [argument.is_list for argument in op.outputs]
    if len(lists) < 2 or not any(lists):
        return found
    length = len(found) - len(lists) + 1  # of the one list
    at = lists.index(True)
    return [*found[:at], list(found[at : at + length]), *found[at + length :]]


def _as_kind(kind: Kind, key: str, value: typing.Any) -> typing.Any:
    if kind == func:
        return raw_nodes.body_of(key, value)
    if kind.elements == type_list.elements:
        return [as_dtype(each) for each in value]
    return as_dtype(value) if kind == dtype_kind else value


@cache
def _composed_function(name: str) -> Callable[..., typing.Any]:
    """The function of an op that is a composition."""
    composed = RAW_FUNCTIONS[name]
    own = inspect.signature(composed).parameters
    parameters = {
        key: ... if p.default is p.empty else p.default for key, p in own.items() if key != "name"
    }

    def call(given: dict[str, typing.Any], name: str | None) -> typing.Any:
        return composed(**given, **({"name": name} if "name" in own else {}))

    return _of_keywords(name, parameters, call, composed.__doc__)


@cache
def _node_function(name: str) -> Callable[..., typing.Any]:
    """The function of an op that is a node of graphs only. Eagerly, a graph of this node runs."""

    def call(given: dict[str, typing.Any], own_name: str | None) -> typing.Any:
        if context.runs_at_once():
            raw_nodes.check_eager(name)
        node = raw_nodes.bound(name, given)
        if context.runs_at_once():
            return one_node.run(node)
        return raw_nodes.make(node, own_name)

    return _of_keywords(name, raw_nodes.parameters(name), call, None)


def _of_keywords(
    op: str,
    parameters: dict[str, typing.Any],
    call: Callable[[dict[str, typing.Any], str | None], typing.Any],
    text: str | None,
) -> Callable[..., typing.Any]:
    """The function of an op.

    Args:
      parameters: the defaults of its arguments; `...` where one is required.
      call: runs it, given values of all required arguments and of some others, and a name.
      text: for its docstring.
    """
    own_name = snake_case(op)
    required = [key for key, default in parameters.items() if default is ...]

    def function(*args: typing.Any, **arguments: typing.Any) -> typing.Any:
        if args:
            raise TypeError(
                f"{own_name} only takes keyword args (possible keys: {[*parameters, 'name']}). Please pass these args "
                "as kwargs instead."
            )
        name = arguments.pop("name", None)
        for key in arguments:
            if key not in parameters:
                raise TypeError(f"{own_name}() got an unexpected keyword argument {key!r}")
        missing = [repr(key) for key in required if key not in arguments]
        if missing:
            many = "s" if len(missing) > 1 else ""
            listed = (
                " and ".join(missing)
                if len(missing) < 3
                else f"{', '.join(missing[:-1])}, and {missing[-1]}"
            )
            raise TypeError(
                f"{own_name}() missing {len(missing)} required positional argument{many}: {listed}"
            )
        return call(arguments, name)

    function.__name__ = function.__qualname__ = op
    kind = inspect.Parameter.KEYWORD_ONLY
    function.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                key, kind, default=inspect.Parameter.empty if default is ... else default
            )
            for key, default in {**parameters, "name": None}.items()
        ]
    )
    function.__doc__ = f"The op {op}: {text}" if text else f"The op {op}."
    return public(function)


def __getattr__(name: str) -> Callable[..., typing.Any]:
    if name.startswith("_"):
        raise AttributeError(f"module 'tapeflow.raw_ops' has no attribute {name!r}")
    if name not in REGISTRY:
        _load_all()
    if name in RAW_FUNCTIONS:
        return _composed_function(name)
    if name in REGISTRY:
        return _function(name)
    if row_of(name) is not None:
        return _resource_function(name)
    if name in raw_nodes.names():
        return _node_function(name)
    raise AttributeError(f"module 'tapeflow.raw_ops' has no attribute {name!r}")


def __dir__() -> list[str]:
    _load_all()
    # Names with an underscore are of nodes that only workers of clusters have.
    resource_ops = {name for name, row in NODES.items() if isinstance(row, ResourceOp) and not name.startswith("_")}
    return sorted({*REGISTRY, *resource_ops, *RAW_FUNCTIONS, *raw_nodes.names()})
