"""Convolutions of volumes and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.convolution.taps import (
    adjoint,
    attrs_of,
    convolve,
    filter_gradient,
    forward_rule,
    input_gradient,
    naive,
)
from tapeflow.ops.signature import Preferring, ints, one_of
from tapeflow.ops.table import FLOATING, INDEX, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

VOLUME_ATTRS = {
    "strides": ints,
    "padding": one_of("SAME", "VALID"),
    "data_format": one_of("NDHWC", "NCDHW")("NDHWC"),
    "dilations": ints([1, 1, 1, 1, 1]),
}


def _volume_cases():
    one = [1, 1, 1, 1, 1]
    yield (1, 3, 3, 2, 2), (2, 2, 1, 2, 2), {"strides": one, "padding": "SAME"}
    yield (1, 4, 3, 3, 1), (2, 2, 2, 1, 1), {"strides": [1, 2, 1, 1, 1], "padding": "VALID"}


@op(
    "Conv3D",
    "input: T, filter: T -> output: T",
    types={"T": FLOATING},
    attrs=VOLUME_ATTRS,
    shape=forward_rule,
)
def Conv3D(xp: ModuleType, input: Array, filter: Array, **attrs):
    return convolve(xp, input, filter, 5, **attrs)


Conv3D.flops(flops.convolution(4))


Conv3D.batching(batching.folded(0))


@Conv3D.gradient(needs="input, filter")
def _(call: GradientCall, dy: Tensor):
    attrs = attrs_of(call, VOLUME_ATTRS)
    return (
        Conv3DBackpropInputV2(call.shape("input"), call.filter, dy, **attrs) if call.wants("input") else None,
        Conv3DBackpropFilterV2(call.input, call.shape("filter"), dy, **attrs) if call.wants("filter") else None,
    )


@Conv3D.samples
def _(rng):
    for x, w, attrs in _volume_cases():
        yield Sample(rng.normal(*x), rng.normal(*w), **attrs)
    same = {"strides": [1] * 5, "padding": "SAME"}
    x, w = rng.normal(1, 3, 3, 3, 2), rng.normal(2, 2, 2, 2, 1)
    yield Sample(rng.normal(1, 2, 3, 3, 3), w, **same, data_format="NCDHW")
    yield Sample(rng.normal(1, 3, 3, 2), w, **same, raises=InvalidArgumentError)
    yield Sample(x, rng.normal(2, 2, 2, 3, 1), **same, raises=InvalidArgumentError)
    yield Sample(x, w, strides=[1, 0, 1, 1, 1], padding="SAME", raises=InvalidArgumentError)


@Conv3D.reference
def _(input: np.ndarray, filter: np.ndarray, **attrs):
    return naive(input, filter, **attrs)


@op(
    "Conv3DBackpropInputV2",
    "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    types={"T": FLOATING, "Tshape": Preferring(INDEX)},
    attrs=VOLUME_ATTRS,
    ranks="filter: 5, out_backprop: 5",
    shape=shapes.given(0, rank=5),
)
def Conv3DBackpropInputV2(xp: ModuleType, input_sizes: Array, filter: Array, out_backprop: Array, **attrs):
    return input_gradient(xp, input_sizes, filter, out_backprop, 5, **attrs)


Conv3DBackpropInputV2.batching(batching.folded(2, sizes=0))


@Conv3DBackpropInputV2.gradient(needs="filter, out_backprop")
def _(call: GradientCall, dy: Tensor):
    attrs = attrs_of(call, VOLUME_ATTRS)
    return (
        None,
        Conv3DBackpropFilterV2(dy, call.shape("filter"), call.out_backprop, **attrs) if call.wants("filter") else None,
        Conv3D(dy, call.filter, **attrs) if call.wants("out_backprop") else None,
    )


@Conv3DBackpropInputV2.samples
def _(rng: SampleGenerator):
    for x, w, attrs in _volume_cases():
        yield Sample(
            np.array(x, np.int32),
            rng.normal(*w),
            rng.normal(*_output_shape_3d(x, w, attrs)),
            **attrs,
        )


def _output_shape_3d(x: Sequence[int], w: Sequence[int], attrs: dict[str, Any]):
    return naive(np.zeros(x), np.zeros(w), data_format="NDHWC", dilations=[1] * 5, **attrs).shape


@Conv3DBackpropInputV2.reference
def _(input_sizes: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, **attrs):
    return adjoint(lambda x: naive(x, filter, **attrs), tuple(map(int, input_sizes)), out_backprop)


@op(
    "Conv3DBackpropFilterV2",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    types={"T": FLOATING},
    attrs=VOLUME_ATTRS,
    ranks="input: 5, out_backprop: 5",
    shape=shapes.given(1, rank=5),
)
def Conv3DBackpropFilterV2(xp: ModuleType, input: Array, filter_sizes: Array, out_backprop: Array, **attrs):
    return filter_gradient(xp, input, filter_sizes, out_backprop, 5, **attrs)


@Conv3DBackpropFilterV2.gradient(needs="input, out_backprop")
def _(call: GradientCall, dy: Tensor):
    attrs = attrs_of(call, VOLUME_ATTRS)
    return (
        Conv3DBackpropInputV2(call.shape("input"), dy, call.out_backprop, **attrs) if call.wants("input") else None,
        None,
        Conv3D(call.input, dy, **attrs) if call.wants("out_backprop") else None,
    )


@Conv3DBackpropFilterV2.samples
def _(rng: SampleGenerator):
    for x, w, attrs in _volume_cases():
        yield Sample(
            rng.normal(*x),
            np.array(w, np.int32),
            rng.normal(*_output_shape_3d(x, w, attrs)),
            **attrs,
        )


@Conv3DBackpropFilterV2.reference
def _(input: np.ndarray, filter_sizes: np.ndarray, out_backprop: np.ndarray, **attrs):
    return adjoint(lambda w: naive(input, w, **attrs), tuple(map(int, filter_sizes)), out_backprop)


_FIRST_ATTRS = {key: value for key, value in VOLUME_ATTRS.items() if key != "data_format"}
_FIRST_TYPES = {"T": (dtypes.float16, dtypes.float32, dtypes.float64)}


@op(
    "Conv3DBackpropInput",
    "input: T, filter: T, out_backprop: T -> output: T",
    types=_FIRST_TYPES,
    attrs=_FIRST_ATTRS,
    ranks="input: 5, filter: 5, out_backprop: 5",
    shape=lambda call: [shapes.with_rank(call.shape(0), 5)],
)
def Conv3DBackpropInput(xp: ModuleType, input: Array, filter: Array, out_backprop: Array, **attrs):
    _check_volumes(input=input)
    return input_gradient(xp, input.shape, filter, out_backprop, 5, **attrs, data_format="NDHWC")


@op(
    "Conv3DBackpropFilter",
    "input: T, filter: T, out_backprop: T -> output: T",
    types=_FIRST_TYPES,
    attrs=_FIRST_ATTRS,
    ranks="input: 5, filter: 5, out_backprop: 5",
    shape=lambda call: [shapes.with_rank(call.shape(1), 5)],
)
def Conv3DBackpropFilter(xp: ModuleType, input: Array, filter: Array, out_backprop: Array, **attrs):
    _check_volumes(filter=filter)
    return filter_gradient(xp, input, filter.shape, out_backprop, 5, **attrs, data_format="NDHWC")


def _check_volumes(**tensors) -> None:
    for name, x in tensors.items():
        if x.ndim != 5:
            raise InvalidArgumentError(None, None, f"{name} must be 5-dimensional, but is of rank {x.ndim}")


def _first_samples(rng: SampleGenerator):
    for x, w, attrs in _volume_cases():
        dy = rng.normal(*_output_shape_3d(x, w, attrs))
        yield Sample(rng.normal(*x), rng.normal(*w), dy, **attrs)
    yield Sample(rng.normal(*x[1:]), rng.normal(*w), dy, **attrs, raises=InvalidArgumentError)
    yield Sample(rng.normal(*x), rng.normal(*w[1:]), dy, **attrs, raises=InvalidArgumentError)
    yield Sample(rng.normal(*x), rng.normal(*w), dy[:, 1:], **attrs, raises=InvalidArgumentError)


for _row in (Conv3DBackpropInput, Conv3DBackpropFilter):
    _row.gradient(None)
    _row.samples(_first_samples)


@Conv3DBackpropInput.reference
def _(input: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, **attrs):
    return adjoint(lambda x: naive(x, filter, **attrs, data_format="NDHWC"), input.shape, out_backprop)


@Conv3DBackpropFilter.reference
def _(input: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, **attrs):
    return adjoint(lambda w: naive(input, w, **attrs, data_format="NDHWC"), filter.shape, out_backprop)
