"""`tf.experimental.dispatch_for_api` and related functions: the public API for types that programs define."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import stand_ins
from tapeflow.core.context import name_scope
from tapeflow.core.public import dispatched, public
from tapeflow.core.specs import extension_type
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control import assertions
from tapeflow.ops.math import comparison, reductions

_by_function: dict[Any, list[tuple[dict[str, Any], Callable[..., Any]]]] = {}
_unary: list[tuple[Any, Callable[..., Any]]] = []
_binary: list[tuple[Any, Any, Callable[..., Any]]] = []
_binary_assertions: list[tuple[Any, Any, Callable[..., Any]]] = []

_ASSERTIONS = (
    assertions.assert_equal, assertions.assert_greater, assertions.assert_greater_equal, assertions.assert_less,
    assertions.assert_less_equal, assertions.assert_near, assertions.assert_none_equal,
)  # fmt: skip


# What programs registered for one function, and for all of them.
_dispatchers: dict[Any, list[Any]] = {}
_global_dispatchers: list[Any] = []


class OpDispatcher:
    """Base of what takes the calls of one function that fails to take its arguments.

    `handle(args, kwargs)` returns the result, or `OpDispatcher.NOT_SUPPORTED`.
    """

    NOT_SUPPORTED = object()

    def handle(self, args: Any, kwargs: Any) -> Any:
        """The result of a call; `NOT_SUPPORTED` by default."""
        return self.NOT_SUPPORTED

    def register(self, op: Any) -> None:
        """Lets this dispatcher take the calls of `op`. Raises AssertionError for what takes no part in dispatch."""
        op = getattr(op, "__func__", op)
        if not _takes_part(op):
            raise AssertionError(f"Dispatching not enabled for {op}")
        _dispatchers.setdefault(op, []).append(self)


class GlobalOpDispatcher:
    """Base of what takes the calls of all functions that fail to take their arguments.

    `handle(op, args, kwargs)` returns the result, or `GlobalOpDispatcher.NOT_SUPPORTED`.
    """

    NOT_SUPPORTED = OpDispatcher.NOT_SUPPORTED

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        """The result of a call; `NOT_SUPPORTED` by default."""
        return self.NOT_SUPPORTED

    def register(self) -> None:
        """Lets this dispatcher take calls."""
        _global_dispatchers.append(self)


def add_dispatch_support(target: Any = None, iterable_parameters: Any = None) -> Any:
    """Lets a function of a program or library take part in dispatch: a decorator, with or without arguments.

    Where the function raises TypeError or ValueError, whatever was registered for it, or for all functions, may take
    the call.
    """
    if not isinstance(iterable_parameters, (list, tuple, type(None))):
        raise TypeError("iterable_parameters should be a list or tuple of string.")
    if target is None:
        return functools.partial(add_dispatch_support, iterable_parameters=iterable_parameters)
    return target if isinstance(target, _native.PublicFunction) else dispatched(target)


def _takes_part(api: Any) -> bool:
    return isinstance(api, type(dispatch_for_api)) or hasattr(api, "_takes_part_in_dispatch")


def _matches(value: Any, annotation: Any) -> bool:
    """Whether a value is what an annotation says."""
    if annotation is inspect.Parameter.empty or annotation is Any:
        return True
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return any(_matches(value, part) for part in parts)
    if origin is list:
        return (
            isinstance(value, (list, tuple))
            and bool(value)
            and all(_matches(v, parts[0]) for v in value)
        )
    if origin is Sequence:
        return isinstance(value, (list, tuple))
    if annotation is None:
        return value is None
    return isinstance(value, annotation)


def _own_types(annotation: Any) -> bool:
    """Whether an annotation names a type that is not a tensor's, so that it can tell calls apart."""
    parts = typing.get_args(annotation)
    if parts:
        return any(map(_own_types, parts))
    return isinstance(annotation, type) and not issubclass(
        annotation, (_native.Tensor, _native.Variable)
    )


@public
def dispatch_for_api(api, *signatures):
    """A decorator: the function answers for calls of `api` whose arguments match the annotations of its parameters,
    or one of the `signatures`, dicts of annotations by the name or position of a parameter.

    Annotations are types, and Union, Optional and List of such. The function may do without the parameter `name`: it
    is called in the name scope then. Raises ValueError if nothing is annotated, for other annotations, if the
    parameters are not those of `api`, or if `api` is no function of the public API; TypeError for what are no
    signatures.
    """
    if not _takes_part(api):
        raise ValueError(f"{api} does not support dispatch.")
    for signature in signatures:
        if not isinstance(signature, Mapping) or not all(isinstance(key, (str, int)) for key in signature):
            raise TypeError("signatures must be dictionaries mapping parameter names to type annotations.")

    def decorate(dispatch_target):
        if not callable(dispatch_target):
            raise TypeError(f"Expected dispatch_target to be callable, got {dispatch_target!r}.")
        ours = inspect.signature(api)
        given = [_by_name(s, ours) for s in signatures or [_annotated(dispatch_target)]]
        if not any(any(map(_own_types, s.values())) for s in given):
            raise ValueError(
                "The dispatch_for_api decorator must be called with at least one signature, or applied to a "
                "function that has type annotations on its parameters."
            )
        _check_parameters(inspect.signature(dispatch_target), ours)
        for signature in given:
            _check_annotations(signature, ours)
            _by_function.setdefault(api, []).append((signature, dispatch_target))
        return dispatch_target

    return decorate


