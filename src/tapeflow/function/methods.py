"""A traced method: the function bound to its object, which it does not keep alive."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any


class _Gone:
    """Stands for the object of a method that no longer exists, for methods that do not use it."""

    def __init__(self, method: str):
        self.__dict__["_method"] = method

    def __getattr__(self, name: str) -> Any:
        raise ReferenceError(
            f"the object of the traced method {self.__dict__['_method']!r} no longer exists: keep it in a variable "
            "while its method is called, as in `model = Model()`, `model.step(x)`"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        getattr(self, name)


class WeakMethod:
    """A function bound to an instance that it does not keep alive."""

    def __init__(self, function: Callable[..., Any], instance: Any):
        self.__func__ = function
        try:
            self._instance: Any = weakref.ref(instance)
        except TypeError:
            self._instance = lambda: instance
        functools.update_wrapper(self, function, updated=())

    @property
    def __self__(self) -> Any:
        instance = self._instance()
        return _Gone(self.__func__.__name__) if instance is None else instance

    @property
    def __signature__(self) -> Any:
        found = inspect.signature(self.__func__)
        return found.replace(parameters=list(found.parameters.values())[1:])

    def bound(self) -> Any:
        return types.MethodType(self.__func__, self.__self__)

    def __call__(self, *args, **kwargs):
        return self.__func__(self.__self__, *args, **kwargs)
