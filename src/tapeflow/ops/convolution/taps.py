"""Convolutions and their gradients as sums of matrix products over the taps of the filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.ops import shapes
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


def adjoint(function: Callable[..., Any], shape: Sequence[Any], dy):
    """The transpose of a linear function of an array of `shape`, applied to `dy`, one basis vector at a time."""
    out = np.zeros(shape, np.asarray(dy).dtype)
    for at in np.ndindex(*shape):
        basis = np.zeros(shape, out.dtype)
        basis[at] = 1
        out[at] = (function(basis) * dy).sum()
    return out
