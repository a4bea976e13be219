"""Where programs call the package: marked here, so that tracebacks end in the program's code.

`public` marks a function of TensorFlow's API: it also takes part in dispatch, and `name=` names what it adds to a
graph. `boundary` and what is built on it only shorten tracebacks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from tapeflow import _native
from tapeflow.api.namespaces import PACKAGE_DIRECTORY as PACKAGE_DIRECTORY

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:

    def public(function: F) -> F:
        """The same function, with the package's own frames left out of the traceback of an exception."""
        return function

    def passing_tensors(function: F) -> F:
        """The same, for a function whose result for a tensor alone is that tensor."""
        return function

    def boundary(function: F) -> F:
        """The same, for hooks, methods and functions that take no part in dispatch and naming."""
        return function

else:
    public = _native.PublicFunction

    def passing_tensors(function: F) -> F:
        return _native.PublicFunction(function, passes_tensors=True)

    def boundary(function: F) -> F:
        return _native.PublicFunction(function, True)

# The modules that classes are shown in, by name, where that is said before they are loaded.
served_as: dict[str, str] = {}


def names_itself(function: F) -> F:
    """The same function, whose argument `name` is not to become the name of what it adds to a graph."""
    function.names_itself = True  # type: ignore[attr-defined]
    return function


def graph_scope(name: str) -> Callable[[F], F]:
    """Declare the name scope that a function of several operations has in a graph if it is called without a name.

    Args:
      name: of the scope, and of the operation that is the result; if it ends with "/", of the scope alone.
    """

    def declare(function: F) -> F:
        function.graph_scope = name  # type: ignore[attr-defined]
        return function

    return declare


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
_SPECIAL = {"__init__", "__call__", "__getitem__", "__setitem__", "__iter__", "__next__", "__len__"}


_OWN = __name__.partition(".")[0] + "."
# What a public method calls on the object anyway, in which a boundary more would only cost time.
_INNER = {"call", "build"}


def _bound(method: Any, mark: Callable[[Any], Any]) -> Any:
    """A method with `mark` applied; one that is called on the class gets `boundary`; None for anything else."""
    if isinstance(method, FunctionType):
        return mark(method)
    if isinstance(method, (classmethod, staticmethod)) and isinstance(method.__func__, FunctionType):
        return type(method)(boundary(method.__func__))
    return None


def _mark_methods(cls: type, mark: Callable[[Any], Any], left_out: Collection[str] = ()) -> None:
    """Apply `mark` to the own methods of a class that programs call."""
    for name, method in list(vars(cls).items()):
        if (name in _SPECIAL or name[0] != "_") and name not in left_out:
            if isinstance(method, FunctionType) and method.__doc__ is None:  # help() looks so for plain functions alone
                method.__doc__ = getattr(getattr(super(cls, cls), name, None), "__doc__", None)
            marked = _bound(method, mark)
            if marked is not None:
                setattr(cls, name, marked)


def boundary_methods(cls: C) -> C:
    """The class, with `boundary` applied to its own public methods; classes of programs stay as they are."""
    if cls.__module__.startswith(_OWN):
        _mark_methods(cls, boundary, _INNER)
    return cls


class Bounded:
    """Base of a hierarchy of classes whose methods end tracebacks in the code of the program."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        boundary_methods(cls)


def boundaries(module: dict[str, Any]) -> None:
    """Apply `boundary` to the public functions, and to the methods of the classes, that a module defines.

    `dir` of the module lists these from then on, or what is in its `__all__`, and not what it imports.

    Args:
      module: the `globals()` of the module, which calls this at its end.
    """
    module.setdefault("__dir__", functools.partial(_listed, module))
    made: dict[FunctionType, Any] = {}  # a function with several names stays one object
    for name, value in list(module.items()):
        if getattr(value, "__module__", None) != module["__name__"]:
            continue
        if isinstance(value, type):
            boundary_methods(value)
        elif isinstance(value, FunctionType) and name[0] != "_":
            if value not in made:
                made[value] = boundary(value)
            module[name] = made[value]


def _listed(module: dict[str, Any]) -> list[str]:
    names = module.get("__all__")
    if names is None:
        name = module["__name__"]
        names = [key for key, value in module.items() if key[0] != "_" and getattr(value, "__module__", None) == name]
    return sorted({*names, *(key for key in module if key[:2] == "__")})


def dispatched(function: Any) -> Any:
    """A function that takes part in dispatch as `public` ones do, and stays a plain function."""
    from tapeflow.core import decorator, stand_ins  # loaded with what needs it

    def handler(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            result = stand_ins.answer(handler, args, kwargs)
            if result is NotImplemented:
                raise
            return result

    handler._takes_part_in_dispatch = True  # type: ignore[attr-defined]
    return decorator.make_decorator(function, handler, "add_dispatch_support")


def dispatched_class_methods(cls: C) -> C:
    """The class, whose own class methods take part in dispatch."""
    for name, method in list(vars(cls).items()):
        if isinstance(method, classmethod) and not name.startswith("_"):
            setattr(cls, name, classmethod(dispatched(method.__func__)))
    return cls


def public_methods(cls: C) -> C:
    """The class, with `public` applied to those of its own methods that programs call, and `boundary` to the others.

    The others are its class methods and static methods.
    """
    _mark_methods(cls, public)
    return cls


def defines(kind: type, base: type, name: str) -> bool:
    """Return whether a class has a method of its own in place of that of its base."""
    return getattr(kind, name) is not getattr(base, name)


def public_names(module: dict[str, Any]) -> list[str]:
    """Return the names of the public functions and classes that a module defines, in their order.

    Args:
      module: the `globals()` of the module.
    """
    own = module["__name__"]
    return [name for name, value in module.items() if name[0] != "_" and getattr(value, "__module__", None) == own]
