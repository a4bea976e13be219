"""Pooling of images and volumes: the greatest or the mean element under each window, and the gradients."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, flops, shapes
from tapeflow.ops.array import padding
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import FLOATING, REAL, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

from tapeflow.ops.convolution.pooling_windows import (
    MAX_POOL,
    POOL,
    attrs_of,
    avg_pool,
    avg_pool_grad,
    distinct,
    each_window,
    lowest_number,
    max_pool,
    max_pool_grad,
    max_pool_grad_grad,
    pool_rule,
    pooled_shape,
    reference_pool,
)


def _cases():
    square = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}
    yield (2, 4, 4, 2), {**square, "padding": "VALID"}
    yield (1, 5, 3, 2), {**square, "padding": "SAME"}
    yield (1, 5, 4, 1), {"ksize": [1, 3, 2, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
    yield (1, 5, 6, 1), {"ksize": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "padding": "VALID"}


def _bad_pools(rng: SampleGenerator):
    """Inputs and attrs that every pooling of images refuses."""
    x = rng.normal(1, 4, 4, 2)
    square = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    yield rng.normal(1, 4, 4), square
    yield x, {**square, "ksize": [1, 0, 2, 1]}
    yield x, {**square, "ksize": [1, -1, 2, 1]}
    yield x, {**square, "strides": [1, 0, 2, 1]}
    yield x, {**square, "ksize": [2, 2]}
    yield x, {**square, "strides": [1, 2]}
    yield x, {**square, "padding": "WRONG"}
    yield x, {**square, "ksize": [1, 9, 9, 1]}


@op("MaxPool", "input: T -> output: T", types={"T": Preferring(REAL)}, attrs=MAX_POOL, shape=pool_rule)  # fmt: skip
def MaxPool(xp: ModuleType, input: Array, **attrs):
    return max_pool(xp, input, **attrs)


MaxPool.flops(flops.pooling)


MaxPool.batching(batching.folded())


@MaxPool.gradient(needs="input, output")
def _(call: GradientCall, dy: Tensor):
    return MaxPoolGrad(call.input, call.output, dy, **attrs_of(call, MAX_POOL))


@MaxPool.samples
def _(rng):
    for shape, attrs in _cases():
        yield Sample(distinct(rng, *shape), **attrs)
    explicit = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 0, 1, 1, 0, 0]}
    yield Sample(distinct(rng, 1, 4, 4, 1), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], **explicit)
    yield Sample(
        distinct(rng, 1, 2, 4, 4),
        ksize=[1, 1, 2, 2],
        strides=[1, 1, 2, 2],
        padding="SAME",
        data_format="NCHW",
    )
    yield Sample(rng.normal(0, 4, 4, 1), **_SQUARE)
    for x, attrs in _bad_pools(rng):
        yield Sample(x, **attrs, raises=InvalidArgumentError)


_SQUARE: dict[str, Any] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}


@MaxPool.reference
def _(input: np.ndarray, **attrs):
    return reference_pool(input, np.max, **attrs)


@op(
    "MaxPoolGrad",
    "orig_input: T, orig_output: T, grad: T -> output: T",
    types={"T": Preferring(REAL)},
    attrs=MAX_POOL,
    shape=shapes.same_as(0, rank=4),
)
def MaxPoolGrad(xp: ModuleType, orig_input: Array, orig_output: Array, grad: Array, **attrs):
    return max_pool_grad(xp, orig_input, orig_output, grad, **attrs)


MaxPoolGrad.flops(flops.max_pooling_gradient)


MaxPoolGrad.batching(batching.folded())


@MaxPoolGrad.gradient(needs="orig_input, orig_output")
def _(call: GradientCall, dy: Tensor):
    x, attrs = call.orig_input, attrs_of(call, POOL)
    if call.padding == "EXPLICIT":
        # MaxPoolGradGrad knows no explicit padding: it sees an input that is padded already.
        pads = np.array(call.explicit_paddings, np.int32).reshape(-1, 2)
        lowest = np.array(lowest_number(x.dtype.as_numpy_dtype), x.dtype.as_numpy_dtype)
        x, dy, attrs["padding"] = padding.PadV2(x, pads, lowest), padding.Pad(dy, pads), "VALID"
    pooled = MaxPoolGradGrad(x, call.orig_output, dy, **attrs)
    return None, None, pooled


def _grad_samples(rng: Any, like_input: bool):
    for shape, attrs in _cases():
        x = distinct(rng, *shape)
        y = reference_pool(np.asarray(x), np.max, **attrs)
        yield Sample(
            x, y, rng.normal(*(shape if like_input else y.shape)), **attrs, differentiable=False
        )
    x, y = distinct(rng, 1, 4, 4, 1), rng.normal(1, 2, 2, 1)
    wrong = rng.normal(1, 3, 2, 1)
    yield Sample(x, wrong, y, **_SQUARE, raises=InvalidArgumentError)
    yield Sample(x, y, wrong, **_SQUARE, raises=InvalidArgumentError)
    yield Sample(rng.normal(1, 4, 4), y, y, **_SQUARE, raises=InvalidArgumentError)


MaxPoolGrad.samples(lambda rng: _grad_samples(rng, like_input=False))


@MaxPoolGrad.reference
def _(orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, **attrs):
    out = np.zeros_like(orig_input)
    for at, key in each_window(orig_input.shape, **attrs):
        for n, c in np.ndindex(orig_input.shape[0], orig_input.shape[-1]):
            window = orig_input[(n, *key, c)]
            place = np.unravel_index(window.argmax(), window.shape)
            out[(n, *key, c)][place] += grad[(n, *at, c)]
    return out


@op(
    "MaxPoolGradGrad",
    "orig_input: T, orig_output: T, grad: T -> output: T",
    types={"T": REAL},
    attrs=POOL,
    shape=lambda call: [pooled_shape(call, call.shape(1), call.shape(2))],
)
def MaxPoolGradGrad(xp: ModuleType, orig_input: Array, orig_output: Array, grad: Array, **attrs):
    return max_pool_grad_grad(xp, orig_input, orig_output, grad, **attrs)


@MaxPoolGradGrad.gradient(needs="orig_input, orig_output")
def _(call: GradientCall, dy: Tensor):
    return None, None, MaxPoolGrad(call.orig_input, call.orig_output, dy, **attrs_of(call, POOL))


MaxPoolGradGrad.samples(lambda rng: _grad_samples(rng, like_input=True))


@MaxPoolGradGrad.reference
def _(orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, **attrs):
    out = np.zeros_like(orig_output)
    for at, key in each_window(orig_input.shape, **attrs):
        for n, c in np.ndindex(orig_input.shape[0], orig_input.shape[-1]):
            place = orig_input[(n, *key, c)].argmax()
            out[(n, *at, c)] = grad[(n, *key, c)].ravel()[place]
    return out


@op("AvgPool", "value: T -> output: T", types={"T": FLOATING}, attrs=POOL, shape=pool_rule)
def AvgPool(xp: ModuleType, value: Array, **attrs):
    return avg_pool(xp, value, **attrs)


AvgPool.flops(flops.pooling)


AvgPool.batching(batching.folded())


@AvgPool.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return AvgPoolGrad(call.shape("value"), dy, **attrs_of(call, POOL))


@AvgPool.samples
def _(rng: SampleGenerator):
    for shape, attrs in _cases():
        yield Sample(rng.normal(*shape), **attrs)
    yield Sample(
        rng.normal(1, 2, 4, 4),
        ksize=[1, 1, 2, 2],
        strides=[1, 1, 2, 2],
        padding="SAME",
        data_format="NCHW",
    )
    for x, attrs in _bad_pools(rng):
        yield Sample(x, **attrs, raises=InvalidArgumentError)


@AvgPool.reference
def _(value: np.ndarray, **attrs):
    return reference_pool(value, np.mean, **attrs)


@op(
    "AvgPoolGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    types={"T": FLOATING},
    attrs=POOL,
    ranks="grad: 4",
    shape=shapes.given(0, rank=4),
)
def AvgPoolGrad(xp: ModuleType, orig_input_shape: Array, grad: Array, **attrs):
    return avg_pool_grad(xp, orig_input_shape, grad, **attrs)


AvgPoolGrad.flops(flops.average_pooling_gradient)


AvgPoolGrad.batching(batching.folded(1, sizes=0))


@AvgPoolGrad.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return None, AvgPool(dy, **attrs_of(call, POOL))


@AvgPoolGrad.samples
def _(rng: SampleGenerator):
    for shape, attrs in _cases():
        y = reference_pool(np.zeros(shape), np.mean, **attrs).shape
        yield Sample(np.array(shape, np.int32), rng.normal(*y), **attrs)
    y = rng.normal(1, 2, 2, 1)
    yield Sample([1, 4, 4], y, **_SQUARE, raises=InvalidArgumentError)
    yield Sample([1, 4, -4, 1], y, **_SQUARE, raises=InvalidArgumentError)
    yield Sample([1, 4, 4, 1], rng.normal(1, 3, 2, 1), **_SQUARE, raises=InvalidArgumentError)


@AvgPoolGrad.reference
def _(orig_input_shape: np.ndarray, grad: np.ndarray, **attrs):
    out = np.zeros(tuple(orig_input_shape), grad.dtype)
    for at, key in each_window(out.shape, **attrs):
        window = out[(slice(None), *key)]
        count = math.prod(window.shape[1:-1])
        window += (grad[(slice(None), *at)] / count)[(slice(None), *[None] * len(at))]
    return out
