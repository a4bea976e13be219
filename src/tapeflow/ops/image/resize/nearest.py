"""Images of another size, with the values of the nearest pixels."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching
from tapeflow.ops.folding import fold_at
from tapeflow.ops.image.resize.samples import ALIGNED, HALF, PLAIN, resize_samples, transposed
from tapeflow.ops.image.resize.taps import (
    CENTERS,
    IMAGES,
    checked_images,
    require_one,
    scale_of,
    size_rule,
)
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _nearest(size, out, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    scale = scale_of(size, out, align_corners)
    at = np.arange(out, dtype=np.float32)
    at = (at + np.float32(0.5)) * scale if half_pixel_centers else at * scale
    # Halves are rounded away from zero.
    places = np.floor(at + np.float32(0.5)) if align_corners else np.floor(at)
    return places.astype(np.int64).clip(0, size - 1)


@op("ResizeNearestNeighbor", "images: T, size: int32 -> resized_images: T", types={"T": IMAGES},
    attrs=CENTERS, shape=size_rule)  # fmt: skip
def ResizeNearestNeighbor(xp: ModuleType, images: Array, size: Array, align_corners, half_pixel_centers):
    height, width = checked_images(images, size)
    require_one(align_corners, half_pixel_centers)
    flags = (align_corners, half_pixel_centers)
    rows = _nearest(images.shape[1], height, *flags)
    columns = _nearest(images.shape[2], width, *flags)
    return xp.take(xp.take(images, rows, axis=1), columns, axis=2)


ResizeNearestNeighbor.batching(batching.folded(0))


@ResizeNearestNeighbor.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    size = call.shape("images")[1:3]
    return ResizeNearestNeighborGrad(dy, size, call.align_corners, call.half_pixel_centers), None


ResizeNearestNeighbor.samples(resize_samples(PLAIN, ALIGNED, HALF))


@ResizeNearestNeighbor.reference
def _(images, size, align_corners: bool, half_pixel_centers: bool):
    def nearest(n, out, i):
        if half_pixel_centers:
            return min((2 * i + 1) * n // (2 * out), n - 1)
        if align_corners and out > 1:
            return (2 * i * (n - 1) + out - 1) // (2 * (out - 1))
        return min(i * n // out, n - 1)

    rows = [nearest(images.shape[1], int(size[0]), i) for i in range(int(size[0]))]
    columns = [nearest(images.shape[2], int(size[1]), i) for i in range(int(size[1]))]
    return images[:, rows][:, :, columns]


_NEAREST_GRADS = (
    dtypes.float32, dtypes.uint8, dtypes.int8, dtypes.int32, dtypes.float16, dtypes.float64, dtypes.bfloat16,
)  # fmt: skip


@op("ResizeNearestNeighborGrad", "grads: T, size: int32 -> output: T",
    types={"T": _NEAREST_GRADS}, attrs=CENTERS, shape=size_rule)  # fmt: skip
def ResizeNearestNeighborGrad(xp, grads, size, align_corners, half_pixel_centers):
    height, width = checked_images(grads, size)
    flags = (align_corners, half_pixel_centers)
    rows = _nearest(height, grads.shape[1], *flags)
    columns = _nearest(width, grads.shape[2], *flags)
    out = np.zeros((grads.shape[0], height, width, grads.shape[3]), grads.dtype)
    if xp is not np:
        return xp.asarray(out).at[:, rows[:, None], columns].add(grads)
    fold_at(np.add, out, (np.arange(len(out))[:, None, None], rows[:, None], columns), grads)
    return out


@ResizeNearestNeighborGrad.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    size = call.shape("grads")[1:3]
    return ResizeNearestNeighbor(dy, size, call.align_corners, call.half_pixel_centers), None


@ResizeNearestNeighborGrad.samples
def _(rng: SampleGenerator):
    for setting in (PLAIN, ALIGNED, HALF):
        yield Sample(rng.normal(1, 3, 2, 1), np.array([2, 4], np.int32), **setting)
    yield Sample(rng.normal(1, 3, 2, 1), np.array([0, 4], np.int32), raises=InvalidArgumentError)
    yield Sample(rng.normal(3, 2, 1), np.array([2, 4], np.int32), raises=InvalidArgumentError)


@ResizeNearestNeighborGrad.reference
def _(grads, size, **attrs):
    original = np.zeros((grads.shape[0], *size, grads.shape[3]))
    return transposed(ResizeNearestNeighbor.formula)(grads, original, **attrs)
