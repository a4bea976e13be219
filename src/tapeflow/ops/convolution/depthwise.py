"""Depthwise convolution: every channel of an image has filters of its own."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.convolution import compiled_windows
from tapeflow.ops.convolution.sliding import (
    Windows,
    add_into,
    channels_back,
    channels_last,
    explicit_pairs,
    sliding_rule,
    spatial,
    windows,
)
from tapeflow.ops.convolution.taps import adjoint, naive
from tapeflow.ops.signature import ints, one_of
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, ShapeCall

ATTRS = {
    "strides": ints,
    "padding": one_of("SAME", "VALID", "EXPLICIT"),
    "explicit_paddings": ints([]),
    "data_format": one_of("NHWC", "NCHW")("NHWC"),
    "dilations": ints([1, 1, 1, 1]),
}


def _windows(shape, taps, strides, padding, explicit_paddings, data_format, dilations) -> Windows:
    for what, part in (("input", shape), ("filter", taps)):
        if len(part) != 4:
            raise invalid(f"{what} must be 4-dimensional: {shape_text(part)}")
    if 0 in taps:
        raise invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)")
    if shape[-1] != taps[2]:
        raise invalid(f"input and filter must have the same depth: {shape[-1]} vs {taps[2]}")
    return windows(
        shape[1:-1],
        taps[:2],
        spatial(strides, data_format, "strides"),
        spatial(dilations, data_format, "dilations"),
        padding,
        explicit_pairs(padding, explicit_paddings, data_format),
    )


def _require_output(dy: np.ndarray, expected: Sequence[int]) -> None:
    if tuple(dy.shape) != tuple(expected):
        raise invalid(
            f"depthwise backprop: out_backprop has shape {shape_text(dy.shape)} but the forward pass gives "
            f"{shape_text(expected)} (channels last)"
        )


def _require_image(x: Any, what: str) -> None:
    if x.ndim != 4:
        raise invalid(f"{what} must be 4-dimensional: {shape_text(x.shape)}")


def _as_groups(filter):
    """The filter as that of a convolution of which every channel is a group."""
    height, width, channels, multiplier = filter.shape
    return filter.reshape(height, width, 1, channels * multiplier)


def _rule(call: ShapeCall):
    x, w = shapes.with_rank(call.shape(0), 4), shapes.with_rank(call.shape(1), 4)
    depth = shapes.same_dimension(x[call.attr("data_format").index("C")], w[2])
    return [
        sliding_rule(
            call.attr("data_format"),
            x,
            w[:2],
            call.attr("strides"),
            call.attr("dilations"),
            call.attr("padding"),
            call.attr("explicit_paddings"),
            shapes.times(depth, w[3]),
        )
    ]


def _attrs(call: GradientCall) -> dict:
    return {name: getattr(call, name) for name in ATTRS}


@op(
    "DepthwiseConv2dNative",
    "input: T, filter: T -> output: T",
    types={"T": FLOATING},
    attrs=ATTRS,
    shape=_rule,
)
def DepthwiseConv2dNative(xp: ModuleType, input: Array, filter: Array, **attrs):
    _require_image(input, "input")
    x = channels_last(xp, input, attrs["data_format"])
    win = _windows(x.shape, filter.shape, **attrs)
    batch, channels, multiplier = x.shape[0], filter.shape[2], filter.shape[3]

    def each_tap(x: Any, filter: np.ndarray):
        x = win.padded(xp, x)
        out = xp.zeros((batch, *win.out, channels, multiplier), x.dtype)
        for offset in win.offsets():
            out = out + x[win.under(offset)][..., None] * filter[offset]
        return out.reshape(batch, *win.out, channels * multiplier).astype(x.dtype)

    def instruction(x, filter):
        return compiled_windows.convolution(x, _as_groups(filter), win, channels)

    out = compiled_windows.choose(xp, instruction, each_tap, x, filter)
    return channels_back(xp, out, attrs["data_format"])


DepthwiseConv2dNative.flops(flops.convolution(2))


DepthwiseConv2dNative.batching(batching.folded(0))


@DepthwiseConv2dNative.gradient(needs="input, filter")
def _(call: GradientCall, dy: Tensor):
    attrs = _attrs(call)
    of_input = of_filter = None
    if call.wants("input"):
        of_input = DepthwiseConv2dNativeBackpropInput(call.shape("input"), call.filter, dy, **attrs)
    if call.wants("filter"):
        of_filter = DepthwiseConv2dNativeBackpropFilter(call.input, call.shape("filter"), dy, **attrs)
    return of_input, of_filter


def _cases():
    yield (2, 4, 3, 2), (2, 3, 2, 2), {"strides": [1, 1, 1, 1], "padding": "SAME"}
    yield (1, 5, 5, 1), (2, 2, 1, 3), {"strides": [1, 2, 2, 1], "padding": "VALID"}
    yield (
        (1, 5, 5, 2),
        (2, 2, 2, 1),
        {"strides": [1, 1, 1, 1], "padding": "SAME", "dilations": [1, 2, 2, 1]},
    )


@DepthwiseConv2dNative.samples
def _(rng):
    for x, w, attrs in _cases():
        yield Sample(rng.normal(*x), rng.normal(*w), **attrs)
    same = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    x, w = rng.normal(1, 4, 4, 2), rng.normal(3, 3, 2, 1)
    yield Sample(rng.normal(1, 2, 4, 4), w, **same, data_format="NCHW")
    yield Sample(x, rng.normal(3, 3, 3, 1), **same, raises=InvalidArgumentError)
    yield Sample(x, rng.normal(3, 0, 2, 1), **same, raises=InvalidArgumentError)
    yield Sample(rng.normal(4, 4, 2), w, **same, raises=InvalidArgumentError)
    yield Sample(x, w, strides=[1, 0, 0, 1], padding="SAME", raises=InvalidArgumentError)


def _naive(x: np.ndarray, w: np.ndarray, data_format: str = "NHWC", **attrs):
    """A convolution with a filter that is zero between different channels."""

    channels, multiplier = w.shape[2:]
    whole = np.zeros((*w.shape[:2], channels, channels * multiplier), w.dtype)
    for c in range(channels):
        whole[:, :, c, c * multiplier : (c + 1) * multiplier] = w[:, :, c]
    attrs.setdefault("dilations", [1, 1, 1, 1])
    return naive(x, whole, data_format=data_format, **attrs)


@DepthwiseConv2dNative.reference
def _(input: np.ndarray, filter: np.ndarray, **attrs):
    return _naive(input, filter, **attrs)


@op(
    "DepthwiseConv2dNativeBackpropInput",
    "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    types={"T": FLOATING},
    attrs=ATTRS,
    ranks="filter: 4, out_backprop: 4",
    shape=shapes.given(0, rank=4),
)
def DepthwiseConv2dNativeBackpropInput(
    xp: ModuleType, input_sizes: Array, filter: Array, out_backprop: Array, **attrs
):
    sizes = dimensions(input_sizes, "input_sizes")
    if len(sizes) != 4:
        raise invalid(f"input_sizes must have 4 values, got {shape_text(sizes)}")
    data_format = attrs["data_format"]
    shape = sizes if data_format == "NHWC" else (sizes[0], *sizes[2:], sizes[1])
    _require_image(out_backprop, "out_backprop")
    win = _windows(shape, filter.shape, **attrs)
    channels, multiplier = filter.shape[2:]
    dy = channels_last(xp, out_backprop, data_format)
    _require_output(dy, (shape[0], *win.out, channels * multiplier))

    def each_tap(filter: np.ndarray, dy: np.ndarray):
        dy = dy.reshape(*dy.shape[:-1], channels, multiplier)
        dx = xp.zeros(win.padded_shape(shape), dy.dtype)
        for offset in win.offsets():
            dx = add_into(xp, dx, win.under(offset), (dy * filter[offset]).sum(-1))
        return win.unpadded(dx)

    def instruction(filter, dy):
        return compiled_windows.convolution_input_gradient(shape, _as_groups(filter), dy, win, channels)

    return channels_back(xp, compiled_windows.choose(xp, instruction, each_tap, filter, dy), data_format)


DepthwiseConv2dNativeBackpropInput.batching(batching.folded(2, sizes=0))


@DepthwiseConv2dNativeBackpropInput.gradient(needs="filter, out_backprop")
def _(call: GradientCall, dy: Tensor):
    attrs = _attrs(call)
    of_filter = of_output = None
    if call.wants("filter"):
        of_filter = DepthwiseConv2dNativeBackpropFilter(dy, call.shape("filter"), call.out_backprop, **attrs)
    if call.wants("out_backprop"):
        of_output = DepthwiseConv2dNative(dy, call.filter, **attrs)
    return None, of_filter, of_output


@DepthwiseConv2dNativeBackpropInput.samples
def _(rng):
    for x, w, attrs in _cases():
        dy = _naive(np.zeros(x), np.zeros(w), **attrs).shape
        yield Sample(np.array(x, np.int32), rng.normal(*w), rng.normal(*dy), **attrs)
    same = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    w = rng.normal(3, 3, 2, 1)
    yield Sample([1, 4, 4], w, rng.normal(1, 4, 4, 2), **same, raises=InvalidArgumentError)
    yield Sample([1, 4, 4, 2], w, rng.normal(1, 4, 3, 2), **same, raises=InvalidArgumentError)


@DepthwiseConv2dNativeBackpropInput.reference
def _(input_sizes: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, **attrs):
    shape = tuple(int(d) for d in input_sizes)
    return adjoint(lambda x: _naive(x, filter, **attrs), shape, out_backprop)


@op(
    "DepthwiseConv2dNativeBackpropFilter",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    types={"T": FLOATING},
    attrs=ATTRS,
    ranks="input: 4, out_backprop: 4",
    shape=shapes.given(1, rank=4),
)
def DepthwiseConv2dNativeBackpropFilter(
    xp: ModuleType, input: Array, filter_sizes: Array, out_backprop: Array, **attrs
):
    taps = dimensions(filter_sizes, "filter_sizes")
    _require_image(input, "input")
    _require_image(out_backprop, "out_backprop")
    x = channels_last(xp, input, attrs["data_format"])
    win = _windows(x.shape, taps, **attrs)
    dy = channels_last(xp, out_backprop, attrs["data_format"])
    _require_output(dy, (x.shape[0], *win.out, taps[2] * taps[3]))

    def each_tap(x: Any, dy: np.ndarray):
        dy = dy.reshape(*dy.shape[:-1], taps[2], taps[3])
        x = win.padded(xp, x)
        every = (0, 1, 2)
        out = [(x[win.under(offset)][..., None] * dy).sum(every) for offset in win.offsets()]
        return xp.stack(out).reshape(taps).astype(dy.dtype)

    def instruction(x, dy):
        grouped = (taps[0], taps[1], 1, taps[2] * taps[3])
        return compiled_windows.convolution_filter_gradient(x, grouped, dy, win, taps[2]).reshape(taps)

    return compiled_windows.choose(xp, instruction, each_tap, x, dy)


@DepthwiseConv2dNativeBackpropFilter.gradient(needs="input, out_backprop")
def _(call: GradientCall, dy: Tensor):
    attrs = _attrs(call)
    of_input = of_output = None
    if call.wants("input"):
        of_input = DepthwiseConv2dNativeBackpropInput(call.shape("input"), dy, call.out_backprop, **attrs)
    if call.wants("out_backprop"):
        of_output = DepthwiseConv2dNative(call.input, dy, **attrs)
    return of_input, None, of_output


@DepthwiseConv2dNativeBackpropFilter.samples
def _(rng):
    for x, w, attrs in _cases():
        dy = _naive(np.zeros(x), np.zeros(w), **attrs).shape
        yield Sample(rng.normal(*x), np.array(w, np.int32), rng.normal(*dy), **attrs)
    same = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    x, dy = rng.normal(1, 4, 4, 2), rng.normal(1, 4, 4, 2)
    yield Sample(x, [3, 3, 2], dy, **same, raises=InvalidArgumentError)
    yield Sample(x, [3, 3, 2, 2], dy, **same, raises=InvalidArgumentError)


@DepthwiseConv2dNativeBackpropFilter.reference
def _(input: np.ndarray, filter_sizes: np.ndarray, out_backprop: np.ndarray, **attrs):
    shape = tuple(int(d) for d in filter_sizes)
    return adjoint(lambda w: _naive(input, w, **attrs), shape, out_backprop)