def _by_name(signature: Mapping[Any, Any], ours: inspect.Signature) -> dict[str, Any]:
    names = list(ours.parameters)
    return {names[key] if isinstance(key, int) and key < len(names) else key: a for key, a in signature.items()}


_ANY_ARGUMENTS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _check_parameters(theirs: inspect.Signature, ours: inspect.Signature) -> None:
    """Raise ValueError unless a function has the parameters of another one, but for `name`, or takes any arguments."""
    names, own = list(theirs.parameters), list(ours.parameters)
    if {p.kind for p in theirs.parameters.values()} >= set(_ANY_ARGUMENTS):
        return
    if names not in (own, [n for n in own if n != "name"]):
        raise ValueError(
            f"Dispatch function's signature {_bare(theirs)} does not match API's signature {_bare(ours)}."
        )


def _bare(signature: inspect.Signature) -> inspect.Signature:
    """A signature without annotations."""
    empty = inspect.Signature.empty
    parameters = [p.replace(annotation=empty) for p in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=empty)


def _check_annotations(signature: dict[Any, Any], ours: inspect.Signature) -> None:
    for name, annotation in signature.items():
        if name not in ours.parameters:
            raise ValueError(f"signature includes annotation for unknown parameter {name!r}.")
        if ours.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
            raise ValueError(
                f"Dispatch currently only supports type annotations for positional parameters, not for {name!r}."
            )
        if not _is_supported(annotation):
            raise ValueError(
                f"Type annotation {annotation} is not currently supported by dispatch. Supported are types, and "
                "Union, Optional and List of them."
            )


def _is_supported(annotation: Any) -> bool:
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType, list):
        return all(map(_is_supported, parts))
    if origin is Sequence:
        return parts == (Any,)
    return annotation in (None, Any) or (origin is None and isinstance(annotation, type))


