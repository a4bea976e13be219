"""What takes over when a public function fails to take its arguments: packages above the ops say so here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.api import providers

# Each (function, args, kwargs) -> result, or NotImplemented.
registered: list[Callable[[Any, Any, Any], Any]] = []


def register(stand_in: Callable[[Any, Any, Any], Any]) -> None:
    """Lets `stand_in(function, args, kwargs)` answer for public functions that raise TypeError or ValueError."""
    registered.append(stand_in)


# What answers for any function, these included; set by the `ops` package.
answer: Callable[[Any, Any, Any], Any] = lambda function, args, kwargs: NotImplemented  # noqa: E731


def shape_of_sizes(tensor: Any) -> Any:
    """Return the `TensorShape` that a symbolic vector of sizes stands for.

    Args:
      tensor: the vector.
    """
    return providers.load("operators").constant_value_as_shape(tensor)


def sparse_operator(name: str) -> Callable[[Any, Any], Any]:
    """Return the function behind an operator of sparse tensors.

    Args:
      name: "scaled" or "divided".
    """
    return getattr(providers.load("sparse_operators"), name)
