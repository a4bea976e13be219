"""Grayscale dilation and erosion: the greatest sum, or the least difference, of image and filter under a window."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import flops, shapes
from tapeflow.ops.array.reorder import ReverseV2
from tapeflow.ops.convolution.sliding import Windows, add_into, sliding_rule, spatial, windows
from tapeflow.ops.deprecation import renamed
from tapeflow.ops.signature import ints, one_of
from tapeflow.ops.table import REAL, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

ATTRS = {"strides": ints, "rates": ints, "padding": one_of("SAME", "VALID")}


def _windows(x: Any, w: Any, strides: Sequence[int], rates: Sequence[int], padding: str) -> Windows:
    if x.ndim != 4:
        raise invalid(f"input must be 4-dimensional: {shape_text(x.shape)}")
    if w.ndim != 3:
        raise invalid(f"filter must be 3-dimensional: {shape_text(w.shape)}")
    if x.shape[-1] != w.shape[-1]:
        raise invalid(f"input and filter must have the same depth: {x.shape[-1]} vs {w.shape[-1]}")
    if 0 in w.shape:
        raise invalid(f"filter must not have zero elements: {shape_text(w.shape)}")
    steps, holes = spatial(strides, "NHWC", "strides"), spatial(rates, "NHWC", "rates")
    return windows(x.shape[1:3], w.shape[:2], steps, holes, padding)


def _dilated(xp: ModuleType, x, w, win: Windows):
    """The output, and the number of the tap that gave it: the first of equal ones."""
    inside = win.padded(np, np.ones(x.shape, bool), False)
    x = win.padded(xp, x)
    best = xp.zeros((x.shape[0], *win.out, x.shape[-1]), x.dtype)
    first = xp.full(best.shape, -1, np.int32)
    for number, offset in enumerate(win.offsets()):
        key = win.under(offset)
        value = (x[key] + w[offset]).astype(x.dtype)
        better = inside[key] & ((value > best) | (first < 0))
        best = xp.where(better, value, best)
        first = xp.where(better, np.int32(number), first)
    return best, first


def _checked_gradient(xp: ModuleType, x: Array, w: Array, dy: Array, attrs: dict[str, Any]):
    win = _windows(x, w, **attrs)
    expected = (x.shape[0], *win.out, x.shape[-1])
    if dy.shape != expected:
        raise invalid(
            f"out_backprop has incompatible size: {shape_text(dy.shape)} instead of {shape_text(expected)}"
        )
    return win, _dilated(xp, x, w, win)[1]


def _rule(call: ShapeCall):
    x, w = shapes.with_rank(call.shape(0), 4), shapes.with_rank(call.shape(1), 3)
    taps = w[:2]
    depth = shapes.same_dimension(x[3], w[2])
    attrs = (call.attr("strides"), call.attr("rates"), call.attr("padding"))
    return [sliding_rule("NHWC", x, taps, *attrs, (), depth)]


def _cases():
    one = [1, 1, 1, 1]
    yield (2, 4, 3, 2), (2, 2, 2), {"strides": one, "rates": one, "padding": "SAME"}
    yield (1, 5, 5, 1), (3, 2, 1), {"strides": [1, 2, 2, 1], "rates": one, "padding": "VALID"}
    yield (1, 5, 5, 1), (2, 2, 1), {"strides": one, "rates": [1, 2, 2, 1], "padding": "SAME"}


def _bad_cases(rng: SampleGenerator):
    one = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
    x, w = rng.normal(1, 4, 4, 1), rng.normal(2, 2, 1)
    yield x[0], w, one
    yield x, w[0], one
    yield x, rng.normal(2, 2, 2), one
    yield x, rng.normal(0, 2, 1), one
    yield x, w, {**one, "strides": [1, 0, 1, 1]}
    yield x, w, {**one, "rates": [1, 1]}


def _each_tap(x: np.ndarray, w: np.ndarray, strides: Sequence[int], rates: Sequence[int], padding: str):
    """(output position, [(row, column, tap)]) for every window, what lies outside left out."""
    taps, step, hole = w.shape[:2], strides[1:3], rates[1:3]
    reach = [(k - 1) * d + 1 for k, d in zip(taps, hole, strict=True)]
    size = x.shape[1:3]
    if padding == "SAME":
        count = [-(-n // s) for n, s in zip(size, step, strict=True)]
        whole = [(c - 1) * s + r for c, s, r in zip(count, step, reach, strict=True)]
        before = [max(need - n, 0) // 2 for need, n in zip(whole, size, strict=True)]
    else:
        count = [(n - r) // s + 1 for n, r, s in zip(size, reach, step, strict=True)]
        before = [0, 0]
    for i, j in np.ndindex(*count):
        found = []
        for p, q in np.ndindex(*taps):
            y = i * step[0] - before[0] + p * hole[0]
            z = j * step[1] - before[1] + q * hole[1]
            if 0 <= y < size[0] and 0 <= z < size[1]:
                found.append((y, z, (p, q)))
        yield (i, j), found


def _winners(x, w, attrs):
    """(output index, input index, filter index) of the maximum of every window."""
    for (i, j), found in _each_tap(x, w, **attrs):
        for n, c in np.ndindex(x.shape[0], x.shape[3]):
            y, z, tap = max(found, key=lambda f: x[n, f[0], f[1], c] + w[(*f[2], c)])
            yield (n, i, j, c), (n, y, z, c), (*tap, c)


@op("Dilation2D", "input: T, filter: T -> output: T", types={"T": REAL}, attrs=ATTRS, shape=_rule)
def Dilation2D(xp: ModuleType, input: Array, filter: Array, **attrs):
    return _dilated(xp, input, filter, _windows(input, filter, **attrs))[0]


Dilation2D.flops(flops.convolution(2))


@Dilation2D.gradient(needs="input, filter")
def _(call: GradientCall, dy: Tensor):
    attrs = {name: getattr(call, name) for name in ATTRS}
    return (
        Dilation2DBackpropInput(call.input, call.filter, dy, **attrs),
        Dilation2DBackpropFilter(call.input, call.filter, dy, **attrs),
    )


@Dilation2D.samples
def _(rng: SampleGenerator):
    for x, w, attrs in _cases():
        yield Sample(rng.normal(*x), rng.normal(*w), **attrs)
    for x, w, attrs in _bad_cases(rng):
        yield Sample(x, w, **attrs, raises=InvalidArgumentError)


@Dilation2D.reference
def _(input: np.ndarray, filter: np.ndarray, **attrs):
    winners = list(_winners(input, filter, attrs))
    height, width = (n + 1 for n in winners[-1][0][1:3])
    out = np.zeros((input.shape[0], height, width, input.shape[3]), input.dtype)
    for at, place, tap in winners:
        out[at] = input[place] + filter[tap]
    return out


_GRAD = "input: T, filter: T, out_backprop: T"


def _gradient_samples(rng):
    for x, w, attrs in _cases():
        image, taps = rng.normal(*x), rng.normal(*w)
        positions = [at for at, _ in _each_tap(image, taps, **attrs)]
        shape = (x[0], *(n + 1 for n in positions[-1]), x[3])
        yield Sample(image, taps, rng.normal(*shape), **attrs, differentiable=False)
    one = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
    x, w = rng.normal(1, 4, 4, 1), rng.normal(2, 2, 1)
    yield Sample(x, w, rng.normal(1, 3, 4, 1), **one, raises=InvalidArgumentError)


@op("Dilation2DBackpropInput", f"{_GRAD} -> in_backprop: T", types={"T": REAL}, attrs=ATTRS,
    shape=shapes.same_as_first)  # fmt: skip
def Dilation2DBackpropInput(xp: ModuleType, input: Array, filter: Array, out_backprop: Array, **attrs):
    win, first = _checked_gradient(xp, input, filter, out_backprop, attrs)
    dx = xp.zeros(win.padded_shape(input.shape), out_backprop.dtype)
    zero = out_backprop.dtype.type(0)
    for number, offset in enumerate(win.offsets()):
        dx = add_into(xp, dx, win.under(offset), xp.where(first == number, out_backprop, zero))
    return win.unpadded(dx)


Dilation2DBackpropInput.samples(_gradient_samples)


@Dilation2DBackpropInput.reference
def _(input: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, **attrs):
    out = np.zeros_like(input)
    for at, place, _ in _winners(input, filter, attrs):
        out[place] += out_backprop[at]
    return out


@op("Dilation2DBackpropFilter", f"{_GRAD} -> filter_backprop: T", types={"T": REAL}, attrs=ATTRS,
    shape=shapes.same_as_second)  # fmt: skip
def Dilation2DBackpropFilter(xp: ModuleType, input: Array, filter: Array, out_backprop: Array, **attrs):
    win, first = _checked_gradient(xp, input, filter, out_backprop, attrs)
    zero = out_backprop.dtype.type(0)
    sums = [
        xp.where(first == number, out_backprop, zero).sum((0, 1, 2))
        for number, _ in enumerate(win.offsets())
    ]
    return xp.stack(sums).reshape(filter.shape).astype(out_backprop.dtype)


Dilation2DBackpropFilter.samples(_gradient_samples)


@Dilation2DBackpropFilter.reference
def _(input: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, **attrs):
    out = np.zeros_like(filter)
    for at, _, tap in _winners(input, filter, attrs):
        out[tap] += out_backprop[at]
    return out


def _require_layout(data_format: str) -> None:
    if data_format != "NHWC":
        raise ValueError("`data_format` values other  than 'NHWC' are not supported. "
                         f"Received: data_format={data_format}")  # fmt: skip


@api(v2="nn.dilation2d")
@tensor_function
def dilation2d(
    input: TensorLike, filters: TensorLike, strides, padding: str | Sequence[Any] | None, data_format: str, dilations,
    name: str | None = None,
):
    """Take the largest sum of image and filter under each window (greyscale dilation).

    Args:
      input: a real tensor `[batch, height, width, channels]`.
      filters: `[height, width, channels]` of that dtype.
      strides: how far windows are apart, four ints of which the first and last are 1.
      padding: "VALID" or "SAME".
      data_format: "NHWC" only.
      dilations: how far neighbouring elements of a window are apart, four ints.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `input`, `[batch, new height, new width, channels]`.

    Raises:
      ValueError: for another `data_format`.
    """
    _require_layout(data_format)
    return Dilation2D(input, filters, strides=list(strides), rates=list(dilations), padding=padding)


@api(v1="nn.dilation2d")
@tensor_function
def dilation2d_v1(
    input: TensorLike, filter: TensorLike | None = None, strides: int | Sequence[int] | None = None,
    rates: int | Sequence[int] | None = None, padding: str | Sequence[Any] | None = None, name: str | None = None,
    filters: TensorLike | None = None, dilations: int | Sequence[int] | None = None,
):
    """`dilation2d` with the 1.x names and order of arguments."""
    filters = renamed("filters", filters, "filter", filter)
    dilations = renamed("dilations", dilations, "rates", rates)
    return dilation2d(input, filters, strides, padding, "NHWC", dilations)


@api(v2="nn.erosion2d")
@tensor_function
@graph_scope("erosion2d")
def erosion2d(
    value: TensorLike, filters: TensorLike, strides: int | Sequence[int], padding: str | Sequence[Any],
    data_format: str, dilations: int | Sequence[int], name: str | None = None,
):
    """Take the least difference of image and filter under each window (greyscale erosion).

    Args:
      value: a real tensor `[batch, height, width, channels]`.
      filters: `[height, width, channels]` of that dtype.
      strides: how far windows are apart, four ints of which the first and last are 1.
      padding: "VALID" or "SAME".
      data_format: "NHWC" only.
      dilations: how far neighbouring elements of a window are apart, four ints.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `value`, `[batch, new height, new width, channels]`.

    Raises:
      ValueError: for another `data_format`.
    """
    _require_layout(data_format)
    turned = ReverseV2(convert_to_tensor(filters), [0, 1])
    return -dilation2d(-convert_to_tensor(value), turned, strides, padding, "NHWC", dilations)


@api(v1="nn.erosion2d")
@tensor_function
@graph_scope("erosion2d")
def erosion2d_v1(
    value: TensorLike, kernel, strides: int | Sequence[int], rates: int | Sequence[int], padding: str | Sequence[Any],
    name: str | None = None,
):
    """`erosion2d` with the 1.x names and order of arguments."""
    return erosion2d(value, kernel, strides, padding, "NHWC", rates)
