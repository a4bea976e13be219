"""Convolutions of images and their gradients, each a sum of matrix products over the taps of the filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, shapes
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
from tapeflow.ops.signature import ints, one_of
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, ShapeCall

IMAGE_ATTRS = {
    "strides": ints,
    "use_cudnn_on_gpu": True,
    "padding": one_of("SAME", "VALID", "EXPLICIT"),
    "explicit_paddings": ints([]),
    "data_format": one_of("NHWC", "NCHW")("NHWC"),
    "dilations": ints([1, 1, 1, 1]),
}


def _windows(
    shape: Sequence[Any], taps: Sequence[int], strides: Sequence[int], padding: str, explicit_paddings: Sequence[Any],
    data_format, dilations: Sequence[int],
) -> Windows:
    """The windows over an input of `shape`, given channels-last."""
    return windows(
        shape[1:-1],
        taps,
        spatial(strides, data_format, "strides"),
        spatial(dilations, data_format, "dilations"),
        padding,
        explicit_pairs(padding, explicit_paddings, data_format),
    )


def _require_rank(x: Any, rank: int, what: str) -> None:
    shape = x.shape if hasattr(x, "shape") else x
    if len(shape) != rank:
        raise invalid(f"{what} must be {rank}-dimensional: {shape_text(shape)}")


def _groups(depth: int, taps_shape: Sequence[int]) -> int:
    """How many groups of channels a filter splits the input into."""
    if 0 in taps_shape:
        raise invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)")
    inner, outer = taps_shape[-2:]
    if depth % inner:
        raise invalid(f"input depth must be evenly divisible by filter depth: {depth} vs {inner}")
    if not depth or outer % (depth // inner):
        raise invalid(
            f"output depth must be evenly divisible by number of groups: {outer} vs {depth // inner}"
        )
    return depth // inner


def _wide(x: Any):
    """16-bit floats are multiplied and added up in 32 bits."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def _grouped(x: np.ndarray, groups: int):
    return x.reshape(*x.shape[:-1], groups, x.shape[-1] // groups)


def _by_instruction(xp: ModuleType, x: Array, win: Windows) -> bool:
    """Whether a compiler has an instruction for the convolution; it has for floats, and where there are windows."""
    return xp is not np and x.dtype.kind == "f" and 0 not in win.out


def _forward(xp: ModuleType, x: Array, w: Array, win: Windows):
    groups = _groups(x.shape[-1], w.shape)
    if _by_instruction(xp, x, win):
        return compiled_windows.convolution(x, w, win, groups)
    batch, outer = x.shape[0], w.shape[-1]
    x = win.padded(xp, x)
    out = xp.zeros((batch, *win.out, outer), x.dtype)
    for offset in win.offsets():
        part, tap = x[win.under(offset)], w[offset]
        if groups == 1:
            out = out + part @ tap
        else:
            tap = tap.reshape(tap.shape[0], groups, outer // groups)
            out = out + xp.einsum("...gi,igo->...go", _grouped(part, groups), tap).reshape(
                out.shape
            )
    return out.astype(x.dtype)


def _backward_input(xp: ModuleType, shape, w: Any, dy: Any, win: Windows):
    """The gradient for an input of `shape` (channels-last)."""
    if 0 in w.shape:
        return xp.zeros(shape, dy.dtype)
    groups = _groups(shape[-1], w.shape)
    _require_output(dy, (shape[0], *win.out, w.shape[-1]))
    if _by_instruction(xp, dy, win):
        return compiled_windows.convolution_input_gradient(shape, w, dy, win, groups)
    dx = xp.zeros(win.padded_shape(shape), dy.dtype)
    for offset in win.offsets():
        tap = w[offset]
        if groups == 1:
            part = dy @ tap.T
        else:
            tap = tap.reshape(tap.shape[0], groups, -1)
            part = xp.einsum("...go,igo->...gi", _grouped(dy, groups), tap)
            part = part.reshape(*part.shape[:-2], shape[-1])
        dx = add_into(xp, dx, win.under(offset), part.astype(dy.dtype))
    return win.unpadded(dx)


def _backward_filter(xp: ModuleType, x: Array, taps_shape: Sequence[int], dy: Array, win: Windows):
    if 0 in taps_shape:
        return xp.zeros(taps_shape, dy.dtype)
    groups = _groups(x.shape[-1], taps_shape)
    inner, outer = taps_shape[-2:]
    _require_output(dy, (x.shape[0], *win.out, outer))

    def each_tap(x: Any, dy: Any):
        x = win.padded(xp, x)
        flat = dy.reshape(-1, outer)
        taps = []
        for offset in win.offsets():
            part = x[win.under(offset)]
            part = part.reshape(flat.shape[0], groups * inner)
            if groups == 1:
                taps.append(part.T @ flat)
            else:
                tap = xp.einsum("ngi,ngo->igo", _grouped(part, groups), _grouped(flat, groups))
                taps.append(tap.reshape(inner, outer))
        return xp.stack(taps).reshape(taps_shape).astype(dy.dtype)

    def instruction(x, dy):
        return compiled_windows.convolution_filter_gradient(x, taps_shape, dy, win, groups)

    if not _by_instruction(xp, dy, win):
        return each_tap(x, dy)
    return compiled_windows.choose(xp, instruction, each_tap, x, dy)


def _require_output(dy: Any, expected: Sequence[int]) -> None:
    if tuple(dy.shape) != tuple(expected):
        raise invalid(
            f"Conv backprop: out_backprop has shape {shape_text(dy.shape)} but the forward pass gives "
            f"{shape_text(expected)} (channels last)"
        )


def _sizes(values: Any, x_shape: Sequence[int], taps_shape: Sequence[int], data_format: str):
    """The full shape that `input_sizes` means: only the spatial sizes may be given."""
    sizes = dimensions(values, "input_sizes")
    rank = len(data_format)
    if len(sizes) == rank - 2:
        sizes = (x_shape[0], *sizes, taps_shape[-2])
        if not data_format.endswith("C"):
            sizes = (sizes[0], sizes[-1], *sizes[1:-1])
    if len(sizes) != rank:
        raise invalid(
            f"Conv backprop: input_sizes must have {rank} or {rank - 2} values, got {shape_text(sizes)}"
        )
    return sizes if data_format.endswith("C") else (sizes[0], *sizes[2:], sizes[1])


def convolve(
    xp: ModuleType, x: Any, w: Any, rank: int, padding: str, strides: Sequence[int], dilations: Sequence[int],
    data_format: str, explicit_paddings: Sequence[Any] = (), **_,
):
    _require_rank(x, rank, "input")
    _require_rank(w, rank, "filter")
    x = channels_last(xp, x, data_format)
    win = _windows(
        x.shape, w.shape[:-2], strides, padding, explicit_paddings, data_format, dilations
    )
    y = _forward(xp, _wide(x), _wide(w), win).astype(x.dtype)
    return channels_back(xp, y, data_format)


def input_gradient(
    xp: ModuleType, sizes: Any, w: Array, dy: Array, rank: int, padding: str, strides: Sequence[int],
    dilations: Sequence[int], data_format: str, explicit_paddings: Sequence[Any] = (), **_,
):
    _require_rank(w, rank, "filter")
    _require_rank(dy, rank, "out_backprop")
    shape = _sizes(sizes, dy.shape, w.shape, data_format)
    win = _windows(shape, w.shape[:-2], strides, padding, explicit_paddings, data_format, dilations)
    dx = _backward_input(xp, shape, _wide(w), _wide(channels_last(xp, dy, data_format)), win)
    return channels_back(xp, dx.astype(dy.dtype), data_format)


def filter_gradient(
    xp: ModuleType, x: Array, sizes: Any, dy: Array, rank: int, padding: str, strides: Sequence[int],
    dilations: Sequence[int], data_format: str, explicit_paddings: Sequence[Any] = (), **_,
):
    taps_shape = dimensions(sizes, "filter_sizes")
    _require_rank(x, rank, "input")
    _require_rank(taps_shape, rank, "filter")
    _require_rank(dy, rank, "out_backprop")
    x = channels_last(xp, x, data_format)
    win = _windows(
        x.shape, taps_shape[:-2], strides, padding, explicit_paddings, data_format, dilations
    )
    last = channels_last(xp, dy, data_format)
    return _backward_filter(xp, _wide(x), taps_shape, _wide(last), win).astype(dy.dtype)


def require_groups(channels: int | None, w) -> None:
    """An image of so many channels and a filter of the shape `w` make groups of one size."""
    depth = w[-2]
    if channels is None or depth is None:
        return
    if depth == 0 or channels % depth:
        raise invalid(f"Depth of input ({channels}) is not a multiple of input depth of filter ({depth})")
    shapes.divided(w[-1], max(channels // depth, 1))


def forward_rule(call: ShapeCall):
    data_format = call.attr("data_format")
    rank = len(data_format)
    x, w = shapes.with_rank(call.shape(0), rank), shapes.with_rank(call.shape(1), rank)
    require_groups(x[data_format.index("C")], w)
    explicit = call.attr("explicit_paddings") if len(data_format) == 4 else ()
    return [
        sliding_rule(
            data_format,
            x,
            w[:-2],
            call.attr("strides"),
            call.attr("dilations"),
            call.attr("padding"),
            explicit,
            w[-1],
        )
    ]


def attrs_of(call: GradientCall, names) -> dict:
    return {name: getattr(call, name) for name in names}


@op(
    "Conv2D",
    "input: T, filter: T -> output: T",
    types={"T": (*FLOATING, dtypes.int32)},
    attrs=IMAGE_ATTRS,
    shape=forward_rule,
)
def Conv2D(xp: ModuleType, input: Array, filter: Array, **attrs):
    return convolve(xp, input, filter, 4, **attrs)


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


def naive(
    x: np.ndarray, w: np.ndarray, strides: Sequence[int], padding: str, data_format: str,
    dilations: Sequence[int], explicit_paddings: Sequence[int] = (), **_,
):
    """Every output one by one: the sum over the window of input times filter."""
    last = data_format.endswith("C")
    x = np.asarray(x) if last else np.moveaxis(x, 1, -1)
    axes = [i for i, c in enumerate(data_format) if c not in "NC"]
    steps, holes = [strides[i] for i in axes], [dilations[i] for i in axes]
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape, holes, strict=False)]
    if padding == "SAME":
        need = [max((-(-n // s) - 1) * s + r - n, 0)
                for n, s, r in zip(x.shape[1:], steps, reach, strict=False)]  # fmt: skip
        pads = [(p // 2, p - p // 2) for p in need]
    elif padding == "VALID":
        pads = [(0, 0)] * len(axes)
    else:
        pads = [(explicit_paddings[2 * i], explicit_paddings[2 * i + 1]) for i in axes]
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    count = [(n - r) // s + 1 for n, r, s in zip(x.shape[1:], reach, steps, strict=False)]
    inner, outer = w.shape[-2:]
    per_group = outer // (x.shape[-1] // inner)
    out = np.zeros((x.shape[0], *count, outer), x.dtype)
    for at in np.ndindex(*out.shape[1:-1]):
        key = tuple(
            slice(i * s, i * s + r, d) for i, s, r, d in zip(at, steps, reach, holes, strict=True)
        )
        for o in range(outer):
            g = o // per_group
            window = x[(slice(None), *key, slice(g * inner, (g + 1) * inner))]
            out[(slice(None), *at, o)] = (window * w[..., o]).sum(tuple(range(1, x.ndim)))
    return out if last else np.moveaxis(out, -1, 1)


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


def adjoint(function: Callable[..., Any], shape: Sequence[Any], dy):
    """The transpose of a linear function of an array of `shape`, applied to `dy`, one basis vector at a time."""
    out = np.zeros(shape, np.asarray(dy).dtype)
    for at in np.ndindex(*shape):
        basis = np.zeros(shape, out.dtype)
        basis[at] = 1
        out[at] = (function(basis) * dy).sum()
    return out


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
