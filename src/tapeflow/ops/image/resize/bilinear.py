"""Images of another size, with the values between pixels."""

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
    positions,
    require_one,
    resized,
    size_rule,
    spread_gradient,
)
from tapeflow.ops.table import op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall


def bilinear_taps(size, out, align_corners: bool, half_pixel_centers: bool) -> Taps:
    at = positions(size, out, align_corners, half_pixel_centers)
    low = np.floor(at)
    part = (at - low)[:, None]
    places = np.stack([np.maximum(low, 0), np.minimum(np.ceil(at), size - 1)], 1).astype(np.int64)
    return Taps(places.clip(0, size - 1), np.concatenate([1 - part, part], 1))


def _precise(taps: Taps, dtype) -> Taps:
    """The same two places with weights that are one together in another precision."""
    part = taps.weights[:, 1:].astype(dtype)
    return Taps(taps.places, np.concatenate([1 - part, part], 1))


def resized_by_lines(xp: ModuleType, images, size, align_corners: bool):
    """Images resized with interpolation between pixels, in their own precision where it is that of float64."""
    height, width = checked_images(images, size)
    exact = np.float64 if images.dtype == np.float64 else np.float32
    rows, columns = (
        _precise(bilinear_taps(old, new, align_corners, False), exact).matrix(old)
        for old, new in zip(images.shape[1:3], (height, width), strict=True)
    )
    x = xp.einsum("nyxc,jx->nyjc", images.astype(exact), columns)
    return xp.einsum("nyjc,iy->nijc", x, rows).astype(images.dtype)


@op("ResizeBilinear", "images: T, size: int32 -> resized_images: float32", types={"T": IMAGES},
    attrs=CENTERS, shape=size_rule)  # fmt: skip
def ResizeBilinear(xp: ModuleType, images: Array, size: Array, align_corners, half_pixel_centers):
    height, width = checked_images(images, size)
    require_one(align_corners, half_pixel_centers)
    flags = (align_corners, half_pixel_centers)
    rows = bilinear_taps(images.shape[1], height, *flags)
    return resized(xp, images, rows, bilinear_taps(images.shape[2], width, *flags))


ResizeBilinear.batching(batching.folded(0))


@ResizeBilinear.gradient(needs="images")
def _(call: GradientCall, dy: Tensor):
    if not call.dtype("images").is_floating:
        return None, None
    return ResizeBilinearGrad(dy, call.images, call.align_corners, call.half_pixel_centers), None


ResizeBilinear.samples(resize_samples(PLAIN, ALIGNED, HALF))


@ResizeBilinear.reference
def _(images: TensorLike, size, align_corners: bool, half_pixel_centers: bool):
    def weight(n, out, i, p):
        at = np.clip(place(n, out, i, align_corners, half_pixel_centers), 0, n - 1)
        return max(0.0, 1 - abs(at - p))

    return sum_over(weight, images, size)


@op("ResizeBilinearGrad", "grads: float32, original_image: T -> output: T",
    types={"T": (dtypes.float32, dtypes.bfloat16, dtypes.float16, dtypes.float64)},
    attrs=CENTERS, shape=gradient_rule)  # fmt: skip
def ResizeBilinearGrad(
    xp: ModuleType, grads: Array, original_image: Array, align_corners, half_pixel_centers
):
    checked_gradient(grads, original_image)
    height, width = original_image.shape[1:3]
    flags = (align_corners, half_pixel_centers)
    rows, columns = (
        bilinear_taps(n, out, *flags) for n, out in zip((height, width), grads.shape[1:3], strict=True)
    )
    return spread_gradient(xp, grads, rows, columns, height, width, original_image.dtype)


@ResizeBilinearGrad.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    size = call.shape("grads")[1:3]
    return ResizeBilinear(dy, size, call.align_corners, call.half_pixel_centers), None


ResizeBilinearGrad.samples(gradient_samples)
ResizeBilinearGrad.reference(transposed(ResizeBilinear.formula))
