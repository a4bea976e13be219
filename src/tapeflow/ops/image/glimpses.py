"""Glimpses: parts around given centres."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.image.crop import extent_of
from tapeflow.ops.random import philox
from tapeflow.ops.random.distributions import reserve
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


# Glimpses

_GLIMPSE = {"centered": True, "normalized": True, "uniform_noise": True, "noise": "uniform"}


def _glimpse_rule(call: ShapeCall):
    batch, _, _, depth = shapes.with_rank(call.shape(0), 4)
    count, pair = shapes.with_rank(call.shape(2), 2)
    batch = shapes.same_dimension(batch, count)
    shapes.exactly(pair, 2)
    shapes.exactly(shapes.vector_length(call, 1), 2)
    rows, columns = shapes.vector_value(call, 1) or (None, None)
    return [(batch, rows, columns, depth)]


def _glimpsed(
    name: str, input: Any, size: Any, offsets: Any, centered: bool, normalized: bool, uniform_noise: bool, noise: str,
    first_version: bool,
):
    if uniform_noise and noise not in ("", "uniform"):
        raise invalid("The uniform_noise and noise should not be specified at the same time")
    if input.ndim != 4:
        raise invalid(
            f"input must be 4-dimensional (batch_size, height, width, depth){shape_text(input.shape)}"
        )
    if size.shape != (2,):
        raise invalid(f"input must be a vector of size 2 (height, width){shape_text(size.shape)}")
    rows, columns = (int(v) for v in size)
    if rows < 0 or columns < 0:
        raise invalid(f"size must not be negative: {rows}, {columns}")
    batch, height, width, depth = input.shape
    if offsets.ndim != 2:
        raise invalid(
            f"input must be 2 dimensional (batch_size, [height, width]){shape_text(offsets.shape)}"
        )
    if len(offsets) != batch:
        raise invalid(
            f"offset should be consistent with input's batch size{shape_text(offsets.shape)}"
        )
    if offsets.shape[1] != 2:
        raise invalid(f"offset should be of size 2 (height, width){shape_text(offsets.shape)}")
    if not np.isfinite(offsets).all():
        raise invalid("offsets must be finite")
    space = np.array([height, width], np.float32)
    window = np.array([rows, columns], np.float32)
    at = offsets * space if normalized else offsets
    if first_version or (centered and normalized):
        at = (at / 2 + space / 2 if centered else at) - window / 2
    elif centered:
        at = at + space / 2
    corners = np.trunc(at.astype(np.float64)).clip(-(2**40), 2**40).astype(np.int64)
    out = _noise(name, input, (batch, rows, columns, depth), uniform_noise, noise)
    for n, (y, x) in enumerate(corners.tolist()):
        top, left = max(y, 0), max(x, 0)
        bottom, right = min(y + rows, height), min(x + columns, width)
        if top < bottom and left < right:
            out[n, top - y : bottom - y, left - x : right - x] = input[n, top:bottom, left:right]
    return out


def _noise(name: str, input: np.ndarray, shape: Sequence[Any], uniform_noise: bool, noise: str):
    kind = noise or ("uniform" if uniform_noise else "gaussian")
    count = int(np.prod(shape))
    if kind == "zero" or not count or not input.size:
        return np.zeros(shape, np.float32)
    stream = reserve(name, None, None, 0, 0, count * philox.STRETCH)
    if kind == "uniform":
        drawn = philox.uniform(stream, count, np.dtype(np.float32)).reshape(shape)
        return drawn * (input.max() - input.min()) + input.min()
    if kind != "gaussian":
        raise invalid(f"Unknown noise: {noise}")
    drawn = philox.normal(stream, count, np.dtype(np.float32)).reshape(shape)
    return np.abs(drawn * input.std() + input.mean()).astype(np.float32)


def _glimpse(name: str, first_version: bool):
    def kernel(xp: ModuleType, input: Array, size: Array, offsets: Array, **attrs):
        return _glimpsed(name, input, size, offsets, **attrs, first_version=first_version)

    kernel.__name__ = name
    row = op(name, "input: float32, size: int32, offsets: float32 -> glimpse: float32",
             attrs=_GLIMPSE, ranks="input: 4, size: 1, offsets: 2", shape=_glimpse_rule)(kernel)  # fmt: skip
    row.compiled(never="which pixels it copies depends on values")

    @row.samples
    def _(rng: SampleGenerator):
        x = rng.normal(2, 5, 4, 1).astype(np.float32)
        at = np.array([[0.1, -0.4], [0.9, 0.6]], np.float32)
        for centered in (True, False):
            for normalized in (True, False):
                yield Sample(x, extent_of(2, 3), at * (1 if normalized else 4), centered=centered,
                             normalized=normalized, uniform_noise=False, noise="zero")  # fmt: skip
        yield Sample(x[0], extent_of(2, 3), at, raises=InvalidArgumentError)
        yield Sample(x, extent_of(2), at, raises=InvalidArgumentError)
        yield Sample(x, extent_of(2, 3), at[:1], raises=InvalidArgumentError)
        yield Sample(x, extent_of(2, 3), at[:, :1], raises=InvalidArgumentError)

    @row.reference
    def _(input: np.ndarray, size: np.ndarray, offsets, centered, normalized, uniform_noise, noise):
        out = np.zeros((len(input), *size, input.shape[3]), np.float32)
        for n, i, j in np.ndindex(*out.shape[:3]):
            corner = []
            for axis in (0, 1):
                length, at = input.shape[1 + axis], float(offsets[n, axis])
                at = at * length if normalized else at
                if centered:
                    at = (at / 2 if normalized or first_version else at) + length / 2
                if first_version or (centered and normalized):
                    at -= size[axis] / 2
                corner.append(int(at))
            y, x = corner[0] + i, corner[1] + j
            if 0 <= y < input.shape[1] and 0 <= x < input.shape[2]:
                out[n, i, j] = input[n, y, x]
        return out

    return row


ExtractGlimpse = _glimpse("ExtractGlimpse", True)
ExtractGlimpseV2 = _glimpse("ExtractGlimpseV2", False)


@api(v2="image.extract_glimpse")
@tensor_function
def extract_glimpse(
    input: TensorLike, size: TensorLike, offsets, centered: bool = True, normalized: bool = True,
    noise: str = "uniform", name: str | None = None,
):  # fmt: skip
    """Cut a window out of each image, at a place of its own.

    Args:
      input: a batch of images `(batch, height, width, channels)`.
      size: [height, width] of the window, int32.
      offsets: the places, floats `(batch, 2)` of y and x.
      centered: whether offsets count from the middle of the image to that of the window.
      normalized: whether offsets are in units of the image; if not, in pixels.
      noise: what lies outside of the image: "uniform", "gaussian" or "zero".
      name: the name of the operation in a graph.

    Returns:
      A float32 tensor `(batch, *size, channels)`.
    """
    return ExtractGlimpseV2(input, size, offsets, centered, normalized, False, noise)


@api(v1="image.extract_glimpse")
@public
def extract_glimpse_v1(
    input: TensorLike, size: TensorLike, offsets, centered: bool = True, normalized: bool = True,
    uniform_noise: bool = True, name: str | None = None,
):
    """`extract_glimpse` of 1.x."""
    noise = "uniform" if uniform_noise else "gaussian"
    return ExtractGlimpse(input, size, offsets, centered, normalized, uniform_noise, noise)
