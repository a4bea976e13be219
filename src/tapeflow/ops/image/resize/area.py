"""Images of another size, with means over areas."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from tapeflow.core.annotations import Array, TensorLike
from tapeflow.ops import batching
from tapeflow.ops.image.resize.samples import ALIGNED, PLAIN, place, resize_samples, sum_over
from tapeflow.ops.image.resize.taps import (
    IMAGES,
    Taps,
    checked_images,
    resized,
    scale_of,
    size_rule,
)
from tapeflow.ops.table import op


def _area(size, out, align_corners: bool) -> Taps:
    scale = float(scale_of(size, out, align_corners))
    start = np.arange(out) * scale
    end = (np.arange(out) + 1) * scale
    first = np.floor(start).astype(np.int64)
    count = int((np.ceil(end).astype(np.int64) - first).max(initial=1))
    wanted = first[:, None] + np.arange(count)
    covered = np.minimum(wanted + 1, end[:, None]) - np.maximum(wanted, start[:, None])
    weights = np.maximum(covered, 0) / scale
    return Taps(wanted.clip(0, size - 1), weights.astype(np.float32))


@op("ResizeArea", "images: T, size: int32 -> resized_images: float32", types={"T": IMAGES},
    attrs={"align_corners": False}, shape=size_rule)  # fmt: skip
def ResizeArea(xp: ModuleType, images: Array, size: Array, align_corners: bool):
    height, width = checked_images(images, size)
    rows = _area(images.shape[1], height, align_corners)
    return resized(xp, images, rows, _area(images.shape[2], width, align_corners))


ResizeArea.batching(batching.folded(0))


ResizeArea.samples(resize_samples(PLAIN, ALIGNED))


@ResizeArea.reference
def _(images: TensorLike, size, align_corners: bool):
    def weight(n, out, i, p):
        scale = place(n, out, 1, align_corners, False)
        total = 0.0
        for q in range(n + 4):
            if min(q, n - 1) == p:
                total += max(0.0, min(q + 1, (i + 1) * scale) - max(q, i * scale))
        return total / scale

    return sum_over(weight, images, size)
