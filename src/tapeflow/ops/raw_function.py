"""Ops of TensorFlow without a row, because what they do is a composition: `tf.raw_ops` has them all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])
RAW_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def raw_function(name: str) -> Callable[[_F], _F]:
    """Decorates the function that is the op `name`: its parameters are the op's inputs and attrs."""

    def register(function: _F) -> _F:
        RAW_FUNCTIONS[name] = function
        return function

    return register
