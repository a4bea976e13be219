"""Dilation of any windowed operation: it runs on the images of every `rate`-th pixel, and they are woven again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.ops.array.spatial import (
    BatchToSpaceND,
    SpaceToBatchND,
    required_space_to_batch_paddings,
)
from tapeflow.ops.static import as_shape, concrete_value, size_of, static_value


def _filled(values: np.ndarray, axes: list[int], fill: int):
    """One value for each spatial dimension from 1 to the last of `axes`, `fill` where there is none."""
    values = np.asarray(values)
    rows = [values[axes.index(i)] if i in axes else np.full_like(values[0], fill) for i in range(1, max(axes) + 1)]
    return np.array(rows, np.int32)


@api("nn.with_space_to_batch")
@public
def with_space_to_batch(
    input: TensorLike, dilation_rate: Sequence[int], padding: str, op: Callable[..., Any], filter_shape=None,
    spatial_dims=None, data_format: str | None = None,
):
    """Apply an operation as if its window had holes, by moving space into the batch.

    Args:
      input: a tensor, whose first dimension is the batch.
      dilation_rate: an int32 vector, one rate for each of `spatial_dims`; a rate of n means n - 1 holes.
      padding: "SAME", for which `filter_shape` must be given, or "VALID".
      op: called as `op(input, num_spatial_dims, padding)` with "VALID".
      filter_shape: the sizes of the window, a vector; None: not known.
      spatial_dims: which dimensions of `input` they are; None: those after the batch (and channels).
      data_format: "NC..." where the channels are the second dimension (optional).

    Returns:
      What `op` gives, with the batch as it was.

    Raises:
      ValueError: for rates below 1, and for other paddings and dimensions.
    """
    input = convert_to_tensor(input)
    rates = static_value(dilation_rate)
    if rates is None:
        raise ValueError("dilation_rate must be known")
    rates = np.asarray(rates)
    if rates.ndim != 1:
        raise ValueError(f"`dilation_rate.shape.rank` must be 1. Received: dilation_rate={dilation_rate}")
    count = len(rates)
    if (rates < 1).any():
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={rates}")
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = list(range(first, count + first)) if spatial_dims is None else [int(a) for a in spatial_dims]
    if axes != sorted(set(axes)) or (axes and axes[0] < 1):
        raise ValueError(
            f"`spatial_dims` must be a monotonically increasing sequence of positive integers. Received: {axes}"
        )
    rank, last = input.shape.rank, max(axes, default=0)
    if rank is not None and rank < last + 1:
        raise ValueError(
            f"`input.shape.rank` must be at least {last + 1}. Received: input.shape={input.shape} with rank={rank}"
        )
    if (rates == 1).all():
        return op(input, count, padding)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("`filter_shape` must be specified for `padding='SAME'`")
        taps = np.asarray(concrete_value(filter_shape))[:count]
        total = (taps - 1) * rates
        base = np.stack([total // 2, total - total // 2], 1)
    elif padding == "VALID":
        base = np.zeros((count, 2), np.int32)
    elif isinstance(padding, (list, tuple)):
        base = np.array([padding[a] for a in axes])
    else:
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    sizes = [size_of(input, a) for a in axes]
    blocks = rates.astype(np.int32)
    if all(isinstance(n, int) for n in sizes):
        whole = np.array(sizes) + base.sum(1)
        extra = -whole % rates
        pads = np.stack([base[:, 0], base[:, 1] + extra], 1)
        crops = np.stack([np.zeros_like(extra), extra], 1)
        blocks, pads, crops = (_filled(v, axes, f) for v, f in ((rates, 1), (pads, 0), (crops, 0)))
    else:
        if axes != list(range(1, count + 1)):
            raise ValueError(f"the sizes of the dimensions {axes} must be known")
        pads, crops = required_space_to_batch_paddings(as_shape(sizes), blocks, base.astype(np.int32))
    out = op(SpaceToBatchND(input, blocks, pads), count, "VALID")
    woven = BatchToSpaceND(out, blocks, crops)
    if rank is not None and input.shape.as_list()[0] is not None:
        woven.set_shape([input.shape.as_list()[0], *woven.shape.as_list()[1:]])
    return woven
