"""Images of another size, with cubic curves between pixels."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.ops import batching
from tapeflow.ops.image.resize.samples import (
    ALIGNED,
    HALF,
    PLAIN,
    gradient_samples,
    place,
    resize_samples,
    sum_over,
    transposed,
)
from tapeflow.ops.image.resize.taps import (
    CENTERS,
    IMAGES,
    Taps,
    checked_gradient,
    checked_images,
    gradient_rule,
    normalized,
    positions,
    require_one,
    resized,
    size_rule,
    spread_gradient,
)
from tapeflow.ops.table import op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall

_BICUBIC_STEPS = 1024  # TensorFlow rounds the position between two pixels to so many steps.


def _cubic_weights(a: float) -> tuple[np.ndarray, np.ndarray]:
    """Keys' cubic at the distances x and 1 + x for x in [0, 1], in steps."""
    x = np.arange(_BICUBIC_STEPS + 1) / _BICUBIC_STEPS
    far = x + 1
    return (
        (((a + 2) * x - (a + 3)) * x * x + 1).astype(np.float32),
        (((a * far - 5 * a) * far + 8 * a) * far - 4 * a).astype(np.float32),
    )


def _bicubic(size: int, out: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    at = positions(size, out, align_corners, half_pixel_centers)
    low = np.floor(at)
    step = np.rint((at - low) * _BICUBIC_STEPS).astype(np.int64)
    near, far = _cubic_weights(-0.5 if half_pixel_centers else -0.75)
    weights = np.stack(
        [far[step], near[step], near[_BICUBIC_STEPS - step], far[_BICUBIC_STEPS - step]], 1
    )
    wanted = low.astype(np.int64)[:, None] + np.arange(-1, 3)
    places = wanted.clip(0, size - 1)
    if half_pixel_centers:
        weights = normalized(np.where(places == wanted, weights, np.float32(0)))
    return Taps(places, weights)


@op("ResizeBicubic", "images: T, size: int32 -> resized_images: float32", types={"T": IMAGES},
    attrs=CENTERS, shape=size_rule)  # fmt: skip
def ResizeBicubic(xp: ModuleType, images: Array, size: Array, align_corners, half_pixel_centers):
    height, width = checked_images(images, size)
    require_one(align_corners, half_pixel_centers)
    flags = (align_corners, half_pixel_centers)
    rows = _bicubic(images.shape[1], height, *flags)
    return resized(xp, images, rows, _bicubic(images.shape[2], width, *flags))


ResizeBicubic.batching(batching.folded(0))


@ResizeBicubic.gradient(needs="images")
def _(call: GradientCall, dy: Tensor):
    if call.dtype("images") not in (dtypes.float32, dtypes.float64):
        return None, None
    return ResizeBicubicGrad(dy, call.images, call.align_corners, call.half_pixel_centers), None


ResizeBicubic.samples(resize_samples(PLAIN, ALIGNED, HALF))


@ResizeBicubic.reference
def _(images: TensorLike, size, align_corners: bool, half_pixel_centers: bool):
    a = -0.5 if half_pixel_centers else -0.75

    def cubic(x):
        x = abs(x)
        if x < 1:
            return (a + 2) * x**3 - (a + 3) * x**2 + 1
        return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0

    def weight(n, out, i, p):
        at = place(n, out, i, align_corners, half_pixel_centers)
        at = np.floor(at) + np.rint((at - np.floor(at)) * 1024) / 1024
        if half_pixel_centers:
            return cubic(at - p) / sum(cubic(at - q) for q in range(n))
        return sum(cubic(at - q) for q in range(-4, n + 4) if np.clip(q, 0, n - 1) == p)

    return sum_over(weight, images, size)


@op("ResizeBicubicGrad", "grads: float32, original_image: T -> output: T",
    types={"T": (dtypes.float32, dtypes.float64)}, attrs=CENTERS, shape=gradient_rule)  # fmt: skip
def ResizeBicubicGrad(xp: ModuleType, grads: Array, original_image: Array, align_corners, half_pixel_centers):
    checked_gradient(grads, original_image)
    height, width = original_image.shape[1:3]
    flags = (align_corners, half_pixel_centers)
    rows, columns = (
        _bicubic(n, out, *flags) for n, out in zip((height, width), grads.shape[1:3], strict=True)
    )
    return spread_gradient(xp, grads, rows, columns, height, width, original_image.dtype)


@ResizeBicubicGrad.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    size = call.shape("grads")[1:3]
    return ResizeBicubic(dy, size, call.align_corners, call.half_pixel_centers), None


ResizeBicubicGrad.samples(gradient_samples)
ResizeBicubicGrad.reference(transposed(ResizeBicubic.formula))
