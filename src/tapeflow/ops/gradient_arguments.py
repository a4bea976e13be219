"""Arguments that all functions of gradients have: the weights of targets, and what unconnected sources get."""

from __future__ import annotations

import enum
from typing import Any

from tapeflow.api import api
from tapeflow.core.convert import is_symbolic_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.array.broadcasting import broadcast_static_shape, broadcast_to
from tapeflow.ops.array.layout import reshape


@api("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """What the gradient is where the target does not depend on the source: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


def in_shape_of(target: Any, weights: Any) -> Any:
    """`weights` in the shape of `target`, as far as both are known.

    TensorFlow does not look at the shapes: the gradients of most ops broadcast weights, and programs give a number for
    all elements, or [1] for a scalar.

    Raises ValueError, or InvalidArgumentError for values, where the shapes do not fit.
    """
    given, wanted = weights.shape, target.shape
    if given.is_compatible_with(wanted):
        return weights
    if wanted.is_fully_defined():
        if given.num_elements() == wanted.num_elements():
            return reshape(weights, wanted.as_list())
        try:
            if broadcast_static_shape(given, wanted) == wanted:
                return broadcast_to(weights, wanted.as_list())
        except ValueError:
            pass
    message = f"The weights of the target's elements have shape {given}, but the target has shape {wanted}"
    if is_symbolic_tensor(weights) or is_symbolic_tensor(target):
        raise ValueError(message)
    raise InvalidArgumentError(None, None, message)
