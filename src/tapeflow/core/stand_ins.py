"""What takes over when a public function fails to take its arguments: packages above the ops say so here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.api import providers
from tapeflow.core.tensor_shape import TensorShape

# Each (function, args, kwargs) -> result, or NotImplemented.
registered: list[Callable[[Any, Any, Any], Any]] = []


def register(stand_in: Callable[[Any, Any, Any], Any]) -> None:
    """Lets `stand_in(function, args, kwargs)` answer for public functions that raise TypeError or ValueError."""
    registered.append(stand_in)


# What answers for any function, these included; set by the `ops` package.
answer: Callable[[Any, Any, Any], Any] = lambda function, args, kwargs: NotImplemented  # noqa: E731


def shape_of_sizes(tensor: Any) -> TensorShape:
    """Return what is known of the shape that a vector of sizes stands for; -1 stands for a size that is not known.

    Args:
      tensor: the vector, eager or of a graph.
    """
    numpy = getattr(tensor, "numpy", None)
    if numpy is not None:
        return TensorShape([None if size == -1 else size for size in numpy().tolist()])
    known = getattr(tensor, "known_sizes", None)
    if known is not None:
        return TensorShape(known)
    return providers.load("operators").constant_value_as_shape(tensor)


def sparse_operator(name: str) -> Callable[[Any, Any], Any]:
    """Return the function behind an operator of sparse tensors.

    Args:
      name: "scaled" or "divided".
    """
    return getattr(providers.load("sparse_operators"), name)
