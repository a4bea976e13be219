"""arg_scope: default arguments of functions, for the calls inside a block."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any

__all__ = [
    "add_arg_scope", "arg_scope", "arg_scope_func_key", "arg_scoped_arguments", "current_arg_scope",
    "has_arg_scope",
]  # fmt: skip

# The arguments with defaults of each function that takes part: those that a scope may set.
_arguments: dict[str, tuple[str, ...]] = {}


class _Stack(threading.local):
    def __init__(self) -> None:
        self.scopes: list[dict[str, dict[str, Any]]] = [{}]


_stack = _Stack()


def current_arg_scope() -> dict[str, dict[str, Any]]:
    """{key of a function: the arguments it gets}."""
    return _stack.scopes[-1]


def arg_scope_func_key(op: Any) -> str:
    """What a function is called in scopes."""
    return getattr(op, "_key_op", str(op))


def _described(op: Any) -> tuple[str, str]:
    return op.__module__, op.__name__


def _defaults(func: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(func).parameters.values()
    return tuple(p.name for p in parameters if p.default is not p.empty)


def add_arg_scope(func: Callable[..., Any]) -> Any:
    """The decorator of functions that take arguments from scopes; what a call gives goes first."""
    key = str(_described(func)) + f" at {id(func)}"
    _arguments[key] = _defaults(func)

    @functools.wraps(func)
    def with_scope(*args: Any, **kwargs: Any) -> Any:
        given = current_arg_scope().get(key)
        if given:
            kwargs = {**given, **kwargs}
        return func(*args, **kwargs)

    with_scope._key_op = key  # type: ignore[attr-defined]
    return with_scope


def has_arg_scope(func: Callable[..., Any]) -> bool:
    """Whether a function takes arguments from scopes."""
    return arg_scope_func_key(func) in _arguments


def arg_scoped_arguments(func: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that a scope may set. Raises AssertionError for a function that takes none."""
    if not has_arg_scope(func):
        raise AssertionError(f"{func} has no arg_scope")
    return _arguments[arg_scope_func_key(func)]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Any:
    """A block in which functions get other defaults: `arg_scope([conv2d], padding="SAME")`, or a scope of before.

    Raises TypeError for what is neither a list nor a scope, ValueError for a function that takes no arguments from
    scopes, for an argument that none of them has, and for arguments with a scope of before.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling a dictionary, kwargs must be empty."
            )
        scope = {key: dict(arguments) for key, arguments in list_ops_or_scope.items()}
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError(
                "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)"
            )
        scope = dict(current_arg_scope())
        for op in list_ops_or_scope:
            if inspect.isclass(op) and not has_arg_scope(op):
                op = op.__init__  # the decorated method of a class
            if not has_arg_scope(op):
                raise ValueError(f"{_described(op)} is not decorated with @add_arg_scope")
            key = arg_scope_func_key(op)
            scope[key] = {**scope.get(key, {}), **kwargs}
    _stack.scopes.append(scope)
    try:
        yield scope
    finally:
        _stack.scopes.pop()
