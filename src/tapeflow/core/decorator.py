"""Decorators that can be told apart from what they decorate: `make_decorator` marks one, `unwrap` looks inside."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any


class TFDecorator:
    """What is known of one decorator: its name, what it decorates, and what it says of itself.

    Attributes:
      decorator_name: its name.
      decorated_target: what it decorates.
      decorator_doc: what it adds to the docstring.
      decorator_argspec: the arguments of the decorated function, a `FullArgSpec`; None: those of the target.
    """

    def __init__(
        self, decorator_name: str, target: Any, decorator_doc: str = "", decorator_argspec: Any = None
    ):
        self._name, self._target = decorator_name, target
        self._doc, self._argspec = decorator_doc, decorator_argspec
        if hasattr(target, "__name__"):
            self.__name__ = target.__name__
        if hasattr(target, "__qualname__"):
            self.__qualname__ = target.__qualname__
        if decorator_doc:
            self.__doc__ = decorator_doc
        elif getattr(target, "__doc__", None):
            self.__doc__ = target.__doc__
        if decorator_argspec is not None:
            self.__signature__ = signature_of(decorator_argspec)
        elif callable(target):
            with contextlib.suppress(TypeError, ValueError):  # built-in functions may have none
                self.__signature__ = inspect.signature(target)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._target.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._target(*args, **kwargs)

    @property
    def decorated_target(self) -> Any:
        return self._target

    @decorated_target.setter
    def decorated_target(self, value: Any) -> None:
        self._target = value

    @property
    def decorator_name(self) -> str:
        return self._name

    @property
    def decorator_doc(self) -> str:
        return self._doc

    @property
    def decorator_argspec(self) -> Any:
        return self._argspec


def signature_of(fullargspec: Any) -> inspect.Signature:
    """A `FullArgSpec` as a signature."""
    defaults = fullargspec.defaults or ()
    first = len(fullargspec.args) - len(defaults)
    kinds = inspect.Parameter
    found = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=defaults[i - first] if i >= first else kinds.empty)
        for i, name in enumerate(fullargspec.args)
    ]
    if fullargspec.varargs is not None:
        found.append(kinds(fullargspec.varargs, kinds.VAR_POSITIONAL))
    for name in fullargspec.kwonlyargs:
        default = (fullargspec.kwonlydefaults or {}).get(name, kinds.empty)
        found.append(kinds(name, kinds.KEYWORD_ONLY, default=default))
    if fullargspec.varkw is not None:
        found.append(kinds(fullargspec.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(found)


def make_decorator(
    target: Callable[..., Any],
    decorator_func: Callable[..., Any],
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Callable[..., Any]:
    """Marks `decorator_func` as a decorator of `target`, with its name, docstring and signature; returns it.

    Args:
      target: what is decorated.
      decorator_func: what is called in its place.
      decorator_name: None for the name of the function that calls this one.
      decorator_doc: takes the place of the docstring of `target`.
      decorator_argspec: a `FullArgSpec`; None for that of `target`.
    """
    if decorator_name is None:
        frame = inspect.currentframe()
        decorator_name = frame.f_back.f_code.co_name if frame and frame.f_back else "decorator"
    made = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    func: Any = decorator_func
    func._tf_decorator = made
    for name in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, name):
            setattr(func, name, getattr(target, name))
    for name, value in getattr(target, "__dict__", {}).items():
        if name not in func.__dict__:
            func.__dict__[name] = value
    if made.__doc__:
        func.__doc__ = made.__doc__
    func.__wrapped__ = func.__original_wrapped__ = target
    if hasattr(made, "__signature__"):
        func.__signature__ = made.__signature__
        if decorator_argspec is None:
            _bind(func, target)
    return func


def _bind(func: Any, target: Any) -> None:
    """Presents what decorates a bound method as a method too, where the arguments that it shows still have `self`."""
    decorators, inside = unwrap(target)
    methods = [each for each in (inside, *(d.decorated_target for d in decorators)) if inspect.ismethod(each)]
    parameters = list(func.__signature__.parameters.values())
    if methods and parameters and parameters[0].name == "self":
        func.__signature__ = inspect.Signature(parameters[1:])
        func.__self__ = methods[0].__self__


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """([decorators, the outermost first], what is inside of them all)."""
    found: list[TFDecorator] = []
    inside = maybe_tf_decorator
    while True:
        if isinstance(inside, TFDecorator):
            found.append(inside)
        elif isinstance(mark := getattr(inside, "_tf_decorator", None), TFDecorator):
            found.append(mark)
        else:
            return found, inside
        inside = found[-1].decorated_target


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """Puts `new_target` in the place of what is inside of the decorators; `decorator_func`, or the new target."""
    innermost, inside = None, decorator_func
    while inside is not previous_target:
        mark = inside if isinstance(inside, TFDecorator) else getattr(inside, "_tf_decorator", None)
        if not isinstance(mark, TFDecorator):
            break
        innermost, holder, inside = mark, inside, mark.decorated_target
    if innermost is None:
        return new_target
    innermost.decorated_target = new_target
    if hasattr(holder, "__wrapped__"):
        holder.__wrapped__ = new_target
    return decorator_func
