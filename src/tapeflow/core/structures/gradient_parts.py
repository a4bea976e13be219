"""The tensor inside of a composite by which gradients are taken, and the composite that a gradient by it makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_parts: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {}


def register(kind: type, part: Callable[[Any], Any], rebuilt: Callable[[Any, Any], Any]) -> None:
    """Let gradients be taken by values of a class.

    Args:
      kind: the class.
      part: gives the differentiable tensor of a value.
      rebuilt: makes the gradient of a value of the value and the gradient by its part.
    """
    _parts[kind] = part, rebuilt


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
