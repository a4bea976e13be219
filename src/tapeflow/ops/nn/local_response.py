"""Local response normalisation (Krizhevsky et al., 2012): each channel divided by the energy of its neighbours."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import layout, ranges
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.linalg import matmul
from tapeflow.ops.math import casting, elementwise
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import as_shape, size_of
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

TYPES = (dtypes.float32, dtypes.float16, dtypes.bfloat16)
ATTRS = {"depth_radius": 5, "bias": 1.0, "alpha": 1.0, "beta": 0.5}


def _band(channels: int, radius: int, kind) -> np.ndarray:
    """Which channels are neighbours, as a matrix of ones and zeros."""
    line = np.arange(channels)
    return (np.abs(line[:, None] - line) <= radius).astype(kind)


def _require_image(x: Any, what: str) -> None:
    if x.ndim != 4:
        raise invalid(f"{what} must be 4-dimensional")


@op("LRN", "input: T -> output: T", types={"T": Preferring(TYPES)}, attrs=ATTRS,
    shape=shapes.same_as(0, rank=4))  # fmt: skip
def LRN(xp: ModuleType, input: Array, depth_radius: int, bias: float, alpha: float, beta: float):
    _require_image(input, "in")
    kind = np.result_type(input.dtype, np.float32).type
    x = input.astype(kind)
    energy = xp.square(x) @ _band(x.shape[-1], depth_radius, kind)
    base = kind(bias) + kind(alpha) * energy
    scaled = x / xp.sqrt(base) if beta == 0.5 else x * base ** kind(-beta)
    return scaled.astype(input.dtype)


LRN.batching(batching.folded())


@LRN.gradient(needs="input")
def _(call: GradientCall, dy: Tensor):
    # Written out, so that it can be differentiated again; LRNGrad is the same in one step.
    x = call.input
    channels = size_of(x, -1)
    if isinstance(channels, int):
        band = _band(channels, call.depth_radius, x.dtype.as_numpy_dtype)
    else:
        line = ranges.range(channels)
        apart = elementwise.abs(layout.ExpandDims(line, 1) - line)
        band = casting.cast(apart <= call.depth_radius, x.dtype)
    rows = as_shape([-1, channels])
    x, dy = Reshape(x, rows), Reshape(dy, rows)
    scale = call.bias + call.alpha * matmul.matmul(x * x, band)
    spread = matmul.matmul(dy * x * scale ** (-call.beta - 1), band)
    dx = dy * scale**-call.beta - 2 * call.alpha * call.beta * x * spread
    return Reshape(dx, call.shape("input"))


@LRN.samples
def _(rng: SampleGenerator):
    x = np.asarray(rng.normal(1, 2, 2, 7), np.float32)
    yield Sample(x)
    yield Sample(x, depth_radius=1, bias=2.0, alpha=0.5, beta=0.75)
    yield Sample(x[0], raises=InvalidArgumentError)


@LRN.reference
def _(input: np.ndarray, depth_radius: int, bias: float, alpha: float, beta: float):
    x = input.astype(np.float64)
    out = np.zeros_like(x)
    for c in range(x.shape[-1]):
        near = x[..., max(c - depth_radius, 0) : c + depth_radius + 1]
        out[..., c] = x[..., c] / (bias + alpha * (near**2).sum(-1)) ** beta
    return out.astype(input.dtype)


@op(
    "LRNGrad",
    "input_grads: T, input_image: T, output_image: T -> output: T",
    types={"T": Preferring(TYPES)},
    attrs=ATTRS,
    shape=lambda call: [shapes.merged_shape(call, rank=4)],
)
def LRNGrad(
    xp: ModuleType, input_grads: Array, input_image: Array, output_image: Array, depth_radius: int, bias: float,
    alpha: float, beta: float,
):
    _require_image(input_image, "input_image")
    if not input_grads.shape == input_image.shape == output_image.shape:
        raise invalid(
            f"input_grads, input_image, and out_image should have the same shape: "
            f"{shape_text(input_grads.shape)}, {shape_text(input_image.shape)}, "
            f"{shape_text(output_image.shape)}"
        )
    kind = np.float32
    x, dy, y = (a.astype(kind) for a in (input_image, input_grads, output_image))
    band = _band(x.shape[-1], depth_radius, kind)
    scale = kind(bias) + kind(alpha) * (xp.square(x) @ band)
    spread = (dy * y / scale) @ band
    dx = dy * scale ** kind(-beta) - kind(2 * alpha * beta) * x * spread
    return dx.astype(input_image.dtype)


LRNGrad.gradient(None)


@LRNGrad.samples
def _(rng: SampleGenerator):
    x = np.asarray(rng.normal(1, 2, 2, 7), np.float32)
    y = (x / (1 + np.float32(0.5) * (x**2).sum(-1, keepdims=True)) ** np.float32(0.75)).astype(
        np.float32
    )
    yield Sample(x + 1, x, y, depth_radius=7, alpha=0.5, beta=0.75)
    yield Sample(x, x[:, :1], y, raises=InvalidArgumentError)
    yield Sample(x[0], x[0], y[0], raises=InvalidArgumentError)


@LRNGrad.reference
def _(
    input_grads: np.ndarray, input_image: np.ndarray, output_image: np.ndarray, depth_radius: int, bias: float,
    alpha: float, beta: float,
):
    """For a radius that covers every channel: the quotient rule of x / s**beta."""
    x, dy = input_image.astype(np.float64), input_grads.astype(np.float64)
    s = bias + alpha * (x**2).sum(-1, keepdims=True)
    dx = dy * s**-beta - 2 * alpha * beta * x * (dy * x * s ** (-beta - 1)).sum(-1, keepdims=True)
    return dx.astype(input_image.dtype)


@api("nn.local_response_normalization", "nn.lrn")
@tensor_function
def local_response_normalization(
    input: TensorLike, depth_radius: int = 5, bias: float = 1.0, alpha: TensorLike = 1.0, beta: TensorLike = 0.5,
    name: str | None = None,
) -> Tensor:
    """Divide each element by a power of the sum of squares of neighbouring channels.

    It is `input / (bias + alpha * sum(input**2))**beta`, the sum over the channels at most `depth_radius` away.

    Args:
      input: a tensor `[batch, height, width, channels]` of float16, bfloat16 or float32.
      depth_radius: how many channels to either side count, an int.
      bias, alpha, beta: the numbers of the formula.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `input`.

    Raises:
      InvalidArgumentError: where `input` does not have four dimensions.
    """
    radius = None if depth_radius is None else int(depth_radius)
    return LRN(input, radius, bias, alpha, beta)
