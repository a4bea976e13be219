"""Calls and formulas that all ways of resizing are tested by."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.table import Sample

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

_SIZES = ((3, 2), (5, 7), (8, 3), (4, 4), (1, 1))


def resize_samples(*settings):
    def samples(rng: SampleGenerator):
        for setting in settings:
            for size in _SIZES:
                yield Sample(rng.normal(2, 4, 5, 2), np.array(size, np.int32), **setting)
        yield Sample((rng.normal(1, 3, 4, 1) * 50).astype(np.int32), np.array([5, 2], np.int32))
        image = rng.normal(1, 3, 4, 1)
        for bad in ([0, 2], [-1, 2], [3], [[1, 2]]):
            yield Sample(image, np.array(bad, np.int32), raises=InvalidArgumentError)
        yield Sample(image[0], np.array([2, 2], np.int32), raises=InvalidArgumentError)
        yield Sample(image[:, :0], np.array([2, 2], np.int32), raises=InvalidArgumentError)
        if len(settings) > 2:
            yield Sample(image, np.array([2, 2], np.int32), align_corners=True, half_pixel_centers=True,
                         raises=InvalidArgumentError)  # fmt: skip

    return samples


PLAIN: dict = {}
ALIGNED, HALF = {"align_corners": True}, {"half_pixel_centers": True}


def sum_over(weight, images, size):
    """A result by its definition: each pixel a sum of pixels, weighted by `weight(axis size, out, i, p)`."""
    n, h, w, c = images.shape
    out = np.zeros((n, size[0], size[1], c))
    for i, j in np.ndindex(int(size[0]), int(size[1])):
        for p, q in np.ndindex(h, w):
            out[:, i, j] += weight(h, size[0], i, p) * weight(w, size[1], j, q) * images[:, p, q]
    return out.astype(np.float32)


def place(size, out, i, align_corners: bool, half_pixel_centers: bool):
    if half_pixel_centers:
        return (i + 0.5) * size / out - 0.5
    return i * ((size - 1) / (out - 1) if align_corners and out > 1 else size / out)


def gradient_samples(rng: SampleGenerator):
    dy = rng.normal(1, 3, 2, 1).astype(np.float32)
    for setting in (PLAIN, ALIGNED, HALF):
        image = rng.normal(1, 2, 4, 1).astype(np.float32)
        yield Sample(dy, image, differentiable=False, **setting)
    yield Sample(dy, rng.normal(2, 4, 1), raises=InvalidArgumentError)
    yield Sample(dy, rng.normal(1, 2, 4, 2), raises=InvalidArgumentError)
    yield Sample(dy[0], rng.normal(1, 2, 4, 1), raises=InvalidArgumentError)


def transposed(forward: Callable[..., Any]):
    """The reference of a gradient: what each pixel of the image contributes to the result, summed with `grads`."""

    def reference(grads, original, *_, **attrs):
        out = np.zeros(original.shape)
        for at in np.ndindex(*original.shape):
            one = np.zeros(original.shape)
            one[at] = 1
            out[at] = (forward(one, grads.shape[1:3], **attrs) * grads).sum()
        return out

    return reference
