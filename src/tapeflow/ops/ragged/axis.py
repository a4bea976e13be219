"""Which dimension of a ragged tensor is meant."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def positive_axis(axis: Any, rank: int | None, name: str = "axis", extra: int = 0) -> int:
    """`axis` counted from the front; `extra`: how many dimensions are about to be added.

    Raises TypeError for what is no integer, ValueError where it is out of range, or negative without a known rank.
    """
    if not isinstance(axis, (int, np.integer)):
        kind = "EagerTensor" if hasattr(axis, "numpy") else type(axis).__name__
        raise TypeError(f"{name} must be an int; got {kind}")
    # What a class says of its numbers is one thing here and another there.
    axis = int.__index__(axis) if isinstance(axis, int) else operator.index(axis)
    if rank is None:
        if axis < 0:
            raise ValueError(f"{name}={axis} may only be negative if ndims is statically known.")
        return axis
    count = rank + extra
    if not -count <= axis < count:
        raise ValueError(f"{name}={axis} out of bounds: expected {-count}<={name}<{count}")
    return axis + count if axis < 0 else axis
