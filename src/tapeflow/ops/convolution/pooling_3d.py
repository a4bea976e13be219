"""Pooling of volumes, and max pooling that tells where the maxima were."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.convolution.pooling_windows import (
    POOL_3D,
    SAME_VALID,
    attrs_of,
    avg_pool,
    avg_pool_grad,
    distinct,
    each_window,
    max_pool,
    max_pool_grad,
    max_pool_grad_grad,
    max_under,
    pool_rule,
    pool_windows,
    pooled_shape,
    reference_pool,
    require_like,
    winners,
)
from tapeflow.ops.convolution.sliding import sliding_rule
from tapeflow.ops.folding import fold_at
from tapeflow.ops.indexing.gather import Gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.signature import Preferring, boolean, dtype, ints
from tapeflow.ops.table import FLOATING, INDEX, REAL, Sample, op
from tapeflow.ops.validate import index_kind, invalid, known

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

CUBE = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 1, 2, 1]}


def _cases():
    yield (1, 4, 3, 2, 2), {**CUBE, "padding": "VALID"}
    yield (1, 3, 3, 3, 1), {**CUBE, "padding": "SAME"}


def _reference(x: np.ndarray, function, **attrs):
    return reference_pool(x, function, **{"data_format": "NDHWC", **attrs})


@op("MaxPool3D", "input: T -> output: T", types={"T": FLOATING}, attrs=POOL_3D, shape=pool_rule)
def MaxPool3D(xp: ModuleType, input: Array, **attrs):
    return max_pool(xp, input, **attrs)


MaxPool3D.batching(batching.folded())


@MaxPool3D.gradient(needs="input, output")
def _(call: GradientCall, dy: Tensor):
    return MaxPool3DGrad(call.input, call.output, dy, **attrs_of(call, POOL_3D))


@MaxPool3D.samples
def _(rng):
    for shape, attrs in _cases():
        yield Sample(distinct(rng, *shape), **attrs)
    yield Sample(rng.normal(1, 4, 4, 1), **CUBE, padding="SAME", raises=InvalidArgumentError)


@MaxPool3D.reference
def _(input: np.ndarray, **attrs):
    return _reference(input, np.max, **attrs)


@op(
    "MaxPool3DGrad",
    "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
    types={"T": Preferring(FLOATING), "TInput": Preferring(FLOATING)},
    attrs=POOL_3D,
    shape=shapes.same_as(0, rank=5),
)
def MaxPool3DGrad(xp: ModuleType, orig_input: Array, orig_output: Array, grad: Array, **attrs):
    return max_pool_grad(xp, orig_input, orig_output, grad, **attrs)


MaxPool3DGrad.batching(batching.folded())


@MaxPool3DGrad.gradient(needs="orig_input, orig_output")
def _(call: GradientCall, dy: Tensor):
    attrs = attrs_of(call, POOL_3D)
    return None, None, MaxPool3DGradGrad(call.orig_input, call.orig_output, dy, **attrs)


def _grad_samples(rng: Any, like_input: bool):
    for shape, attrs in _cases():
        x = distinct(rng, *shape)
        y = _reference(np.asarray(x), np.max, **attrs)
        yield Sample(
            x, y, rng.normal(*(shape if like_input else y.shape)), **attrs, differentiable=False
        )


MaxPool3DGrad.samples(lambda rng: _grad_samples(rng, like_input=False))


@MaxPool3DGrad.reference
def _(orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, **attrs):
    out = np.zeros(orig_input.shape, grad.dtype)
    for at, key in each_window(orig_input.shape, **attrs):
        for n, c in np.ndindex(orig_input.shape[0], orig_input.shape[-1]):
            window = orig_input[(n, *key, c)]
            place = np.unravel_index(window.argmax(), window.shape)
            out[(n, *key, c)][place] += grad[(n, *at, c)]
    return out


@op(
    "MaxPool3DGradGrad",
    "orig_input: T, orig_output: T, grad: T -> output: T",
    types={"T": REAL},
    attrs=POOL_3D,
    shape=lambda call: [pooled_shape(call, call.shape(1), call.shape(2))],
)
def MaxPool3DGradGrad(xp: ModuleType, orig_input: Array, orig_output: Array, grad: Array, **attrs):
    return max_pool_grad_grad(xp, orig_input, orig_output, grad, **attrs)


@MaxPool3DGradGrad.gradient(needs="orig_input, orig_output")
def _(call: GradientCall, dy: Tensor):
    attrs = attrs_of(call, POOL_3D)
    return None, None, MaxPool3DGrad(call.orig_input, call.orig_output, dy, **attrs)


MaxPool3DGradGrad.samples(lambda rng: _grad_samples(rng, like_input=True))


@MaxPool3DGradGrad.reference
def _(orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, **attrs):
    out = np.zeros_like(orig_output)
    for at, key in each_window(orig_input.shape, **attrs):
        for n, c in np.ndindex(orig_input.shape[0], orig_input.shape[-1]):
            place = orig_input[(n, *key, c)].argmax()
            out[(n, *at, c)] = grad[(n, *key, c)].ravel()[place]
    return out


@op("AvgPool3D", "input: T -> output: T", types={"T": FLOATING}, attrs=POOL_3D, shape=pool_rule)
def AvgPool3D(xp: ModuleType, input: Array, **attrs):
    return avg_pool(xp, input, **attrs)


AvgPool3D.batching(batching.folded())


@AvgPool3D.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return AvgPool3DGrad(call.shape("input"), dy, **attrs_of(call, POOL_3D))


@AvgPool3D.samples
def _(rng: SampleGenerator):
    for shape, attrs in _cases():
        yield Sample(rng.normal(*shape), **attrs)


@AvgPool3D.reference
def _(input: np.ndarray, **attrs):
    return _reference(input, np.mean, **attrs)


@op(
    "AvgPool3DGrad",
    "orig_input_shape: int32, grad: T -> output: T",
    types={"T": FLOATING},
    attrs=POOL_3D,
    ranks="grad: 5",
    shape=shapes.given(0, rank=5),
)
def AvgPool3DGrad(xp: ModuleType, orig_input_shape: Array, grad: Array, **attrs):
    return avg_pool_grad(xp, orig_input_shape, grad, **attrs)


AvgPool3DGrad.batching(batching.folded(1, sizes=0))


@AvgPool3DGrad.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return None, AvgPool3D(dy, **attrs_of(call, POOL_3D))


@AvgPool3DGrad.samples
def _(rng: SampleGenerator):
    for shape, attrs in _cases():
        y = _reference(np.zeros(shape), np.mean, **attrs).shape
        yield Sample(np.array(shape, np.int32), rng.normal(*y), **attrs)


@AvgPool3DGrad.reference
def _(orig_input_shape: np.ndarray, grad: np.ndarray, **attrs):
    out = np.zeros(tuple(orig_input_shape), grad.dtype)
    for at, key in each_window(out.shape, **attrs):
        window = out[(slice(None), *key)]
        count = int(np.prod(window.shape[1:-1]))
        window += (grad[(slice(None), *at)] / count)[(slice(None), *[None] * len(at))]
    return out


ARGMAX = {
    "ksize": ints,
    "strides": ints,
    "Targmax": dtype(dtypes.int64),
    "padding": SAME_VALID,
    "include_batch_in_index": False,
}


def _argmax_rule(call: ShapeCall):
    shape = shapes.with_rank(call.shape(0), 4)

    ksize, strides = call.attr("ksize"), call.attr("strides")
    out = sliding_rule(
        "NHWC", shape, ksize[1:3], strides, [1] * 4, call.attr("padding"), (), shape[3]
    )
    return [out, out]


@op(
    "MaxPoolWithArgmax",
    "input: T -> output: T, argmax: Targmax",
    types={"T": REAL},
    attrs=ARGMAX,
    shape=_argmax_rule,
)
def MaxPoolWithArgmax(
    xp: ModuleType, input: Array, ksize: Sequence[int], strides: Sequence[int], Targmax: DType, padding: str,
    include_batch_in_index: bool,
):
    win = pool_windows(input.shape, ksize, strides, padding, "NHWC")
    y = max_under(xp, input, win)
    first = xp.maximum(winners(xp, input, y, win), 0)
    rows, columns = np.meshgrid(np.arange(win.out[0]), np.arange(win.out[1]), indexing="ij")
    up, left = xp.divmod(first, win.taps[1])
    row = rows[None, ..., None] * win.strides[0] - win.pads[0][0] + up
    column = columns[None, ..., None] * win.strides[1] - win.pads[1][0] + left
    batch, height, width, channels = input.shape
    flat = (row * width + column) * channels + np.arange(channels)
    if include_batch_in_index:
        flat = flat + np.arange(batch)[:, None, None, None] * (height * width * channels)
    return y, flat.astype(index_kind(Targmax, "Targmax"))


@MaxPoolWithArgmax.gradient(needs="input, argmax")
def _(call: GradientCall, dy: Tensor, dargmax: Tensor):
    attrs = {n: getattr(call, n) for n in ("ksize", "strides", "padding", "include_batch_in_index")}
    return MaxPoolGradWithArgmax(call.input, dy, call.argmax, **attrs)


@MaxPoolWithArgmax.samples
def _(rng):
    square = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}
    yield Sample(distinct(rng, 2, 4, 4, 2), **square, padding="VALID")
    yield Sample(distinct(rng, 2, 3, 3, 1), **square, padding="SAME", include_batch_in_index=True)
    yield Sample(rng.normal(3, 3, 1), **square, padding="SAME", raises=InvalidArgumentError)


@MaxPoolWithArgmax.reference
def _(input, ksize, strides: int | Sequence[int], Targmax, padding: str, include_batch_in_index: bool):
    places = np.arange(input.size).reshape(input.shape)
    if not include_batch_in_index:
        places = places % (input.size // len(input))
    attrs = {"ksize": ksize, "strides": strides, "padding": padding}
    y = reference_pool(input, np.max, **attrs)
    where = np.zeros(y.shape, Targmax.as_numpy_dtype)
    for at, key in each_window(input.shape, **attrs):
        for n, c in np.ndindex(input.shape[0], input.shape[-1]):
            where[(n, *at, c)] = places[(n, *key, c)].ravel()[input[(n, *key, c)].argmax()]
    return y, where


GRAD_ARGMAX = {
    "ksize": ints,
    "strides": ints,
    "padding": SAME_VALID,
    "include_batch_in_index": boolean(False),
}


def _places(xp: ModuleType, input: Array, argmax: Array, include_batch_in_index: bool):
    """`argmax` as positions in the flattened input."""
    size = input.size // max(len(input), 1)
    flat = argmax
    if not include_batch_in_index:
        flat = argmax + (np.arange(len(argmax)) * size).reshape(-1, 1, 1, 1)
    if known(argmax) and argmax.size and (int(flat.min()) < 0 or int(flat.max()) >= input.size):
        raise invalid(f"argmax holds positions outside of the input's {input.size} elements")
    return flat.ravel()


@op(
    "MaxPoolGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    types={"T": REAL, "Targmax": INDEX},
    attrs=GRAD_ARGMAX,
    ranks="input: 4, grad: 4, argmax: 4",
    shape=shapes.same_as(0, rank=4),
)
def MaxPoolGradWithArgmax(
    xp: ModuleType, input: Array, grad: Array, argmax: Array, ksize: Sequence[int], strides: Sequence[int],
    padding: str, include_batch_in_index: bool,
):
    win = pool_windows(input.shape, ksize, strides, padding, "NHWC")
    out = (len(input), *win.out, input.shape[-1])
    require_like("grad", grad, out)
    require_like("argmax", argmax, out)
    flat = xp.zeros(input.size, grad.dtype)
    places = _places(xp, input, argmax, include_batch_in_index)
    if xp is np:
        fold_at(np.add, flat, places, grad.ravel())
    else:
        flat = flat.at[places].add(grad.ravel())
    return flat.reshape(input.shape)


@MaxPoolGradWithArgmax.gradient(needs="argmax")
def _(call: GradientCall, dy: Tensor):
    flat = call.argmax
    if not call.include_batch_in_index:
        static = call.static_shape("input")
        whole = static.as_list() if static.is_fully_defined() else cast(call.shape("input"), flat.dtype)
        size = whole[1] * whole[2] * whole[3]
        flat = flat + Reshape(range_(0, whole[0], dtype=flat.dtype), [-1, 1, 1, 1]) * size
    picked = Gather(Reshape(dy, [-1]), Reshape(flat, [-1]))
    return None, Reshape(picked, call.shape("argmax")), None


@MaxPoolGradWithArgmax.samples
def _(rng):
    square = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    argmax = np.array([[[[5], [7]], [[13], [15]]]])
    yield Sample(rng.normal(1, 4, 4, 1), rng.normal(1, 2, 2, 1), argmax, **square)
    bad = argmax + 10
    yield Sample(
        rng.normal(1, 4, 4, 1), rng.normal(1, 2, 2, 1), bad, **square, raises=InvalidArgumentError
    )


@MaxPoolGradWithArgmax.reference
def _(input: np.ndarray, grad: np.ndarray, argmax: np.ndarray, **attrs):
    out = np.zeros(input.size, grad.dtype)
    np.add.at(out, argmax.ravel(), grad.ravel())
    return out.reshape(input.shape)
