"""`public`: marks a function that programs call, so that tracebacks end in their code, not in ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from tapeflow import _native

F = TypeVar("F", bound=Callable[..., Any])

PACKAGE_DIRECTORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_native.set_package_directory(PACKAGE_DIRECTORY)

if TYPE_CHECKING:

    def public(function: F) -> F:
        """The same function, with the package's own frames left out of the traceback of an exception."""
        return function

else:
    public = _native.PublicFunction


def names_itself(function: F) -> F:
    """The same function, whose argument `name` is not to become the name of what it adds to a graph."""
    function.names_itself = True  # type: ignore[attr-defined]
    return function


C = TypeVar("C", bound=type)
_SPECIAL = {"__init__", "__call__", "__getitem__", "__setitem__", "__iter__", "__next__"}


def public_methods(cls: C) -> C:
    """The class, with `public` applied to those of its own methods that programs call."""
    for name, method in list(vars(cls).items()):
        if isinstance(method, FunctionType) and (name in _SPECIAL or not name.startswith("_")):
            setattr(cls, name, public(method))
    return cls
