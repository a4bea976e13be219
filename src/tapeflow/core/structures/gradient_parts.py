"""The tensors inside of composites by which gradients are taken, and the composites that gradients by them make.

Most kinds have one such tensor. Those of several, of which a gradient has the same structure, are taken apart first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.structures import nest

_parts: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {}
_several: list[type] = []


def register(kind: type, part: Callable[[Any], Any], rebuilt: Callable[[Any, Any], Any]) -> None:
    """Let gradients be taken by values of a class.

    Args:
      kind: the class.
      part: gives the differentiable tensor of a value.
      rebuilt: makes the gradient of a value of the value and the gradient by its part.
    """
    _parts[kind] = part, rebuilt


def register_several(kind: type) -> None:
    """Let the gradient by a value of a class, or of one below it, be such a value of the gradients by its tensors."""
    _several.append(kind)


def taken_apart(values: Any) -> list[Any] | None:
    """The leaves of a structure, with lists of tensors for values of several; None where there are none of those."""
    kinds, leaves = tuple(_several), nest.flatten(values)
    if not any(isinstance(each, kinds) for each in leaves):
        return None
    return [nest.flatten(each, expand_composites=True) if isinstance(each, kinds) else each for each in leaves]


def put_together(values: Any, gradients: list[Any], zeros: Callable[[Any], Any]) -> Any:
    """The gradients by a structure.

    Args:
      values: the structure.
      gradients: those by what was taken apart of it.
      zeros: gives the gradient by a tensor that has none, where the others of its value have some.
    """
    kinds = tuple(_several)

    def together(value: Any, found: Any) -> Any:
        if not isinstance(value, kinds):
            return found
        if all(each is None for each in found):
            return None
        tensors = nest.flatten(value, expand_composites=True)
        given = [zeros(x) if dx is None else dx for x, dx in zip(tensors, found, strict=True)]
        return nest.pack_sequence_as(value, given, expand_composites=True)

    return nest.pack_sequence_as(values, list(map(together, nest.flatten(values), gradients)))


def part_of(value: Any) -> Any:
    """The tensor by which gradients are taken; the value itself where its class is not registered."""
    found = _parts.get(type(value))
    return value if found is None else found[0](value)


def is_registered(value: Any) -> bool:
    """Whether gradients by the value are gradients by a part of it."""
    return type(value) in _parts


def gradient_by(value: Any, gradient: Any) -> Any:
    """What the gradient by a value's part says of the value; None stays None."""
    found = _parts.get(type(value))
    return gradient if found is None or gradient is None else found[1](value, gradient)
