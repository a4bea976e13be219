"""Which dimension of a ragged tensor is meant."""

from __future__ import annotations

from typing import Any

import numpy as np


def positive_axis(axis: Any, rank: int | None, name: str = "axis", extra: int = 0) -> int:
    """`axis` counted from the front; `extra`: how many dimensions are about to be added.

    Raises TypeError for what is no integer, ValueError where it is out of range, or negative without a known rank.
    """
    if not isinstance(axis, (int, np.integer)):
        kind = "EagerTensor" if hasattr(axis, "numpy") else type(axis).__name__
        raise TypeError(f"{name} must be an int; got {kind}")
    if rank is None:
        if axis < 0:
            raise ValueError(f"{name}={axis} may only be negative if ndims is statically known.")
        return int(axis)
    count = rank + extra
    if not -count <= axis < count:
        raise ValueError(f"{name}={axis} out of bounds: expected {-count}<={name}<{count}")
    return int(axis) + count if axis < 0 else int(axis)
