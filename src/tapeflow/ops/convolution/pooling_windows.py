"""What poolings share: windows, the greatest and the mean under each, shapes, and samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import UnimplementedError
from tapeflow.ops import shapes
from tapeflow.ops.convolution import compiled_windows
from tapeflow.ops.convolution.sliding import (
    Windows,
    add_into,
    channels_back,
    channels_last,
    explicit_pairs,
    output_size,
    sliding_rule,
    spatial,
    spatial_axes,
    windows,
)
from tapeflow.ops.signature import ints, one_of
from tapeflow.ops.validate import dimensions, invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


SAME_VALID = one_of("SAME", "VALID")
IMAGE = one_of("NHWC", "NCHW")("NHWC")
VOLUME = one_of("NDHWC", "NCDHW")("NDHWC")
POOL = {"ksize": ints, "strides": ints, "padding": SAME_VALID, "data_format": IMAGE}
MAX_POOL = {
    "ksize": ints,
    "strides": ints,
    "padding": one_of("SAME", "VALID", "EXPLICIT"),
    "explicit_paddings": ints([]),
    "data_format": IMAGE,
}
POOL_3D = {"ksize": ints, "strides": ints, "padding": SAME_VALID, "data_format": VOLUME}


def pool_windows(
    shape, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str,
    explicit_paddings: Sequence[Any] = (),
) -> Windows:
    """The windows over an input of `shape`, given channels-last."""
    rank = len(data_format)
    if len(shape) != rank:
        raise invalid(f"Input must be {rank}-dimensional, got shape {shape_text(shape)}")
    for what, values in (("ksize", ksize), ("strides", strides)):
        if len(values) != rank:
            raise invalid(
                f"Sliding window {what} field must specify {rank} dimensions, got {shape_text(values)}"
            )
    if any(k <= 0 for k in ksize):
        raise invalid(
            "Sliding window ksize must be positive. The specified or inferred ksize is: "
            + ",".join(str(k) for k in ksize)
        )
    if any(s <= 0 for s in strides):
        raise invalid(f"Stride must be > 0, but got {next(s for s in strides if s <= 0)}")
    if ksize[0] != 1 or strides[0] != 1:
        raise UnimplementedError(None, None, "Pooling is not yet supported on the batch dimension.")
    taps = spatial(ksize, data_format, "ksize")
    steps = spatial(strides, data_format, "strides")
    pairs = explicit_pairs(padding, explicit_paddings, data_format)
    for (before, after), k in zip(pairs, taps, strict=False):
        if before >= k or after >= k:
            raise invalid(f"Explicit padding {before}, {after} must be smaller than the window {k}")
    return windows(shape[1:-1], taps, steps, [1] * len(taps), padding, pairs)


def lowest_number(kind):
    """What loses against every element."""
    kind = np.dtype(kind)
    return -np.inf if kind.kind in "fV" else np.iinfo(kind).min


def max_under(xp: ModuleType, x: Array, win: Windows):
    if xp is not np:
        return compiled_windows.largest(x, win, lowest_number(x.dtype))
    x = win.padded(xp, x, lowest_number(x.dtype))
    out = None
    for offset in win.offsets():
        part = x[win.under(offset)]
        out = part if out is None else xp.maximum(out, part)
    return xp.array(out)


def winners(xp: ModuleType, x: Any, y: Any, win: Windows):
    """For each window the number of the first tap that is its maximum."""
    x = win.padded(xp, x, lowest_number(x.dtype))
    first = xp.full(y.shape, -1, np.int32)
    for number, offset in enumerate(win.offsets()):
        part = x[win.under(offset)]
        hit = (part == y) | ((part != part) & (y != y))
        first = xp.where((first < 0) & hit, np.int32(number), first)
    return first


def require_like(name: str, x: Any, shape: Sequence[Any]) -> None:
    if tuple(x.shape) != tuple(shape):
        raise invalid(
            f"Expected {name} shape to be {shape_text(shape)}, but got {shape_text(x.shape)}"
        )


def _max_over_depth(xp: ModuleType, x: Array, ksize: Sequence[int], strides: Sequence[int]):
    """The greatest of each `ksize` neighbouring channels (channels-last)."""
    if any(k != 1 for k in ksize[:-1]):
        raise UnimplementedError(
            None,
            None,
            "MaxPooling supports exactly one of pooling across depth or pooling across width/height.",
        )
    width, depth = ksize[-1], x.shape[-1]
    if width <= 0 or depth % width:
        text = "Depthwise max pooling requires the depth window to evenly divide the input depth"
        raise UnimplementedError(None, None, text)
    if strides[-1] != width:
        text = "Depthwise max pooling requires the depth window to equal the depth stride"
        raise UnimplementedError(None, None, text)
    return x.reshape(*x.shape[:-1], depth // width, width).max(-1)


def max_pool(xp: ModuleType, x: Array, data_format: str, **attrs):
    ksize, strides = attrs["ksize"], attrs["strides"]
    if x.ndim == len(ksize) == len(strides) == 4 and data_format == "NHWC" and ksize[3] != 1 == ksize[0]:
        return _max_over_depth(xp, x, ksize, strides)
    x = channels_last(xp, x, data_format)
    win = pool_windows(x.shape, data_format=data_format, **attrs)
    return channels_back(xp, max_under(xp, x, win), data_format)


def max_pool_grad(xp: ModuleType, x: Array, y: Array, dy: Array, data_format: str, **attrs):
    x, y, dy = (channels_last(xp, a, data_format) for a in (x, y, dy))
    win = pool_windows(x.shape, data_format=data_format, **attrs)
    out = (x.shape[0], *win.out, x.shape[-1])
    require_like("orig_output", y, out)
    require_like("grad", dy, out)

    def each_tap(x: np.ndarray, y: np.ndarray, dy: np.ndarray):
        first = winners(xp, x, y, win)
        dx = xp.zeros(win.padded_shape(x.shape), dy.dtype)
        zero = dy.dtype.type(0)
        for number, offset in enumerate(win.offsets()):
            dx = add_into(xp, dx, win.under(offset), xp.where(first == number, dy, zero))
        return win.unpadded(dx)

    def instruction(x, y, dy):
        del y
        return compiled_windows.largest_gradient(x, dy, win, lowest_number(x.dtype))

    floating = np.issubdtype(x.dtype, np.floating)
    dx = compiled_windows.choose(xp, instruction if floating else each_tap, each_tap, x, y, dy)
    return channels_back(xp, dx, data_format)


def max_pool_grad_grad(xp: ModuleType, x: Array, y: Array, g: Array, data_format: str, **attrs):
    x, y, g = (channels_last(xp, a, data_format) for a in (x, y, g))
    win = pool_windows(x.shape, data_format=data_format, **attrs)
    require_like("orig_output", y, (x.shape[0], *win.out, x.shape[-1]))
    require_like("grad", g, x.shape)
    first = winners(xp, x, y, win)
    g = win.padded(xp, g)
    out = xp.zeros(y.shape, g.dtype)
    for number, offset in enumerate(win.offsets()):
        out = xp.where(first == number, g[win.under(offset)], out)
    return channels_back(xp, out, data_format)


def _shares(win: Windows, space: Sequence[int], kind):
    """How many elements of the input, not of its padding, lie under each window."""
    out = np.ones(win.out, np.int64)
    for axis, (n, k, s, (before, _), count) in enumerate(
        zip(space, win.taps, win.strides, win.pads, win.out, strict=True)
    ):
        start = np.arange(count) * s - before
        width = np.minimum(start + k, n) - np.maximum(start, 0)
        out = out * width.reshape([-1] + [1] * (len(space) - axis - 1))
    return out[None, ..., None].astype(kind)


def avg_pool(xp: ModuleType, value: Array, data_format: str, **attrs):
    x = channels_last(xp, value, data_format)
    win = pool_windows(x.shape, data_format=data_format, **attrs)
    total = _sums_under(xp, x, win)
    return channels_back(
        xp, (total / _shares(win, x.shape[1:-1], x.dtype)).astype(x.dtype), data_format
    )


def avg_pool_grad(xp: ModuleType, sizes: Any, grad: Array, data_format: str, **attrs):
    sizes = dimensions(sizes, "orig_input_shape")
    shape = (
        sizes if data_format.endswith("C") or len(sizes) < 3 else (sizes[0], *sizes[2:], sizes[1])
    )
    dy = channels_last(xp, grad, data_format)
    win = pool_windows(shape, data_format=data_format, **attrs)
    require_like("grad", dy, (shape[0], *win.out, shape[-1]))
    dy = (dy / _shares(win, shape[1:-1], dy.dtype)).astype(dy.dtype)

    def each_tap(dy: np.ndarray):
        dx = xp.zeros(win.padded_shape(shape), dy.dtype)
        for offset in win.offsets():
            dx = add_into(xp, dx, win.under(offset), dy)
        return win.unpadded(dx)

    def instruction(dy):
        return compiled_windows.sums_gradient(shape, dy, win)

    return channels_back(xp, compiled_windows.choose(xp, instruction, each_tap, dy), data_format)


def _sums_under(xp: ModuleType, x: Array, win: Windows):
    def each_tap(x: Any):
        padded = win.padded(xp, x)
        total = xp.zeros((x.shape[0], *win.out, x.shape[-1]), x.dtype)
        for offset in win.offsets():
            total = total + padded[win.under(offset)]
        return total

    return compiled_windows.choose(xp, lambda x: compiled_windows.sums(x, win), each_tap, x)


def pooled_shape(call: ShapeCall, pooled, image):
    """The shape `pooled` of what was pooled from an image like `image`, merged with that of input 0."""
    rank = len(call.attr("data_format"))
    shapes.merge(shapes.with_rank(call.shape(0), rank), shapes.with_rank(image, rank))
    return shapes.merge(pool_rule(call)[0], shapes.with_rank(pooled, rank))


def pool_rule(call: ShapeCall):
    data_format = call.attr("data_format")
    axes = spatial_axes(data_format)
    shape = shapes.with_rank(call.shape(0), len(data_format))
    explicit = call.attr("explicit_paddings") if call.attr("padding") == "EXPLICIT" else ()
    ksize = call.attr("ksize")
    if len(ksize) != len(data_format):
        raise invalid(f"ksize must have {len(data_format)} values, got {list(ksize)}")
    at = data_format.index("C")
    channels = shape[at]
    if channels is not None and ksize[at] > 1 and len(call.attr("strides")) > at:
        same = "SAME" if call.attr("padding") == "SAME" else "VALID"
        channels = output_size(channels, ksize[at], max(call.attr("strides")[at], 1), 1, same)[0]
    taps = [ksize[i] for i in axes]
    ones = [1] * len(data_format)
    return [
        sliding_rule(
            data_format,
            shape,
            taps,
            call.attr("strides"),
            ones,
            call.attr("padding"),
            explicit,
            channels,
        )
    ]


def attrs_of(call: GradientCall, names) -> dict:
    return {name: getattr(call, name) for name in names}


def distinct(rng: SampleGenerator, *shape):
    """Values that are far from equal, so that small steps do not change which one is the greatest."""
    order = np.random.default_rng(len(shape)).permutation(math.prod(shape))
    return rng.normal(*shape) * 0 + order.reshape(shape)


def each_window(
    shape: Sequence[Any], ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = "NHWC",
    explicit_paddings: Sequence[Any] = (),
):
    """(output position, input slices) of every window over a channels-last `shape`, cut off at the edges."""
    axes = [i for i, c in enumerate(data_format) if c not in "NC"]
    spans = []
    for n, axis in zip(shape[1:-1], axes, strict=True):
        k, s = ksize[axis], strides[axis]
        if padding == "SAME":
            count = math.ceil(n / s)
            before = max((count - 1) * s + k - n, 0) // 2
        else:
            before, after = (
                (explicit_paddings[2 * axis], explicit_paddings[2 * axis + 1])
                if padding == "EXPLICIT"
                else (0, 0)
            )
            count = (n + before + after - k) // s + 1
        spans.append(
            [slice(max(i * s - before, 0), min(i * s - before + k, n)) for i in range(count)]
        )
    for at in np.ndindex(*(len(span) for span in spans)):
        yield at, tuple(span[i] for span, i in zip(spans, at, strict=True))


def reference_pool(x: np.ndarray, function, **attrs):
    data_format = attrs.get("data_format", "NHWC")
    x = np.asarray(x) if data_format.endswith("C") else np.moveaxis(x, 1, -1)
    cells = list(each_window(x.shape, **attrs))
    out = np.zeros((x.shape[0], *(n + 1 for n in cells[-1][0]), x.shape[-1]), x.dtype)
    for at, key in cells:
        out[(slice(None), *at)] = function(x[(slice(None), *key)], axis=tuple(range(1, x.ndim - 1)))
    return out if data_format.endswith("C") else np.moveaxis(out, -1, 1)
