"""Arguments of Keras 2 that Keras 3 does not have, or knows under other names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def leaves_out(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of functions that accept arguments of Keras 2 which choose between what is one here.

    Args:
      *names: the arguments.

    Returns:
      The decorator. Functions do not show the arguments.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                for name in names:
                    kwargs.pop(name, None)
            return function(*args, **kwargs)

        return call

    return decorate


def takes_old_names(**names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of functions that also take arguments by old names.

    Args:
      **names: the names of today, by the old ones.

    Returns:
      The decorator. Functions show the names of today only, and raise TypeError for calls that give both.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                for old, new in names.items():
                    if old in kwargs:
                        if new in kwargs:
                            raise TypeError(f"{function.__name__}() got both {new!r} and its old name {old!r}")
                        kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
