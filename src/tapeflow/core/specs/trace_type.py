"""`TraceType`: what of an argument a trace of a function depends on. Specs are such; programs may define their own."""

from __future__ import annotations

import abc
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow._native import Tensor
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import structure


class TraceType(abc.ABC):
    """Base of the types that objects give of themselves by `__tf_tracing_type__(context)`.

    A function is traced anew for arguments whose types are not equal to those of a trace that there is.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: Any) -> bool:
        """Whether a trace for `other` serves this as well."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """The type that serves this and all of `others`; None if there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """What stands for the argument in a trace."""

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors in a value of this type."""
        return []

    def from_tensors(self, tensors: Any) -> Any:
        """A value of this type with these tensors in it."""
        return self.placeholder_value(None)

    def flatten(self) -> list[Any]:
        """The specs of the tensors in a value of this type."""
        return []

    def cast(self, value: Any, cast_context: Any) -> Any:
        """`value` as one of this type. Raises TypeError where it is none."""
        return value

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


TraceType.register(TypeSpec)


@typing.runtime_checkable
class SupportsTracingProtocol(typing.Protocol):
    """What objects look like that say on what of them a trace depends."""

    def __tf_tracing_type__(self, context: Any) -> Any:
        """The `TraceType` of the object."""


class Literal:
    """The type of a Python value: of one that is equal."""

    def __init__(self, value: Any):
        self.value = value

    def __repr__(self) -> str:
        return f"Literal[{self.value!r}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and (
            other.value is self.value or bool(other.value == self.value)
        )

    def __hash__(self) -> int:
        try:
            return hash(self.value)
        except TypeError:
            return id(type(self.value))


class Collection:
    """The type of a list, tuple or dict: those of its components."""

    def __init__(self, name: str, components: Any):
        self.name = name
        self.components = components

    def __repr__(self) -> str:
        if isinstance(self.components, Mapping):
            inner = ", ".join(f"[{key!r}, {value!r}]" for key, value in self.components.items())
        else:
            inner = ", ".join(map(repr, self.components))
        return f"{self.name}[{inner}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Collection) and (self.name, self.components) == (
            other.name,
            other.components,
        )

    def __hash__(self) -> int:
        return hash((self.name, len(self.components)))


def of_structure(value: Any) -> Any:
    """The type of a structure of specs, tensors and Python values."""
    if isinstance(value, (TypeSpec, TraceType)):
        return value
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    own = getattr(value, "_type_spec", None)
    if own is not None:
        return own
    if isinstance(value, Mapping):
        return Collection("Dict", {key: of_structure(v) for key, v in value.items()})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return Collection(type(value).__name__, dict(zip(value._fields, map(of_structure, value), strict=True)))
    if isinstance(value, (list, tuple)) and structure.is_nested(value):
        return Collection(
            "List" if isinstance(value, list) else "Tuple", tuple(map(of_structure, value))
        )
    tracing_type = getattr(value, "__tf_tracing_type__", None)
    return Literal(value) if tracing_type is None or isinstance(value, type) else tracing_type(None)
