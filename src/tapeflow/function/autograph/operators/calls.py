"""Calls: what is called is converted first, if it is a function of the program."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from inspect import getattr_static
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from tapeflow import _native
from tapeflow.function.autograph.operators import lists
from tapeflow.ops.array import joining, stacking

# Packages whose functions are called as they are.
_KNOWN = frozenset({
    "IPython", "PIL", "_pytest", "absl", "google", "jax", "keras", "matplotlib", "ml_dtypes", "numpy", "optree",
    "pandas", "pytest", "scipy", "sklearn", "tapeflow", "tensorflow", "tf_keras", "torch", "tqdm", "wrapt",
})  # fmt: skip
_LEFT_ALONE = (_KNOWN | frozenset(sys.stdlib_module_names)) - {"__main__"}


def _unregistered(f: FunctionType) -> FunctionType:
    raise AssertionError(f)


# Gives the converted function; see `register_conversion`.
converted: Callable[[FunctionType], FunctionType] = _unregistered


def register_conversion(convert: Callable[[FunctionType], FunctionType]) -> None:
    """Say what converts functions: a module that is made of the operators."""
    global converted
    converted = convert


# What converted code calls in place of a function of Python.
_overloads: dict[Any, Callable[..., Any]] = {}


def register_overloads(overloads: dict[Any, Callable[..., Any]]) -> None:
    """Let converted code call these functions in place of the keys."""
    _overloads.update(overloads)


_plain: dict[
    int, Any
] = {}  # functions of this package that are called as they are, by their identity


@functools.cache
def is_left_alone(module: str | None) -> bool:
    """Whether functions of a module are called without being converted."""
    return module is not None and module.partition(".")[0] in _LEFT_ALONE


def cv(f: Any) -> Any:
    """`f` as converted code calls it."""
    kind = type(f)
    if kind is FunctionType:
        if is_left_alone(f.__globals__.get("__name__")):
            return _with_converted_arguments(f)
        return converted(f)
    if kind is BuiltinFunctionType or kind is type:
        return _overloads.get(f, f)
    if kind is MethodType:
        return _method(f)
    if kind is functools.partial:
        return functools.partial(cv(f.func), *f.args, **f.keywords)
    if kind is _native.PublicFunction:
        return _with_converted_arguments(f)
    if isinstance(f, type):
        return f
    return _callable_object(f)


def _method(f: MethodType) -> Any:
    function = f.__func__
    if type(function) is not FunctionType:
        return f
    if is_left_alone(function.__globals__.get("__name__")) or _is_test_case(f.__self__):
        return f
    new = converted(function)
    return f if new is function else MethodType(new, f.__self__)


def _is_test_case(owner: Any) -> bool:
    unittest = sys.modules.get("unittest")
    return unittest is not None and isinstance(owner, unittest.TestCase)


def _callable_object(f: Any) -> Any:
    """An object with a `__call__` of the program."""
    call = getattr_static(type(f), "__call__", None)
    if type(call) is not FunctionType or is_left_alone(call.__globals__.get("__name__")):
        return f
    new = converted(call)
    return f if new is call else MethodType(new, f)


# Functions of this package that call the functions they are given while the graph is built.
_CALLERS = frozenset({
    "case", "cond", "custom_gradient", "foldl", "foldr", "grad_pass_through", "map_fn", "recompute_grad", "scan",
    "switch_case", "vectorized_map", "while_loop",
})  # fmt: skip


def _with_converted_arguments(f: Any) -> Any:
    if id(f) in _plain:
        return f
    name = getattr(f, "__name__", "").removesuffix("_v1")
    if f is stacking.stack:
        return lists.stack
    if f is joining.concat:
        return lists.concat
    if name not in _CALLERS or not getattr(f, "__module__", "").startswith("tapeflow."):
        if type(f) is _native.PublicFunction:
            _plain[id(f)] = f
        return f

    def call(*args: Any, **kwargs: Any) -> Any:
        return f(*map(_argument, args), **{k: _argument(v) for k, v in kwargs.items()})

    return call


def _argument(x: Any) -> Any:
    if isinstance(x, (FunctionType, MethodType, functools.partial)):
        return cv(x)
    if isinstance(x, dict):
        return {k: _argument(v) for k, v in x.items()}
    if type(x) in (list, tuple) and any(map(callable, _flat(x))):
        return type(x)(map(_argument, x))
    return x


def _flat(x: Any) -> list[Any]:
    return [z for y in x for z in (_flat(y) if isinstance(y, (list, tuple)) else (y,))]


def cv_builtins(f: Any) -> Any:
    """`cv` for functions that are converted without what they call."""
    if type(f) in (BuiltinFunctionType, type):
        return _overloads.get(f, f)
    return f
