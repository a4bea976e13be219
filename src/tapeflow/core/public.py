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


def computes_tensors(function: F) -> F:
    """The same function, declared to compute tensors from its arguments and to do nothing else.

    It may draw random numbers and raise errors, but keeps and changes no state, touches nothing outside of the
    program and takes no functions, so that data from elsewhere, such as the config of a model, may name it.
    """
    function.computes_tensors = True  # type: ignore[attr-defined]
    return function


def tensor_function(function: F) -> F:
    """`public`, for a function that only `computes_tensors`."""
    return computes_tensors(public(function))


def is_tensor_function(value: Any) -> bool:
    """Whether `value` is a function that was declared to compute tensors and to do nothing else."""
    return isinstance(value, (FunctionType, _native.PublicFunction)) and hasattr(value, "computes_tensors")


C = TypeVar("C", bound=type)
_SPECIAL = {"__init__", "__call__", "__getitem__", "__setitem__", "__iter__", "__next__"}


def public_methods(cls: C) -> C:
    """The class, with `public` applied to those of its own methods that programs call."""
    for name, method in list(vars(cls).items()):
        if isinstance(method, FunctionType) and (name in _SPECIAL or not name.startswith("_")):
            setattr(cls, name, public(method))
    return cls