def _annotated(function: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(function)
    hints.pop("return", None)
    return hints


def _registered(handlers: list[Any], entry: tuple[Any, ...], kind: str) -> None:
    for *types_, handler in handlers:
        if tuple(types_) == entry[:-1]:
            named = " and ".join(str(t) for t in types_)
            raise ValueError(
                f"A {kind} elementwise dispatch handler ({handler}) has already been registered for {named}."
            )
    handlers.append(entry)


@public
def dispatch_for_unary_elementwise_apis(x_type):
    """A decorator: `handler(api_func, x)` answers for the functions of one tensor that treat each element alike,
    where `x` is of `x_type`. `api_func` takes the one argument. Raises ValueError for a type that has a handler.
    """

    def decorator(handler):
        _registered(_unary, (x_type, handler), "unary")
        return handler

    return decorator


@public
def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """A decorator: `handler(api_func, x, y)` answers for the functions of two tensors that treat their elements
    pair by pair. Raises ValueError for types that have a handler.

    Args:
      x_type: the type annotation of the first tensor.
      y_type: the type annotation of the second tensor.
    """

    def decorator(handler):
        _registered(_binary, (x_type, y_type, handler), "binary")
        return handler

    return decorator


@public
def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """A decorator: `handler(assert_func, x, y)` answers for `tf.debugging.assert_equal` and the other assertions.

    Raises ValueError for types that have a handler.

    Args:
      x_type: the type annotation of the first tensor.
      y_type: the type annotation of the second tensor.
    """

    def decorator(handler):
        _registered(_binary_assertions, (x_type, y_type, handler), "binary")
        return handler

    return decorator


@public
def unregister_dispatch_for(dispatch_target):
    """Ends what a `dispatch_for_...` decorator began. Raises ValueError if none decorated the function."""
    found = False
    for targets in _by_function.values():
        kept = [t for t in targets if t[1] is not dispatch_target]
        found |= len(kept) < len(targets)
        targets[:] = kept
    for handlers in (_unary, _binary, _binary_assertions):
        others = [h for h in handlers if h[-1] is not dispatch_target]
        found |= len(others) < len(handlers)
        handlers[:] = others
    if not found:
        raise ValueError(
            f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator."
        )


def _stand_in(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a program's own function makes of a call that failed, NotImplemented where none takes it."""
    if _dispatchers or _global_dispatchers:
        answers = [
            *(functools.partial(each.handle, args, kwargs) for each in _dispatchers.get(function, ())),
            *(functools.partial(each.handle, function, args, kwargs) for each in _global_dispatchers),
        ]
        for answer in answers:
            result = answer()
            if result is not OpDispatcher.NOT_SUPPORTED:
                return result
    if function in _by_function:
        try:
            call = inspect.signature(function).bind(*args, **kwargs)
        except TypeError:
            return NotImplemented
        call.apply_defaults()
        bound = call.arguments
        for signature, target in reversed(_by_function[function]):
            if all(_matches(bound[name], a) for name, a in signature.items()):
                return _called(function, target, args, kwargs)
    if not (_unary or _binary or _binary_assertions):
        return NotImplemented
    from tapeflow.ops import composite_dispatch  # the tables of what is elementwise

    unary, binary = composite_dispatch.elementwise_functions()
    names = list(inspect.signature(function).parameters)
    values, rest, named = _leading(names, args, dict(kwargs), 1 if function in unary else 2)
    at = names.index("name") - len(values) if "name" in names else len(rest)
    name = named.pop("name", rest[at] if 0 <= at < len(rest) else None)
    if 0 <= at < len(rest):
        rest = (*rest[:at], None, *rest[at + 1 :])
    if function in unary and len(values) == 1:
        for x_type, handler in reversed(_unary):
            if _matches(values[0], x_type):
                return _scoped(name, lambda: handler(lambda x: function(x, *rest, **named), *values))  # noqa: B023
    handlers = (
        _binary if function in binary else _binary_assertions if function in _ASSERTIONS else []
    )
    if len(values) == 2:
        for x_type, y_type, handler in reversed(handlers):
            if _matches(values[0], x_type) and _matches(values[1], y_type):
                return _scoped(name, lambda: handler(lambda x, y: function(x, y, *rest, **named), *values))  # noqa: B023
    return NotImplemented


def _called(function: Any, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a program's own function returns; where it takes no name, it is called in the scope of that name."""
    parameters = inspect.signature(target).parameters
    if "name" in parameters or any(p.kind in _ANY_ARGUMENTS for p in parameters.values()):
        return target(*args, **kwargs)
    at = list(inspect.signature(function).parameters).index("name")
    name = kwargs.get("name", args[at] if at < len(args) else None)
    return _scoped(name, lambda: target(*args[:at], **{k: v for k, v in kwargs.items() if k != "name"}))


def _scoped(name: str | None, function: Callable[[], Any]) -> Any:
    """What a function returns that is called in a name scope, if there is a name."""
    with name_scope(name) if name else contextlib.nullcontext():
        return function()


def _leading(
    names: list[str], args: tuple[Any, ...], kwargs: dict[str, Any], count: int
) -> tuple[list[Any], tuple[Any, ...], dict[str, Any]]:
    """The first arguments, by position or by name, and the others."""
    values = list(args[:count])
    for name in names[len(values) : count]:
        if name in kwargs:
            values.append(kwargs.pop(name))
    return values, args[count:], kwargs


stand_ins.register(_stand_in)


def _all_equal(tensors: list[Any], others: list[Any]) -> Any:
    if len(tensors) != len(others):
        return False
    pairs = []
    for a, b in zip(tensors, others, strict=True):
        # Shapes that differ are not equal, even where one could be broadcast to the other.
        for x, y in ((shape(a), shape(b)), (a, b)):
            pairs.append(reductions.reduce_all(comparison.Equal(x, y, incompatible_shape_error=False)))
    return reductions.reduce_all(stack(pairs)) if pairs else True


extension_type.register_comparison(_all_equal)


class _ByTypes(OpDispatcher):
    """Hands a call to a function where an argument is of one of some types."""

    def __init__(self, function: Any, types: tuple[type, ...]):
        self._function, self._types = function, types

    def handle(self, args: Any, kwargs: Any) -> Any:
        values = [*args, *kwargs.values()]
        values += [v for each in values if isinstance(each, (list, tuple)) for v in each]
        if any(isinstance(v, self._types) for v in values):
            return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED


def dispatch_for_types(op: Any, *types: type) -> Any:
    """A decorator: the function takes the calls of `op` that have an argument of one of some types.

    Raises AssertionError where the parameters of the function are not those of `op`.
    """

    def decorate(function: Any) -> Any:
        if list(inspect.signature(op).parameters) != list(inspect.signature(function).parameters):
            raise AssertionError("The decorated function's signature must exactly match the signature of the op.")
        _ByTypes(function, types).register(op)
        return function

    return decorate
