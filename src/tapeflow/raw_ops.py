"""tf.raw_ops: every row of the op table as a function of keywords, under TensorFlow's names."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing  # by its own name, as there is an op Any
from collections.abc import Callable
from functools import cache

from tapeflow import ops
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.public import public
from tapeflow.graph.conditional import Body
from tapeflow.ops.raw_function import RAW_FUNCTIONS
from tapeflow.ops.resource_op import RESOURCE_OPS
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
_ABOVE_ROWS = ("function.batching", "graph.session_handles", "train.remapping", "train.saving_nodes")


@cache
def _load_all() -> None:
    """Import every module of ops, also those that nothing has used yet."""
    for module in pkgutil.iter_modules(ops.__path__):
        importlib.import_module(f"tapeflow.ops.{module.name}")
    for name in _ABOVE_ROWS:
        importlib.import_module(f"tapeflow.{name}")


@cache
def _function(name: str) -> Callable[..., typing.Any]:
    row = REGISTRY[name]
    renamed = _RENAMED.get(name, {})

    def function(**arguments: typing.Any) -> typing.Any:
        arguments.pop("name", None)
        given = {renamed.get(key, key): value for key, value in arguments.items()}
        missing = [key for key in row.inputs if key not in given]
        if missing:
            raise TypeError(f"{name} missing required argument {missing[0]!r}")
        inputs = [given.pop(key) for key in row.inputs]
        return row(*inputs, **given)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = _signature(row, renamed)  # type: ignore[attr-defined]
    function.__doc__ = f"The op {name}: {row.signature}"
    return public(function)


def _signature(row: typing.Any, renamed: dict[str, str]) -> inspect.Signature:
    """What `function` takes, all by keyword: the inputs, the attrs with their defaults, a name."""
    shown = {own: public_name for public_name, own in renamed.items()}
    parameters = [
        inspect.Parameter(
            shown.get(key, key),
            inspect.Parameter.KEYWORD_ONLY,
            default=row.defaults.get(key, inspect.Parameter.empty),
        )
        for key in (*row.inputs, *row.attrs)
    ]
    last = inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None)
    return inspect.Signature([*parameters, last])


@cache
def _resource_function(name: str) -> Callable[..., typing.Any]:
    """The function of an op of objects behind handles."""
    op = RESOURCE_OPS[name]
    inputs = [argument.name for argument in op.inputs]

    def function(**arguments: typing.Any) -> typing.Any:
        missing = [key for key in inputs if key not in arguments]
        if missing:
            raise TypeError(f"{name} missing required argument {missing[0]!r}")
        unknown = arguments.keys() - {*inputs, *op.attrs, "name"}
        if unknown:
            raise TypeError(f"{name} got an unexpected keyword argument {min(unknown)!r}")
        given = [arguments.pop(key) for key in inputs]
        types = {key: _as_kind(op.attrs[key][0], key, value) for key, value in arguments.items() if key in op.attrs}
        return _by_output(op, op(*given, name=arguments.get("name"), **types))

    function.__name__ = function.__qualname__ = name
    function.__signature__ = _resource_signature(op)  # type: ignore[attr-defined]
    function.__doc__ = f"The op {name}: {op.signature}"
    return public(function)


def _by_output(op: typing.Any, found: typing.Any) -> typing.Any:
    """The results of an op, of which an output that is a list is one too."""
    lists = [op.is_list(argument) for argument in op.outputs]
    if len(lists) < 2 or not any(lists):
        return found
    length = len(found) - len(lists) + 1  # of the one list
    at = lists.index(True)
    return [*found[:at], list(found[at : at + length]), *found[at + length :]]


def _resource_signature(op: typing.Any) -> inspect.Signature:
    """The inputs, the attrs that do not follow from them, and a name, all by keyword; required ones first."""
    inferred = {argument.type for argument in op.inputs}
    given = dict.fromkeys((argument.name for argument in op.inputs), inspect.Parameter.empty)
    attrs = {key: kind[1] if len(kind) > 1 else inspect.Parameter.empty for key, kind in op.attrs.items()}
    for wants_default in (False, True):
        for key, default in attrs.items():
            if key not in inferred and (default is not inspect.Parameter.empty) == wants_default:
                given[key] = default
    parameters = [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default)
        for key, default in {**given, "name": None}.items()
    ]
    return inspect.Signature(parameters)


def _as_kind(kind: str, key: str, value: typing.Any) -> typing.Any:
    if kind == "func":
        if not hasattr(value, "graph"):
            raise TypeError(
                f"The attr {key!r} is a concrete function, not {value!r}: use "
                "`tf.function(f).get_concrete_function(...)`"
            )
        return Body(value.graph, list(value.outputs))
    if kind == "list(type)":
        return [as_dtype(each) for each in value]
    return as_dtype(value) if kind == "type" else value


@cache
def _composed_function(name: str) -> Callable[..., typing.Any]:
    """The function of an op that is a composition."""
    composed = RAW_FUNCTIONS[name]
    signature = inspect.signature(composed)
    required = [key for key, p in signature.parameters.items() if p.default is p.empty]

    def function(**arguments: typing.Any) -> typing.Any:
        missing = [key for key in required if key not in arguments]
        if missing:
            raise TypeError(f"{name} missing required argument {missing[0]!r}")
        return composed(**arguments)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[p.replace(kind=p.KEYWORD_ONLY) for p in signature.parameters.values()]
    )
    function.__doc__ = f"The op {name}: {composed.__doc__}"
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
    if name in RESOURCE_OPS:
        return _resource_function(name)
    raise AttributeError(f"module 'tapeflow.raw_ops' has no attribute {name!r}")


def __dir__() -> list[str]:
    _load_all()
    return sorted({*REGISTRY, *RESOURCE_OPS, *RAW_FUNCTIONS})
