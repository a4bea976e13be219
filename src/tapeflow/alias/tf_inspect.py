"""`tensorflow.python.util.tf_inspect`: Python's `inspect`, for what is inside of TensorFlow's decorators."""

from __future__ import annotations

import inspect
import inspect as _inspect  # noqa: F401 (libraries use it under this name)
import os
from typing import Any

from tapeflow.core.decorator import unwrap
from tapeflow.core.public import PACKAGE_DIRECTORY

ArgSpec = inspect.FullArgSpec
FullArgSpec = inspect.FullArgSpec


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """The arguments of a function: those that one of its decorators says, else its own.

    Functions of this package are described without annotations. Most of those that TensorFlow wrote in Python have
    none (its generated functions of ops do, type variables of their own), and libraries compare the result with that
    of functions of their own.

    Raises TypeError for what is no function.
    """
    decorators, target = unwrap(obj)
    for decorator in decorators:
        if decorator.decorator_argspec is not None:
            return decorator.decorator_argspec
    spec = inspect.getfullargspec(target)
    code = getattr(inspect.unwrap(target), "__code__", None)
    return spec._replace(annotations={}) if code is not None and _is_own(code.co_filename) else spec


def _is_own(file: str) -> bool:
    return file.startswith(PACKAGE_DIRECTORY + os.sep)


getargspec = getfullargspec


def _inside(name: str) -> Any:
    original = getattr(inspect, name)

    def function(object: Any, *args: Any, **kwargs: Any) -> Any:
        return original(unwrap(object)[1], *args, **kwargs)

    function.__name__, function.__doc__ = name, original.__doc__
    return function


getdoc, getfile, getmodule = _inside("getdoc"), _inside("getfile"), _inside("getmodule")
getsource, getsourcefile, getsourcelines = _inside("getsource"), _inside("getsourcefile"), _inside("getsourcelines")
isbuiltin, isclass, isframe = _inside("isbuiltin"), _inside("isclass"), _inside("isframe")
isfunction, isgenerator = _inside("isfunction"), _inside("isgenerator")
isgeneratorfunction = _inside("isgeneratorfunction")
ismethod, ismodule, isroutine = _inside("ismethod"), _inside("ismodule"), _inside("isroutine")


def signature(obj: Any, *, follow_wrapped: bool = True) -> inspect.Signature:
    """The signature of a function."""
    return inspect.signature(obj, follow_wrapped=follow_wrapped)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """The arguments of a call by name. Raises TypeError where they do not fit."""
    func, positional = func_and_positional[0], func_and_positional[1:]
    bound = inspect.signature(func).bind(*positional, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


def isanytargetmethod(obj: Any) -> bool:
    """Whether what is inside of the decorators, or one of these, is a method."""
    decorators, target = unwrap(obj)
    return any(inspect.ismethod(getattr(d, "decorated_target", None)) for d in decorators) or inspect.ismethod(target)


def __getattr__(name: str) -> Any:
    return getattr(inspect, name)
