"""Batches as (x, y, sample_weight)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2


def pack_x_y_sample_weight(
    x: TensorLike | dict[str, Any], y: TensorLike | None = None, sample_weight: TensorLike | None = None
):
    """Make a batch of its parts.

    Args:
      x: the inputs.
      y: the labels, or None.
      sample_weight: the weights, or None.

    Returns:
      A tuple of the parts that there are, or the inputs alone; inputs that are a tuple or a list (in Keras 2 also a
      dict) stand in a tuple of one.
    """
    if y is None:
        several = (tuple, list, Mapping) if keras_2() else (tuple, list)
        return x if not isinstance(x, several) else (x,)
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def unpack_x_y_sample_weight(data: TensorLike | dict[str, Any]):
    """(x, y, sample_weight) of a batch, None for what there is not. Raises ValueError for other batches."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if not 1 <= len(data) <= 3:
        raise ValueError(
            "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, "
            f"found: {data}"
        )
    return (*data, None, None)[:3]


boundaries(globals())
