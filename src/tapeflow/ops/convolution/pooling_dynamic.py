"""Max pooling whose windows and strides are tensors, and the second gradient of pooling with places."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.ops import shapes
from tapeflow.ops.convolution.pooling_windows import (
    IMAGE,
    SAME_VALID,
    attrs_of,
    distinct,
    max_pool,
    max_pool_grad,
    max_pool_grad_grad,
    reference_pool,
)
from tapeflow.ops.convolution.sliding import sliding_rule, spatial_axes
from tapeflow.ops.signature import Preferring, ints
from tapeflow.ops.table import INDEX, REAL, Sample, op
from tapeflow.ops.validate import (
    InvalidArgumentError,
    first_out_of_range,
    invalid,
    shape_text,
    vector_of,
)

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_ATTRS = {"padding": SAME_VALID, "data_format": IMAGE}


def _rule(call: ShapeCall):
    data_format = call.attr("data_format")
    shape = shapes.with_rank(call.shape(0), 4)
    for i in (1, 2):
        shapes.exactly(shapes.vector_length(call, i), 4)
    ksize, strides = shapes.vector_value(call, 1), shapes.vector_value(call, 2)
    if ksize is None or strides is None:
        return [(None,) * 4]
    channels = shape[data_format.index("C")]
    if ksize[data_format.index("C")] != 1:
        channels = None
    taps = [ksize[i] for i in spatial_axes(data_format)]
    return [
        sliding_rule(data_format, shape, taps, strides, [1] * 4, call.attr("padding"), (), channels)
    ]


def _windows(ksize: Any, strides: Any) -> dict:
    out = {}
    for name, values in (("ksize", ksize), ("strides", strides)):
        out[name] = vector_of(values, f"{name} must be a vector, got shape {{}}")
        if len(out[name]) != 4:
            raise invalid(
                f"Sliding window {name} field must specify 4 dimensions, got {shape_text(out[name])}"
            )
    return out


@op(
    "MaxPoolV2",
    "input: T, ksize: int32, strides: int32 -> output: T",
    types={"T": Preferring(REAL)},
    attrs=_ATTRS,
    shape=_rule,
)
def MaxPoolV2(xp: ModuleType, input: Array, ksize: Array, strides: Array, **attrs):
    return max_pool(xp, input, **_windows(ksize, strides), **attrs)


MaxPoolV2.compiled(static="ksize, strides")


@MaxPoolV2.gradient(needs="input, output, ksize, strides")
def _(call: GradientCall, dy: Tensor):
    windows = call.ksize, call.strides
    return MaxPoolGradV2(call.input, call.output, dy, *windows, **attrs_of(call, _ATTRS)), None, None


_SQUARE = np.array([1, 2, 2, 1], np.int32)


@MaxPoolV2.samples
def _(rng: SampleGenerator):
    x = distinct(rng, 2, 4, 5, 2)
    for padding in ("SAME", "VALID"):
        yield Sample(x, _SQUARE, _SQUARE, padding=padding)
    yield Sample(x, _SQUARE[:3], _SQUARE, padding="SAME", raises=InvalidArgumentError)
    yield Sample(x, _SQUARE, _SQUARE * 0, padding="SAME", raises=InvalidArgumentError)
    yield Sample(x[0], _SQUARE, _SQUARE, padding="SAME", raises=InvalidArgumentError)


@MaxPoolV2.reference
def _(input: np.ndarray, ksize: np.ndarray, strides: np.ndarray, padding: str, **_):
    return reference_pool(input, np.max, ksize=list(ksize), strides=list(strides), padding=padding)


_GRADIENT = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T"


@op(
    "MaxPoolGradV2",
    _GRADIENT,
    types={"T": Preferring(REAL)},
    attrs=_ATTRS,
    ranks="orig_input: 4, orig_output: 4, grad: 4, ksize: 1, strides: 1",
    shape=shapes.same_as_first,
)
def MaxPoolGradV2(
    xp: ModuleType, orig_input: Array, orig_output: Array, grad: Array, ksize: Array, strides: Array, **attrs
):
    return max_pool_grad(xp, orig_input, orig_output, grad, **_windows(ksize, strides), **attrs)


MaxPoolGradV2.compiled(static="ksize, strides")


@MaxPoolGradV2.gradient(needs="orig_input, orig_output, ksize, strides")
def _(call: GradientCall, dy: Tensor):
    pooled = MaxPoolGradGradV2(
        call.orig_input, call.orig_output, dy, call.ksize, call.strides, **attrs_of(call, _ATTRS)
    )
    return None, None, pooled, None, None


def _pooled_back_rule(call):
    for i in (3, 4):
        shapes.exactly(call.shape(i)[0], 4)
    shapes.merge(call.shape(0), call.shape(2))
    return [call.shape(1)]


@op(
    "MaxPoolGradGradV2",
    _GRADIENT,
    types={"T": REAL},
    attrs=_ATTRS,
    ranks="orig_input: 4, orig_output: 4, grad: 4, ksize: 1, strides: 1",
    shape=_pooled_back_rule,
)
def MaxPoolGradGradV2(
    xp: ModuleType, orig_input: Array, orig_output: Array, grad: Array, ksize: Array, strides: Array, **attrs
):
    return max_pool_grad_grad(xp, orig_input, orig_output, grad, **_windows(ksize, strides), **attrs)


MaxPoolGradGradV2.compiled(static="ksize, strides")


@MaxPoolGradGradV2.gradient(needs="orig_input, orig_output, ksize, strides")
def _(call: GradientCall, dy: Tensor):
    back = MaxPoolGradV2(
        call.orig_input, call.orig_output, dy, call.ksize, call.strides, **attrs_of(call, _ATTRS)
    )
    return None, None, back, None, None


def _pooled(x: np.ndarray):
    return reference_pool(np.asarray(x), np.max, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")


def _samples(like_input: bool):
    def samples(rng):
        x = distinct(rng, 1, 4, 4, 2)
        y = _pooled(x)
        given = rng.normal(*(x.shape if like_input else y.shape))
        good = {"padding": "VALID"}
        yield Sample(x, y, given, _SQUARE, _SQUARE, **good, differentiable=(2,))
        yield Sample(x, y[:, 1:], given, _SQUARE, _SQUARE, **good, raises=InvalidArgumentError)
        yield Sample(x, y, given[:, 1:], _SQUARE, _SQUARE, **good, raises=InvalidArgumentError)
        yield Sample(x, y, given, _SQUARE[:2], _SQUARE, **good, raises=InvalidArgumentError)

    return samples


MaxPoolGradV2.samples(_samples(like_input=False))
MaxPoolGradGradV2.samples(_samples(like_input=True))


def _places(x):
    """Where in a window of 2 x 2 the greatest element of `x` [1, 4, 4, channels] stands: an index of `x`."""
    for i, j, c in np.ndindex(2, 2, x.shape[3]):
        window = x[0, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, c]
        row, column = divmod(int(window.argmax()), 2)
        yield (0, i, j, c), (0, 2 * i + row, 2 * j + column, c)


@MaxPoolGradV2.reference
def _(orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, ksize: np.ndarray, strides: np.ndarray, **_):
    out = np.zeros(orig_input.shape)
    for at, source in _places(orig_input):
        out[source] += grad[at]
    return out


@MaxPoolGradGradV2.reference
def _(orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, ksize: np.ndarray, strides: np.ndarray, **_):
    out = np.zeros(orig_output.shape)
    for at, source in _places(orig_input):
        out[at] = grad[source]
    return out


def _taken_rule(call):
    image = shapes.merge(call.shape(0), call.shape(1))
    strides, padding = call.attr("strides"), call.attr("padding")
    pooled = sliding_rule("NHWC", image, call.attr("ksize")[1:3], strides, [1] * 4, padding, (), image[3])
    return [shapes.merge(pooled, call.shape(2))]


@op(
    "MaxPoolGradGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    types={"T": REAL, "Targmax": INDEX[::-1]},
    attrs={"ksize": ints, "strides": ints, "padding": SAME_VALID, "include_batch_in_index": False},
    ranks="input: 4, grad: 4, argmax: 4",
    shape=_taken_rule,
)
def MaxPoolGradGradWithArgmax(
    xp: ModuleType, input: Array, grad: Array, argmax: np.ndarray, ksize: Sequence[int], strides: Sequence[int],
    padding: str, include_batch_in_index: bool,
):
    if input.ndim != 4 or argmax.ndim != 4:
        raise invalid(
            f"input and argmax must be 4-dimensional, got shapes {shape_text(input.shape)} and "
            f"{shape_text(argmax.shape)}"
        )
    if grad.shape != input.shape or argmax.shape[0] != input.shape[0]:
        raise invalid(
            f"Expected grad shape to be {shape_text(input.shape)}, but got {shape_text(grad.shape)}; argmax has "
            f"shape {shape_text(argmax.shape)}"
        )
    batch = input.shape[0]
    each = grad.size if include_batch_in_index else grad.size // max(batch, 1)
    bad = first_out_of_range(argmax, each)
    if bad:
        raise invalid(f"argmax{bad[0]} = {bad[1]} is not in [0, {each})")
    flat = grad.reshape(-1)
    if include_batch_in_index:
        return flat[argmax]
    return flat[argmax + (xp.arange(batch) * each).reshape(-1, 1, 1, 1)]


@MaxPoolGradGradWithArgmax.samples
def _(rng):
    x, dy = rng.normal(2, 4, 4, 1), rng.normal(2, 4, 4, 1)
    places = np.arange(8).reshape(2, 2, 2, 1)
    good = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    picked = np.stack([dy[b].reshape(-1)[places[b]] for b in range(2)])
    yield Sample(x, dy, places, **good, expect=picked)
    yield Sample(x, dy, places, **good, include_batch_in_index=True, expect=dy.reshape(-1)[places])
    yield Sample(x, dy, places + 99, **good, raises=InvalidArgumentError)
    yield Sample(x, dy[:1], places, **good, raises=InvalidArgumentError)
    yield Sample(x[0], dy, places, **good, raises=InvalidArgumentError)
