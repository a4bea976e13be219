"""Convolutions under their newest ops: over two or three dimensions, and gradients that take the tensors themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.convolution.sliding import sliding_rule
from tapeflow.ops.convolution.taps import (
    IMAGE_ATTRS,
    convolve,
    filter_gradient,
    input_gradient,
    require_groups,
)
from tapeflow.ops.signature import ints, one_of
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import InvalidArgumentError, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import ShapeCall

_FORMATS = {("CHANNELS_LAST", 2): "NHWC", ("CHANNELS_LAST", 3): "NDHWC",
            ("CHANNELS_FIRST", 2): "NCHW", ("CHANNELS_FIRST", 3): "NCDHW"}  # fmt: skip
_PADDINGS = one_of("SAME", "VALID", "EXPLICIT")


def _layout(rank: int, batch_dims: int, data_format: str) -> str:
    """The layout of an image or volume whose first `batch_dims` dimensions are one."""
    if batch_dims < 1:
        raise invalid(f"batch_dims must be at least 1, got {batch_dims}")
    space = rank - batch_dims - 1
    if space not in (2, 3):
        raise invalid(f"The input must have 2 or 3 spatial dimensions but got {space}")
    return _FORMATS[data_format, space]


def _rule(call: ShapeCall):
    x, w, batch_dims = call.shape(0), call.shape(1), call.attr("batch_dims")
    if x is None:
        return [None]
    data_format = _layout(len(x), batch_dims, call.attr("data_format"))
    rank = len(data_format)
    w = shapes.with_rank(w, rank)
    image = (None, *x[batch_dims:])
    require_groups(image[data_format.index("C")], w)
    dilations = list(call.attr("dilations")) or [1] * rank
    out = sliding_rule(
        data_format, image, w[:-2], call.attr("strides"), dilations, call.attr("padding"),
        call.attr("explicit_paddings"), w[-1],
    )  # fmt: skip
    return [None if out is None else (*x[:batch_dims], *out[1:])]


@op(
    "Conv",
    "input: T, filter: T -> output: T",
    types={"T": (*FLOATING, dtypes.int32)},
    attrs={
        "strides": ints,
        "padding": _PADDINGS,
        "explicit_paddings": ints([]),
        "data_format": one_of("CHANNELS_FIRST", "CHANNELS_LAST")("CHANNELS_LAST"),
        "dilations": ints([]),
        "batch_dims": 1,
        "groups": 1,
    },
    shape=_rule,
)
def Conv(
    xp: ModuleType, input: Array, filter: Array, strides: Sequence[int], padding: str,
    explicit_paddings: Sequence[int], data_format: str, dilations: Sequence[int], batch_dims: int, groups: int,
):
    layout = _layout(input.ndim, batch_dims, data_format)
    rank = len(layout)
    if filter.ndim != rank:
        raise invalid(f"filter must be {rank}-dimensional: {shape_text(filter.shape)}")
    outer, inner = input.shape[:batch_dims], input.shape[batch_dims:]
    depth = inner[-1] if data_format == "CHANNELS_LAST" else inner[0]
    if groups < 1 or filter.shape[-2] * groups != depth:
        raise invalid(
            f"The depth of the input, {depth}, must be the filter's, {filter.shape[-2]}, times groups, {groups}"
        )
    image = input.reshape(math.prod(outer), *inner)
    y = convolve(
        xp, image, filter, rank, padding, strides, list(dilations) or [1] * rank, layout, explicit_paddings
    )
    return y.reshape(*outer, *y.shape[1:])


@Conv.samples
def _(rng):
    x, w = rng.normal(2, 4, 5, 2), rng.normal(2, 3, 2, 3)
    one = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    yield Sample(x, w, **one)
    yield Sample(x, w, strides=[1, 2, 1, 1], padding="VALID")
    yield Sample(x, w, strides=[1, 1, 1, 1], padding="VALID", dilations=[1, 2, 2, 1])
    yield Sample(x[None], w, **one, batch_dims=2)
    explicit = {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 1, 2, 0, 0, 0]}
    yield Sample(x, w, strides=[1, 1, 1, 1], **explicit)
    volume, taps = rng.normal(1, 3, 3, 4, 2), rng.normal(2, 2, 2, 2, 1)
    yield Sample(volume, taps, strides=[1, 1, 1, 1, 1], padding="VALID")
    for image, filters, attrs in (
        (x, w, {"strides": [1, 1], "padding": "SAME"}),
        (x[0], w, one),
        (x, w[0], one),
        (x, w, {**one, "batch_dims": 0}),
        (x, rng.normal(2, 2, 3, 1), one),
    ):
        yield Sample(image, filters, **attrs, raises=InvalidArgumentError)


@Conv.reference
def _(
    input: np.ndarray, filter: np.ndarray, strides: Sequence[int], padding: str, explicit_paddings,
    dilations: Sequence[int], batch_dims: int, **_,
):
    """Every output by its own sum."""
    image = input.reshape(-1, *input.shape[batch_dims:])
    count = image.ndim - 2
    rates, steps = (list(dilations) or [1] * (count + 2))[1:-1], strides[1:-1]
    before, after = [], []
    for i in range(count):
        n, reach = image.shape[i + 1], (filter.shape[i] - 1) * rates[i] + 1
        total = max((-(-n // steps[i]) - 1) * steps[i] + reach - n, 0) if padding == "SAME" else 0
        pair = (total // 2, total - total // 2)
        if padding == "EXPLICIT":
            pair = tuple(explicit_paddings[2 * i + 2 : 2 * i + 4])
        before.append(pair[0])
        after.append(pair[1])
    pads = [(0, 0), *zip(before, after, strict=True), (0, 0)]
    x = np.pad(image, pads)
    sizes = [
        (x.shape[i + 1] - (filter.shape[i] - 1) * rates[i] - 1) // steps[i] + 1 for i in range(count)
    ]
    out = np.zeros((len(x), *sizes, filter.shape[-1]))
    for at in np.ndindex(*sizes):
        for tap in np.ndindex(*filter.shape[:-2]):
            place = tuple(a * s + t * r for a, s, t, r in zip(at, steps, tap, rates, strict=True))
            out[(slice(None), *at)] += x[(slice(None), *place)] @ filter[tap]
    return out.reshape(*input.shape[:batch_dims], *out.shape[1:])


_V2_ATTRS = {**IMAGE_ATTRS}
_SIGNATURE = "input: T, filter: T, out_backprop: T -> output: T"


@op(
    "Conv2DBackpropFilterV2",
    _SIGNATURE,
    types={"T": FLOATING},
    attrs=_V2_ATTRS,
    ranks="input: 4, filter: 4, out_backprop: 4",
    shape=shapes.same_as_second,
)
def Conv2DBackpropFilterV2(xp: ModuleType, input: Array, filter: Array, out_backprop: Array, **attrs):
    sizes = np.array(filter.shape, np.int64)
    return filter_gradient(xp, input, sizes, out_backprop, 4, **attrs)


@op(
    "Conv2DBackpropInputV2",
    _SIGNATURE,
    types={"T": (*FLOATING, dtypes.int32)},
    attrs=_V2_ATTRS,
    ranks="input: 4, filter: 4, out_backprop: 4",
    shape=shapes.same_as_first,
)
def Conv2DBackpropInputV2(xp: ModuleType, input: Array, filter: Array, out_backprop: Array, **attrs):
    sizes = np.array(input.shape, np.int64)
    return input_gradient(xp, sizes, filter, out_backprop, 4, **attrs)


Conv2DBackpropInputV2.batching(batching.folded(0, 2))


_SAME = {"strides": [1, 1, 1, 1], "padding": "SAME"}


def _samples(rng):
    x, w, dy = rng.normal(1, 4, 4, 2), rng.normal(3, 3, 2, 3), rng.normal(1, 4, 4, 3)
    yield Sample(x, w, dy, **_SAME)
    yield Sample(x, w, rng.normal(1, 2, 2, 3), strides=[1, 2, 2, 1], padding="SAME")
    yield Sample(x[0], w, dy, **_SAME, raises=InvalidArgumentError)
    yield Sample(x, w[0], dy, **_SAME, raises=InvalidArgumentError)
    yield Sample(x, w, dy[:, 1:], **_SAME, raises=InvalidArgumentError)


Conv2DBackpropFilterV2.samples(_samples)
Conv2DBackpropInputV2.samples(_samples)


def _transposed(input, filter, dy, strides: int | Sequence[int], by_filter: bool):
    """The gradient of sum(conv(input, filter) * dy), one basis vector at a time."""
    like = filter if by_filter else input
    out = np.zeros(like.shape)
    attrs = {"padding": "SAME", "explicit_paddings": [], "dilations": [], "batch_dims": 1}
    for at in np.ndindex(*like.shape):
        basis = np.zeros(like.shape)
        basis[at] = 1
        pair = (input, basis) if by_filter else (basis, filter)
        out[at] = (Conv.formula(*pair, strides=strides, **attrs) * dy).sum()
    return out


@Conv2DBackpropFilterV2.reference
def _(input: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, strides: Sequence[int], **_):
    return _transposed(input, filter, out_backprop, strides, True)


@Conv2DBackpropInputV2.reference
def _(input: np.ndarray, filter: np.ndarray, out_backprop: np.ndarray, strides: Sequence[int], **_):
    return _transposed(input, filter, out_backprop, strides, False)


@api("conv")
@tensor_function
def conv(
    input: TensorLike, filter: TensorLike, strides, padding: str | Sequence[Any], explicit_paddings=(),
    data_format: str = "CHANNELS_LAST", dilations=(), batch_dims=1, groups=1, name: str | None = None,
) -> Tensor:
    """Convolve images or volumes, the first dimensions of which are a batch.

    It has no gradient; `tf.nn.convolution` has.

    Args:
      input: a tensor of a floating dtype or int32.
      filter: `[spatial..., in / groups, out]` of that dtype.
      strides: one for each dimension of an input with one batch dimension.
      padding: "VALID", "SAME" or "EXPLICIT".
      explicit_paddings: for "EXPLICIT", before and after for each dimension in one flat list.
      data_format: "CHANNELS_LAST" or "CHANNELS_FIRST".
      dilations: how far neighbouring taps are apart, like `strides`; empty: 1.
      batch_dims: how many first dimensions are a batch.
      groups: into how many groups channels are divided.
      name: a name for the operation (optional).

    Returns:
      A tensor of their dtype.

    Raises:
      InvalidArgumentError: for shapes that do not fit.
    """
    return Conv(input, filter, list(strides), padding, explicit_paddings, data_format, dilations, batch_dims, groups)


def _image_attrs(strides, padding, use_cudnn_on_gpu, explicit_paddings, data_format: str, dilations):
    return {
        "strides": list(strides),
        "use_cudnn_on_gpu": bool(use_cudnn_on_gpu),
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": dilations,
    }


@api("conv2d_backprop_filter_v2")
@tensor_function
def conv2d_backprop_filter_v2(
    input: TensorLike, filter: TensorLike, out_backprop: TensorLike, strides: int | Sequence[int],
    padding: str | Sequence[Any], use_cudnn_on_gpu: bool = True, explicit_paddings: int | Sequence[int] = (),
    data_format: str = "NHWC", dilations: int | Sequence[int] = (1, 1, 1, 1), name: str | None = None,
):
    """Compute the gradient of a convolution of images by its filter.

    Args:
      input: what was convolved, a floating tensor `[batch, height, width, in]`.
      filter: the filter, of which only the shape matters.
      out_backprop: the gradient by the result of the convolution.
      strides: those of the convolution, four ints.
      padding: "VALID", "SAME" or "EXPLICIT".
      use_cudnn_on_gpu: not used.
      explicit_paddings: for "EXPLICIT", before and after for each dimension in one flat list.
      data_format: "NHWC" or "NCHW".
      dilations: those of the convolution, four ints.
      name: a name for the operation (optional).

    Returns:
      A tensor of the shape of `filter`.
    """
    attrs = _image_attrs(strides, padding, use_cudnn_on_gpu, explicit_paddings, data_format, dilations)
    return Conv2DBackpropFilterV2(input, filter, out_backprop, **attrs)


@api("conv2d_backprop_input_v2")
@tensor_function
def conv2d_backprop_input_v2(
    input: TensorLike, filter: TensorLike, out_backprop: TensorLike, strides: int | Sequence[int],
    padding: str | Sequence[Any], use_cudnn_on_gpu: bool = True, explicit_paddings: int | Sequence[int] = (),
    data_format: str = "NHWC", dilations: int | Sequence[int] = (1, 1, 1, 1), name: str | None = None,
):
    """Compute the gradient of a convolution of images by its input.

    Args:
      input: the input, of which only the shape matters.
      filter: the filter, a tensor `[height, width, in, out]` of a floating dtype or int32.
      out_backprop: the gradient by the result of the convolution.
      strides: those of the convolution, four ints.
      padding: "VALID", "SAME" or "EXPLICIT".
      use_cudnn_on_gpu: not used.
      explicit_paddings: for "EXPLICIT", before and after for each dimension in one flat list.
      data_format: "NHWC" or "NCHW".
      dilations: those of the convolution, four ints.
      name: a name for the operation (optional).

    Returns:
      A tensor of the shape of `input`.
    """
    attrs = _image_attrs(strides, padding, use_cudnn_on_gpu, explicit_paddings, data_format, dilations)
    return Conv2DBackpropInputV2(input, filter, out_backprop, **attrs)
