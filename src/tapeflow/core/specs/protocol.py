"""The protocol between composite values and their specs, which TensorFlow spells with underscores.

What TensorFlow does not reserve is asked of the class: a field of an extension type may have the same name.

A composite value has a `_type_spec`. A spec takes values apart and puts them together; a program may define either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def type_spec_of(value: Any) -> Any:
    """The spec of a composite value."""
    return value._type_spec


def parts_of_spec(spec: Any) -> tuple[Any, ...]:
    """The arguments that make an equal spec."""
    found: tuple[Any, ...] = type(spec)._parts(spec)
    return found


def serialized(spec: Any) -> Any:
    """The fields of a spec of a registered class, as its class writes them."""
    return spec._serialize()


def deserialized(kind: Any, fields: Any) -> Any:
    """A spec of a registered class from the fields that it wrote."""
    return kind._deserialize(fields)


def paired_parts(spec: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Pairs of an argument of a spec and that of another one of its class."""
    return zip(parts_of_spec(spec), parts_of_spec(other), strict=True)


def component_specs(spec: Any) -> Any:
    """The structure of specs of what a value is made of."""
    return spec._component_specs


def to_components(spec: Any, value: Any) -> Any:
    """The structure of what a value is made of."""
    return spec._to_components(value)


def from_components(spec: Any, components: Any) -> Any:
    """The value that is made of these."""
    return spec._from_components(components)


def flat_specs(spec: Any) -> list[Any]:
    """The specs of the tensors that a value is made of."""
    found: list[Any] = spec._flat_tensor_specs
    return found


def from_fitting_tensors(spec: Any, tensors: Sequence[Any]) -> Any:
    """The value of tensors that are known to fit."""
    return spec._from_compatible_tensor_list(tensors)


def from_placeholders(spec: Any, make: Callable[..., Any]) -> Any:
    """A value whose tensors `make(dtype, sizes)` gives; sizes are None for a shape of unknown rank."""
    return type(spec)._from_placeholders(spec, make)


def batched(spec: Any, size: int | None) -> Any:
    """The spec of several values in a stack."""
    return type(spec)._batch(spec, size)


def unbatched(spec: Any) -> Any:
    """The spec of one value of a stack."""
    return type(spec)._unbatch(spec)
