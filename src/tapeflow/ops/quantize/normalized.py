"""Normalization and resizing of quantized images."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.image.resize.bilinear import ResizeBilinear, bilinear_taps
from tapeflow.ops.image.resize.taps import checked_images
from tapeflow.ops.quantize.levels import (
    floats_of,
    level_of,
    levels,
    levels_of,
    numbers,
    quantized,
    round_away,
    scalar,
    single,
)
from tapeflow.ops.signature import boolean, dtype, number
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_NEVER = "it computes in integers that stand for floats"
_BYTES = (dtypes.quint8,)
_REACH = 2.0**20  # the result of batch normalization is within +-2**20, in steps of 2**-11


def _channel_rule(call: ShapeCall):
    image = shapes.with_rank(call.shape(0), 4)
    sizes = [shapes.with_rank(call.shape(at), 1) for at in range(3, 15, 3)]
    depth: shapes.Shape = functools.reduce(shapes.merge, sizes, None)
    if image is not None and depth is not None:
        shapes.same_dimension(image[3], depth[0])
    return [image, (), ()]


_CHANNEL = ", ".join(f"{n}: Tinput, {n}_min: float32, {n}_max: float32" for n in ("t", "m", "v", "beta", "gamma"))


@op(
    "QuantizedBatchNormWithGlobalNormalization",
    f"{_CHANNEL} -> result: out_type, result_min: float32, result_max: float32",
    types={"Tinput": _BYTES},
    attrs={"out_type": dtype, "variance_epsilon": number, "scale_after_normalization": boolean},
    ranks="t: 4, m: 1, v: 1, beta: 1, gamma: 1",
    shape=_channel_rule,
    quantizes=("BatchNormWithGlobalNormalization",),
)
def QuantizedBatchNormWithGlobalNormalization(
    xp: ModuleType, t, t_min, t_max, m, m_min, m_max, v, v_min, v_max, beta, beta_min, beta_max, gamma, gamma_min,
    gamma_max, out_type: DType, variance_epsilon: float, scale_after_normalization: bool,
):
    if out_type != dtypes.qint32:
        raise invalid(f"The result must be qint32, got {out_type.name}")
    given = {"input": (t, t_min, t_max), "mean": (m, m_min, m_max), "var": (v, v_min, v_max),
             "beta": (beta, beta_min, beta_max), "gamma": (gamma, gamma_min, gamma_max)}  # fmt: skip
    limits = {k: (single(a, f"{k}_min"), single(b, f"{k}_max")) for k, (_, a, b) in given.items()}
    _checked_channels(t, m, {"variance": v, "beta": beta, "gamma": gamma})
    mean, variance, shift, factor = (
        floats_of(numbers(given[k][0]), *limits[k], t.dtype) for k in ("mean", "var", "beta", "gamma")
    )
    with np.errstate(all="ignore"):
        scale = np.float32(1) / np.sqrt(variance + np.float32(variance_epsilon))
        scale = scale * factor if scale_after_normalization else scale
        offset = -mean * scale + shift
    kind = out_type.as_numpy_dtype
    in_result = [levels_of(a, -_REACH, _REACH, kind) for a in (floats_of(numbers(t), *limits["input"], t.dtype), scale)]
    product = (in_result[0] * in_result[1]).astype(np.int32).astype(np.int64)  # it wraps, as that of 32 bits does
    one = level_of(1.0, -_REACH, _REACH, kind)
    y = np.sign(product) * (abs(product) // one) + levels_of(offset, -_REACH, _REACH, kind)
    return levels(y.astype(np.int32), kind), np.float32(-_REACH), np.float32(_REACH)


def _checked_channels(image: np.ndarray, mean: np.ndarray, others: dict[str, Any]) -> None:
    if image.ndim != 4:
        raise invalid(f"input must be 4-dimensional{shape_text(image.shape)}")
    for name, value in {"mean": mean, **others}.items():
        if value.ndim != 1:
            raise invalid(f"{name} must be 1-dimensional{shape_text(value.shape)}")
    if mean.size < 2:  # one is too few for TensorFlow, too
        raise invalid(f"Must have at least a mean value{shape_text(mean.shape)}")
    if mean.shape[0] != image.shape[3]:
        raise invalid(
            "Must provide as many means as the last dimension of the input tensor: "
            f"{shape_text(mean.shape)} vs. {shape_text(image.shape)}"
        )
    for name, value in others.items():
        if value.shape != mean.shape:
            listed = f"{shape_text(mean.shape)} vs. {shape_text(value.shape)}"
            raise invalid(f"Mean and {name} tensors must have the same shape: {listed}")


@op(
    "QuantizedInstanceNorm",
    "x: T, x_min: float32, x_max: float32 -> y: T, y_min: float32, y_max: float32",
    types={"T": _BYTES},
    attrs={
        "output_range_given": False, "given_y_min": 0.0, "given_y_max": 0.0, "variance_epsilon": 1e-5,
        "min_separation": 1e-3,
    },
    ranks="x: 4, x_min: 0, x_max: 0",
    shape=lambda call: [shapes.with_rank(call.shape(0), 4), (), ()],
)  # fmt: skip
def QuantizedInstanceNorm(
    xp: ModuleType, x: np.ndarray, x_min: np.ndarray, x_max: np.ndarray, output_range_given: bool, given_y_min: float,
    given_y_max: float, variance_epsilon: float, min_separation: float,
):
    low, high = scalar(x_min, "x_min"), scalar(x_max, "x_max")
    if not low < high:
        raise invalid(f"input_min must be less than input_max : {low:g} >= {high:g}")
    if output_range_given and not given_y_min < given_y_max:
        raise invalid(f"given_y_min must be less than given_y_max : {given_y_min:g} >= {given_y_max:g}")
    if x.ndim != 4:
        raise invalid(f"input must be 4-dimensional{shape_text(x.shape)}")
    q = numbers(x)
    if not q.size:
        return x, *map(np.float32, (given_y_min, given_y_max) if output_range_given else (0, min_separation))
    floats = q.astype(np.float64) * ((high - low) / 255)
    centered = floats - floats.mean((1, 2), keepdims=True)
    y = centered / np.sqrt(np.square(centered).mean((1, 2), keepdims=True) + variance_epsilon)
    if output_range_given:
        start, end = np.float32(given_y_min), np.float32(given_y_max)
    else:
        start = np.float32(y.min())
        end = np.maximum(np.float32(y.max()), start + np.float32(min_separation))
    with np.errstate(all="ignore"):
        scale = np.float32(255) / (end - start)
        steps = np.nan_to_num(round_away(y.astype(np.float32) * scale) - round_away(start * scale))
    return levels(np.clip(steps, 0, 255), x.dtype), start, end


# Bits behind the point of what images of these levels are resized with.
_PRECISION = {"quint8": 7, "qint32": 30}


def _between(first: np.ndarray, second: np.ndarray, part: np.ndarray, axis: int) -> np.ndarray:
    return first + (second - first) * part.reshape([-1 if i == axis else 1 for i in range(4)])


def _resize_rule(call: ShapeCall):
    return [*ResizeBilinear.shape_rule(call), (), ()]


@op(
    "QuantizedResizeBilinear",
    "images: T, size: int32, min: float32, max: float32 -> resized_images: T, out_min: float32, out_max: float32",
    types={"T": (dtypes.quint8, dtypes.qint32, dtypes.float32)},
    attrs={"align_corners": False, "half_pixel_centers": False},
    ranks="images: 4, size: 1, min: 0, max: 0",
    shape=_resize_rule,
    quantizes=("ResizeBilinear",),
)
def QuantizedResizeBilinear(
    xp: ModuleType, images: np.ndarray, size: np.ndarray, min: np.ndarray, max: np.ndarray, align_corners: bool,
    half_pixel_centers: bool,
):
    low, high = scalar(min, "min"), scalar(max, "max")
    height, width = checked_images(images, size)
    limits = np.float32(low), np.float32(high)
    rows = bilinear_taps(images.shape[1], height, align_corners, half_pixel_centers)
    columns = bilinear_taps(images.shape[2], width, align_corners, half_pixel_centers)
    x, down, across = numbers(images), rows.weights[:, 1], columns.weights[:, 1]
    if images.dtype.names:
        one = 1 << _PRECISION[images.dtype.names[0]]
        x, down, across = (a.astype(np.int64) for a in (x.astype(np.float32), down * one, across * one))
    lines = [np.take(x, rows.places[:, i], 1) for i in (0, 1)]
    corners = [tuple(np.take(line, columns.places[:, i], 2) for i in (0, 1)) for line in lines]
    if not images.dtype.names:
        top, bottom = (_between(a, b, across, 2) for a, b in corners)
        return _between(top, bottom, down, 1), *limits
    top, bottom = (_between(a * one, (b - a) + a * one, across, 2) for a, b in corners)
    total = _between(top, _towards_zero(bottom - top, one) + top, down, 1)
    return levels(_towards_zero(total + one // 2, one), images.dtype), *limits


def _towards_zero(x: np.ndarray, divisor: int) -> np.ndarray:
    return np.sign(x) * (abs(x) // divisor)


for _row in (QuantizedBatchNormWithGlobalNormalization, QuantizedInstanceNorm, QuantizedResizeBilinear):
    _row.gradient(None)
    _row.compiled(never=_NEVER)

_ZERO_TO_255 = np.float32(0), np.float32(255)
_PLANE = np.array([0, 255, 64, 65]).reshape(1, 2, 2, 1)


@QuantizedBatchNormWithGlobalNormalization.samples
def _(rng: SampleGenerator):
    def given(x, *channels):
        return [v for q in (x, *channels) for v in (quantized(q), *_ZERO_TO_255)]

    attrs: dict[str, Any] = {"out_type": dtypes.qint32, "variance_epsilon": 0.0}
    ends = np.float32(-_REACH), np.float32(_REACH)
    x, channels = np.array([10, 100, 10, 10]).reshape(1, 2, 1, 2), ([16, 6], [4, 4], [1, 1], [6, 6])
    means = np.array([16, 6])
    yield Sample(*given(x, *channels), **attrs, scale_after_normalization=False, expect=(_scaled(x, means, 0.5), *ends))
    yield Sample(*given(x, *channels), **attrs, scale_after_normalization=True, expect=(_scaled(x, means, 3.0), *ends))
    attrs["scale_after_normalization"] = True
    yield Sample(*given(x[0], *channels), **attrs, raises=InvalidArgumentError)
    yield Sample(*given(x, [16, 1, 1], *channels[1:]), **attrs, raises=InvalidArgumentError)
    yield Sample(*given(x, *channels[:3], [6]), **attrs, raises=InvalidArgumentError)
    yield Sample(*given(x[..., :1], [16], [4], [1], [6]), **attrs, raises=InvalidArgumentError)
    yield Sample(*given(x, 16, *channels[1:]), **attrs, raises=InvalidArgumentError)


def _scaled(x, mean, factor):
    """The levels of the result of samples: 2048 of them are one."""
    return ((x - mean) * factor + 1) * 2048


@QuantizedInstanceNorm.samples
def _(rng: SampleGenerator):
    x = quantized(np.array([10, 20, 20, 10]).reshape(1, 2, 2, 1))
    one = np.float32(1)
    in_range: dict[str, Any] = {"output_range_given": True, "given_y_min": -2.0}
    yield Sample(x, *_ZERO_TO_255, variance_epsilon=0.0, expect=(
        np.array([0, 255, 255, 0]).reshape(1, 2, 2, 1), -one, one))  # fmt: skip
    yield Sample(x, *_ZERO_TO_255, **in_range, given_y_max=3.0, variance_epsilon=0.0, expect=(
        np.array([51, 153, 153, 51]).reshape(1, 2, 2, 1), -2 * one, 3 * one))  # fmt: skip
    yield Sample(x, _ZERO_TO_255[1], _ZERO_TO_255[1], raises=InvalidArgumentError)
    yield Sample(x, *_ZERO_TO_255, **in_range, given_y_max=-3.0, raises=InvalidArgumentError)
    yield Sample(x, _ZERO_TO_255, one, raises=InvalidArgumentError)
    yield Sample(x[0], *_ZERO_TO_255, raises=InvalidArgumentError)


@QuantizedResizeBilinear.samples
def _(rng: SampleGenerator):
    q = quantized(_PLANE)
    yield Sample(q, [2, 3], *_ZERO_TO_255, align_corners=True, expect=(
        np.array([0, 128, 255, 64, 65, 65]).reshape(1, 2, 3, 1), *_ZERO_TO_255))  # fmt: skip
    yield Sample(quantized(_PLANE * 100, dtypes.qint32), [1, 4], *_ZERO_TO_255, half_pixel_centers=True, expect=(
        np.array([3200, 6400, 12800, 16000]).reshape(1, 1, 4, 1), *_ZERO_TO_255))  # fmt: skip
    floats = np.array([0, 127.5, 255, 32, 96, 160, 64, 64.5, 65], np.float32).reshape(1, 3, 3, 1)
    yield Sample(_PLANE.astype(np.float32), [3, 3], *_ZERO_TO_255, align_corners=True, expect=(floats, *_ZERO_TO_255))
    yield Sample(q, [0, 3], *_ZERO_TO_255, raises=InvalidArgumentError)
    yield Sample(q, [3], *_ZERO_TO_255, raises=InvalidArgumentError)
    yield Sample(q[0], [3, 3], *_ZERO_TO_255, raises=InvalidArgumentError)
    yield Sample(q, [3, 3], _ZERO_TO_255, _ZERO_TO_255[1], raises=InvalidArgumentError)
