"""The types of an extension type's fields: which annotations there are, and values converted to them."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import structure
from tapeflow.core.tensor_shape import TensorShape, as_shape

_PLAIN = (int, float, str, bytes, bool, type(None))
_MAPPINGS = (typing.get_origin(typing.Mapping[str, int]), dict)


class ImmutableDict(Mapping):
    """A mapping that cannot be changed."""

    def __init__(self, *args: Any, **kwargs: Any):
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items})"


def immutable(value: Any) -> Any:
    """A value of a field of any type, with `ImmutableDict`s in the place of dicts."""
    if isinstance(value, Mapping):
        return ImmutableDict((key, immutable(item)) for key, item in value.items())
    return tuple(map(immutable, value)) if isinstance(value, (list, tuple)) else value


def plain(value: Any) -> Any:
    """A value of a field with dicts in the place of `ImmutableDict`s."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def _is_composite(annotation: Any) -> bool:
    return isinstance(annotation, type) and hasattr(annotation, "_type_spec")


def is_union(annotation: Any) -> bool:
    """Whether an annotation names several types."""
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def check(name: str, annotation: Any) -> None:
    """Raises TypeError for an annotation that no field can have."""
    try:
        _check(annotation, False)
    except TypeError as error:
        raise TypeError(f"In field {name!r}: {error}") from None


def _check(annotation: Any, of_key: bool) -> None:
    """`of_key`: whether it is the type of the keys of a mapping, which tensors cannot be."""
    if annotation in _PLAIN or annotation in (None, dtypes.DType):
        return
    if annotation in (_native.Tensor, TensorShape) or _is_composite(annotation):
        if of_key:
            raise TypeError(f"Mapping had a key {annotation.__name__!r} with type {type(annotation).__name__!r}")
        return
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if is_union(annotation) or origin is tuple:
        for part in arguments:
            if part is not Ellipsis:
                _check(part, of_key)
    elif origin in _MAPPINGS and arguments:
        _check(arguments[0], True)
        _check(arguments[1], of_key)
    else:
        raise TypeError(f"Unsupported type annotation {_spelled(annotation)}")


def holds_tensors(annotation: Any) -> bool:
    """Whether a value of this type may have tensors in it."""
    parts = [part for part in typing.get_args(annotation) if part is not Ellipsis]
    return annotation is _native.Tensor or _is_composite(annotation) or any(map(holds_tensors, parts))


def _spelled(annotation: Any) -> str:
    plain = isinstance(annotation, type) and not typing.get_args(annotation)
    return repr(annotation.__name__) if plain else str(annotation)


def _wrong(path: str, expected: str, value: Any) -> TypeError:
    return TypeError(f"{path}: expected {expected}, got {type(value).__name__!r}")


def convert(value: Any, annotation: Any, path: str, of_spec: bool) -> Any:
    """`value` as the annotation says, or `of_spec` the description of such a value.

    Raises TypeError that names the path to what does not fit.
    """
    if annotation is _native.Tensor:
        return _tensor(value, path, of_spec)
    if annotation is Any:
        return value
    if annotation in _PLAIN or annotation is None:
        kind = type(None) if annotation is None else annotation
        if not isinstance(value, kind) or (kind in (int, float) and isinstance(value, bool)):
            raise _wrong(path, _spelled(kind), value)
        return value
    if annotation is TensorShape:
        return as_shape(value)
    if annotation is dtypes.DType:
        return dtypes.as_dtype(value)
    if is_union(annotation):
        return _alternative(value, annotation, path, of_spec)
    origin = typing.get_origin(annotation)
    if origin is tuple:
        return _tuple(value, typing.get_args(annotation), path, of_spec)
    if origin in _MAPPINGS:
        if not isinstance(value, Mapping):
            raise _wrong(path, "mapping", value)
        key_type, value_type = typing.get_args(annotation)
        return ImmutableDict(
            (
                convert(k, key_type, f"{path}[<key>]", of_spec),
                convert(v, value_type, f"{path}[{k!r}]", of_spec),
            )
            for k, v in value.items()
        )
    if of_spec and _is_composite(annotation):
        if isinstance(value, TypeSpec):
            return value
        raise _wrong(path, f"a TypeSpec of {annotation.__name__}", value)
    if not isinstance(value, annotation):
        raise _wrong(path, _spelled(annotation), value)
    return value


def _tensor(value: Any, path: str, of_spec: bool) -> Any:
    if of_spec:
        if not isinstance(value, TensorSpec):
            raise _wrong(path, "a TensorSpec", value)
        return value
    if isinstance(value, _native.Tensor):
        return value
    try:
        if value is None:
            raise TypeError
        return convert_to_tensor(value)
    except (TypeError, ValueError):
        raise _wrong(path, "a Tensor", value) from None


def _alternative(value: Any, annotation: Any, path: str, of_spec: bool) -> Any:
    parts = typing.get_args(annotation)
    # What is one of the types already is not converted to an earlier one.
    exact = [p for p in parts if isinstance(p, type) and type(value) is p]
    for part in [*exact, *parts]:
        try:
            return convert(value, part, path, of_spec)
        except TypeError:
            continue
    raise _wrong(path, str(annotation), value)


def _tuple(value: Any, parts: tuple[Any, ...], path: str, of_spec: bool) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple, np.ndarray)):
        raise _wrong(path, "tuple", value)
    if len(parts) == 2 and parts[1] is Ellipsis:
        parts = (parts[0],) * len(value)
    elif len(parts) != len(value):
        raise TypeError(
            f"{path}: expected tuple with length {len(parts)}, got {type(value).__name__!r})"
        )
    return tuple(
        convert(v, part, f"{path}[{i}]", of_spec)
        for i, (v, part) in enumerate(zip(value, parts, strict=True))
    )


def components(value: Any) -> list[Any]:
    """The tensors and composites in a converted value, in the order that `with_components` takes them."""
    if isinstance(value, Mapping):
        return [c for key in sorted(value) for c in components(value[key])]
    if isinstance(value, tuple):
        return [c for part in value for c in components(part)]
    if isinstance(value, (_native.Tensor, TypeSpec)) or structure.is_nested_or_composite(value):
        return [value] if not isinstance(value, TensorShape) else []
    return []


def with_components(value: Any, parts: Iterator[Any]) -> Any:
    """A converted value with other tensors and composites in it."""
    if isinstance(value, Mapping):
        made = {key: with_components(value[key], parts) for key in sorted(value)}
        return ImmutableDict((key, made[key]) for key in value)
    if isinstance(value, tuple):
        return tuple(with_components(part, parts) for part in value)
    return next(parts) if components(value) else value


def described(value: Any) -> Any:
    """A converted value with the specs of its tensors and composites."""
    if isinstance(value, Mapping):
        return ImmutableDict((key, described(v)) for key, v in value.items())
    if isinstance(value, tuple):
        return tuple(described(v) for v in value)
    own = getattr(value, "_type_spec", None)
    if own is not None:
        return own
    return TensorSpec(value.shape, value.dtype) if isinstance(value, _native.Tensor) else value
