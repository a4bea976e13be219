"""Convolutions of images and their gradients, each a sum of matrix products over the taps of the filter."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall

from tapeflow.ops.convolution.taps import (
    IMAGE_ATTRS,
    adjoint,
    attrs_of,
    convolve,
    filter_gradient,
    forward_rule,
    input_gradient,
    naive,
)


@op(
    "Conv2D",
    "input: T, filter: T -> output: T",
    types={"T": (*FLOATING, dtypes.int32)},
    attrs=IMAGE_ATTRS,
    shape=forward_rule,
)
def Conv2D(xp: ModuleType, input: Array, filter: Array, **attrs):
    return convolve(xp, input, filter, 4, **attrs)


Conv2D.flops(flops.convolution(3))


Conv2D.batching(batching.folded(0))


@Conv2D.gradient(needs="input, filter")
def _(call: GradientCall, dy: Tensor):
    attrs = attrs_of(call, IMAGE_ATTRS)
    return (
        Conv2DBackpropInput(call.shape("input"), call.filter, dy, **attrs) if call.wants("input") else None,
        Conv2DBackpropFilter(call.input, call.shape("filter"), dy, **attrs) if call.wants("filter") else None,
    )


def _image_cases():
    """(input shape, filter shape, attrs): strides, dilations, groups, layouts, paddings."""
    one = [1, 1, 1, 1]
    yield (2, 5, 4, 3), (3, 2, 3, 2), {"strides": one, "padding": "SAME"}
    yield (1, 5, 6, 2), (3, 3, 2, 2), {"strides": [1, 2, 2, 1], "padding": "VALID"}
    yield (1, 5, 5, 2), (2, 2, 2, 1), {"strides": [1, 2, 1, 1], "padding": "SAME"}
    yield (
        (1, 6, 6, 1),
        (2, 2, 1, 2),
        {"strides": one, "padding": "VALID", "dilations": [1, 2, 3, 1]},
    )
    yield (1, 3, 3, 4), (2, 2, 2, 4), {"strides": one, "padding": "SAME"}
    yield (
        (1, 3, 3, 1),
        (3, 3, 1, 1),
        {
            "strides": one,
            "padding": "EXPLICIT",
            "explicit_paddings": [0, 0, 2, 1, 0, 1, 0, 0],
        },
    )
    yield (1, 1, 1, 3), (1, 1, 3, 2), {"strides": one, "padding": "VALID"}


@Conv2D.samples
def _(rng):
    for x, w, attrs in _image_cases():
        yield Sample(rng.normal(*x), rng.normal(*w), **attrs)
    x, w = rng.normal(1, 4, 4, 2), rng.normal(3, 3, 2, 1)
    one = [1, 1, 1, 1]
    yield Sample(rng.normal(1, 2, 4, 4), w, strides=one, padding="SAME", data_format="NCHW")
    yield Sample(rng.normal(0, 4, 4, 2), w, strides=one, padding="SAME")
    for bad in (
        (rng.normal(1, 4, 4), w, {"strides": one, "padding": "SAME"}),
        (x, rng.normal(3, 3, 2), {"strides": one, "padding": "SAME"}),
        (x, rng.normal(3, 3, 3, 1), {"strides": one, "padding": "SAME"}),
        (rng.normal(1, 4, 4, 4), rng.normal(3, 3, 2, 3), {"strides": one, "padding": "SAME"}),
        (x, rng.normal(0, 3, 2, 1), {"strides": one, "padding": "SAME"}),
        (x, rng.normal(6, 6, 2, 1), {"strides": one, "padding": "VALID"}),
        (x, w, {"strides": [1, 0, 1, 1], "padding": "SAME"}),
        (x, w, {"strides": [1, -1, 1, 1], "padding": "SAME"}),
        (x, w, {"strides": [1, 1, 1], "padding": "SAME"}),
        (x, w, {"strides": one, "padding": "WRONG"}),
        (x, w, {"strides": one, "padding": "SAME", "dilations": [1, 0, 1, 1]}),
        (
            x,
            w,
            {"strides": one, "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, -1, 0, 0, 0, 0]},
        ),
        (x, w, {"strides": one, "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 1]}),
        (x, w, {"strides": one, "padding": "SAME", "explicit_paddings": [0, 0, 1, 1]}),
    ):
        yield Sample(*bad[:2], **bad[2], raises=InvalidArgumentError)


@Conv2D.reference
def _(input: np.ndarray, filter: np.ndarray, **attrs):
    return naive(input, filter, **attrs)


def _input_rule(call):
    sizes = shapes.from_value(call, 0)
    filters, grad = shapes.with_rank(call.shape(1), 4), shapes.with_rank(call.shape(2), 4)
    if sizes is not None and len(sizes) not in (2, 4):
        raise invalid(
            f"Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: {len(sizes)}"
        )
    last = call.attr("data_format") == "NHWC"
    shapes.same_dimension(grad[3 if last else 1], filters[3])
    batch, channels, space = grad[0], None, (None, None)
    if sizes is not None and len(sizes) == 2:  # the spatial sizes alone
        space, channels = sizes, filters[2]
    elif sizes is not None:
        batch = shapes.same_dimension(sizes[0], batch)
        space, channels = (sizes[1:3], sizes[3]) if last else (sizes[2:], sizes[1])
    return [(batch, *space, channels) if last else (batch, channels, *space)]


@op(
    "Conv2DBackpropInput",
    "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    types={"T": (*FLOATING, dtypes.int32)},
    attrs=IMAGE_ATTRS,
    shape=_input_rule,
)
def Conv2DBackpropInput(xp: ModuleType, input_sizes: Array, filter: Array, out_backprop: Array, **attrs):
    return input_gradient(xp, input_sizes, filter, out_backprop, 4, **attrs)


Conv2DBackpropInput.flops(flops.convolution_to_input)


Conv2DBackpropInput.batching(batching.folded(2, sizes=0))


@Conv2DBackpropInput.gradient(needs="filter, out_backprop")
def _(call: GradientCall, dy: Tensor):
    attrs = attrs_of(call, IMAGE_ATTRS)
    return (
        None,
        Conv2DBackpropFilter(dy, call.shape("filter"), call.out_backprop, **attrs) if call.wants("filter") else None,
        Conv2D(dy, call.filter, **attrs) if call.wants("out_backprop") else None,
    )


def _output_shape(x: Sequence[int], w: Sequence[int], attrs: dict[str, Any]):
    return naive(
        np.zeros(x), np.zeros(w), **{"data_format": "NHWC", "dilations": [1] * len(x), **attrs}
    ).shape


@Conv2DBackpropInput.samples
def _(rng):
    for x, w, attrs in _image_cases():
        yield Sample(
            np.array(x, np.int32), rng.normal(*w), rng.normal(*_output_shape(x, w, attrs)), **attrs
        )
    same = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    w, dy = rng.normal(3, 3, 2, 3), rng.normal(1, 4, 4, 3)
    yield Sample([4, 4], w, dy, **same)
    for sizes, taps, grad in (
        ([1, 4, 4], w, dy),
        ([1, 4, -4, 2], w, dy),
        ([1, 4, 4, 2], w, rng.normal(1, 3, 4, 3)),
        ([1, 4, 4, 2], w, rng.normal(1, 4, 4, 2)),
        ([1, 4, 4, 3], w, dy),
        ([1, 4, 4, 2], rng.normal(3, 3, 2), dy),
    ):
        yield Sample(sizes, taps, grad, **same, raises=InvalidArgumentError)


@Conv2DBackpropInput.reference
def _(input_sizes: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, **attrs):
    shape = tuple(int(d) for d in input_sizes)
    if len(shape) == 2:
        shape = (out_backprop.shape[0], *shape, filter.shape[-2])
    return adjoint(lambda x: naive(x, filter, **attrs), shape, out_backprop)


@op(
    "Conv2DBackpropFilter",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    types={"T": FLOATING},
    attrs=IMAGE_ATTRS,
    ranks="input: 4, out_backprop: 4",
    shape=shapes.given(1, rank=4),
)
def Conv2DBackpropFilter(xp: ModuleType, input: Array, filter_sizes: Array, out_backprop: Array, **attrs):
    return filter_gradient(xp, input, filter_sizes, out_backprop, 4, **attrs)


Conv2DBackpropFilter.flops(flops.convolution_to_filter)


@Conv2DBackpropFilter.gradient(needs="input, out_backprop")
def _(call: GradientCall, dy: Tensor):
    attrs = attrs_of(call, IMAGE_ATTRS)
    return (
        Conv2DBackpropInput(call.shape("input"), dy, call.out_backprop, **attrs) if call.wants("input") else None,
        None,
        Conv2D(call.input, dy, **attrs) if call.wants("out_backprop") else None,
    )


@Conv2DBackpropFilter.samples
def _(rng):
    for x, w, attrs in _image_cases():
        yield Sample(
            rng.normal(*x), np.array(w, np.int32), rng.normal(*_output_shape(x, w, attrs)), **attrs
        )
    same = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    x, dy = rng.normal(1, 4, 4, 2), rng.normal(1, 4, 4, 3)
    for image, sizes, grad in (
        (x, [3, 3, 2], dy),
        (x, [3, 3, -2, 3], dy),
        (x, [3, 3, 2, 3], rng.normal(1, 4, 4, 2)),
        (x, [3, 3, 3, 3], dy),
        (rng.normal(1, 4, 4), [3, 3, 2, 3], dy),
    ):
        yield Sample(image, sizes, grad, **same, raises=InvalidArgumentError)


@Conv2DBackpropFilter.reference
def _(input: np.ndarray, filter_sizes: np.ndarray, out_backprop: np.ndarray, **attrs):
    shape = tuple(int(d) for d in filter_sizes)
    return adjoint(lambda w: naive(input, w, **attrs), shape, out_backprop)
