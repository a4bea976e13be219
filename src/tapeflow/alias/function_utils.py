"""`tensorflow.python.util.function_utils`: what libraries ask about the functions that they are given."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from tapeflow.alias.tf_inspect import getfullargspec


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of the arguments that may be given by position, without those that are bound already."""
    if isinstance(fn, functools.partial):
        names = fn_args(fn.func)
        return tuple(name for name in names[len(fn.args) :] if name not in fn.keywords)
    if not inspect.isroutine(fn) and not inspect.isclass(fn) and callable(fn):
        fn = fn.__call__
    names = tuple(getfullargspec(fn).args)
    return names[1:] if inspect.ismethod(fn) or inspect.isclass(fn) else names


def has_kwargs(fn: Any) -> bool:
    """Whether a function takes any other arguments by name."""
    if isinstance(fn, functools.partial):
        return has_kwargs(fn.func)
    if not callable(fn):
        raise TypeError(f"Argument `fn` should be a callable. Received: fn={fn} (of type {type(fn)})")
    if not inspect.isroutine(fn) and not inspect.isclass(fn):
        fn = fn.__call__
    return getfullargspec(fn).varkw is not None
