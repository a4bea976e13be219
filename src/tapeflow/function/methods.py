"""A traced method: the function bound to its object, which it does not keep alive."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable
from typing import Any


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
        if instance is None:
            raise ReferenceError(
                f"the object of the traced method {self.__func__.__name__!r} no longer exists: keep it in a variable "
                "while its method is called, as in `model = Model()`, `model.step(x)`"
            )
        return instance

    @property
    def __signature__(self) -> Any:
        found = inspect.signature(self.__func__)
        return found.replace(parameters=list(found.parameters.values())[1:])

    def bound(self) -> Any:
        return types.MethodType(self.__func__, self.__self__)

    def __call__(self, *args, **kwargs):
        return self.__func__(self.__self__, *args, **kwargs)
