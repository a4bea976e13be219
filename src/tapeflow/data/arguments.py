"""Arguments of dataset transformations: integers as TensorFlow takes them, errors as it words them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core.errors import InvalidArgumentError


class GraphSeeds(NamedTuple):
    """The two seeds that a graph gives a random dataset, in place of its seed."""

    first: int | None
    second: int | None


def integer(value: Any, op: str):
    """A Python int from an int, a number of NumPy's or an integer scalar tensor. Raises TypeError for others."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    elif isinstance(value, (np.ndarray, np.number, np.bool_)) and np.ndim(value) == 0 and np.isfinite(value):
        value = int(value)  # as every conversion of NumPy's numbers, also of a count that was divided or rounded up
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"Cannot convert {value!r} to EagerTensor of dtype int64 [Op:{op}]"
        ) from None
    if not -(2**63) <= number < 2**63:
        raise InvalidArgumentError(None, None, f"{number} does not fit in int64 [Op:{op}]")
    return number


def require(condition: bool, message: str, op: str):
    """Raises InvalidArgumentError that names the transformation's op."""
    if not condition:
        raise InvalidArgumentError(None, None, f"{message} [Op:{op}]")


def require_callable(fn: Callable[..., Any], name: str = "func"):
    """Raises ValueError for an argument that should be a function and is not."""
    if not callable(fn):
        raise ValueError(
            f"Argument `{name}` must be a callable. Received {name}={fn!r} (of type {type(fn)})."
        )
