"""Windows that slide over the spatial dimensions of an image: sizes, paddings, and the slice under each tap.

Shared by convolutions and pooling. Arrays here are channels-last: [batch, *space, channels].
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core.annotations import Array
from tapeflow.core.errors import UnimplementedError
from tapeflow.ops import shapes
from tapeflow.ops.validate import invalid, shape_text


class Windows(NamedTuple):
    """How windows lie over the spatial dimensions; one entry for each."""

    taps: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    out: tuple[int, ...]

    def offsets(self):
        """The taps of a window, in row-major order."""
        return itertools.product(*(range(k) for k in self.taps))

    def under(self, offset: Sequence[int]):
        """The index of what lies under the tap `offset` in the padded array, for all windows."""
        space = (
            slice(o * d, o * d + (n - 1) * s + 1 if n else o * d, s)
            for o, d, n, s in zip(offset, self.dilations, self.out, self.strides, strict=True)
        )
        return (slice(None), *space)

    def padded(self, xp: ModuleType, x, value: int = 0):
        if not any(a or b for a, b in self.pads):
            return x
        return xp.pad(x, [(0, 0), *self.pads, (0, 0)], constant_values=value)

    def unpadded(self, x):
        space = (slice(a, x.shape[i + 1] - b) for i, (a, b) in enumerate(self.pads))
        return x[(slice(None), *space)]

    def padded_shape(self, shape):
        space = (n + a + b for n, (a, b) in zip(shape[1:-1], self.pads, strict=True))
        return (shape[0], *space, shape[-1])


def windows(
    space: Sequence[int], taps: Sequence[int], strides: Sequence[int], dilations: Sequence[int], padding: str,
    explicit: Sequence[Any] = (),
) -> Windows:
    """The windows of `taps` over a space of the given sizes. Raises InvalidArgumentError for what cannot be."""
    for name, values in (("Stride", strides), ("Dilation rate", dilations)):
        for value in values:
            if value <= 0:
                raise invalid(f"{name} must be > 0, but got {value}")
    sizes = [
        output_size(n, k, s, d, padding, pair)
        for n, k, s, d, pair in zip(
            space, taps, strides, dilations, explicit or [(0, 0)] * len(taps), strict=True
        )
    ]
    return Windows(
        tuple(taps),
        tuple(strides),
        tuple(dilations),
        tuple(pads for _, pads in sizes),
        tuple(out for out, _ in sizes),
    )


def output_size(
    size: int, taps: int, stride: int, dilation: int, padding: str, explicit: Sequence[int] = (0, 0)
):
    """How many windows fit along a dimension, and the padding before and after it."""
    reach = (taps - 1) * dilation + 1
    if padding == "SAME":
        out = -(-size // stride)
        total = max((out - 1) * stride + reach - size, 0)
        return out, (total // 2, total - total // 2)
    before, after = explicit if padding == "EXPLICIT" else (0, 0)
    if before < 0 or after < 0:
        raise invalid(
            f"All elements of explicit_paddings must be nonnegative, got {before}, {after}"
        )
    whole = size + before + after
    # Rounded towards zero: a window that is just too large fits no times.
    out = int((whole - reach + stride) / stride)
    if out < 0:
        raise invalid(
            f"Computed output size would be negative: {out} "
            f"[input_size: {whole}, effective_filter_size: {reach}, stride: {stride}]"
        )
    return out, (before, after)


def spatial_axes(data_format: str) -> list[int]:
    """Where the spatial dimensions stand: N and C are the others."""
    return [i for i, letter in enumerate(data_format) if letter not in "NC"]


def spatial(values: Sequence[int], data_format: str, what: str) -> list[int]:
    """The spatial entries of a list with one entry for each dimension, those of N and C being 1."""
    if len(values) != len(data_format):
        raise invalid(
            f"Sliding window {what} field must specify {len(data_format)} dimensions, got {shape_text(values)}"
        )
    if values[0] != 1 or values[data_format.index("C")] != 1:
        raise UnimplementedError(
            None,
            None,
            f"Current implementation does not yet support {what} in the batch and depth dimensions.",
        )
    return [values[i] for i in spatial_axes(data_format)]


def explicit_pairs(padding: str, values: Sequence[Any], data_format: str) -> list[tuple[int, int]]:
    """The (before, after) of each spatial dimension from the flat list of all dimensions."""
    if padding != "EXPLICIT":
        if len(values):
            raise invalid(
                "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT, got "
                f"{list(values)}"
            )
        return []
    if len(values) != 2 * len(data_format):
        raise invalid(
            f"explicit_paddings attribute must contain {2 * len(data_format)} values, but got: {len(values)}"
        )
    pairs = [(values[2 * i], values[2 * i + 1]) for i in range(len(data_format))]
    if pairs[0] != (0, 0) or pairs[data_format.index("C")] != (0, 0):
        raise invalid("Nonzero explicit padding in the batch or depth dimensions is not supported")
    if any(p < 0 for pair in pairs for p in pair):
        raise invalid(f"All elements of explicit_paddings must be nonnegative, got {list(values)}")
    return [pairs[i] for i in spatial_axes(data_format)]


def channels_last(xp: ModuleType, x: Array, data_format: str):
    return x if data_format.endswith("C") else xp.moveaxis(x, 1, -1)


def channels_back(xp: ModuleType, x: Array, data_format: str):
    return x if data_format.endswith("C") else xp.moveaxis(x, -1, 1)


def add_into(xp: ModuleType, out: Any, key, values: Any):
    """`out[key] += values`, returning the array."""
    if xp is np:
        out[key] += values
        return out
    return out.at[key].add(values)


def sliding_rule(
    data_format: str, shape: Any, taps: Any, strides: Sequence[int], dilations, padding: str, explicit: Sequence[Any],
    channels,
):
    """The output shape of a sliding op on an input of `shape`, as far as it is known."""
    axes = spatial_axes(data_format)
    for name, values in (("strides", strides), ("dilations", dilations)):
        if len(values) != len(data_format):
            raise invalid(f"{name} must have {len(data_format)} values, got {list(values)}")
        if min(values) <= 0:
            raise invalid(f"{name} must be > 0, but got {min(values)}")
    if any(n is not None and n <= 0 for n in taps):
        raise invalid(f"Filter size must be > 0, but got {list(taps)}")
    shape = shapes.with_rank(shape, len(data_format))
    out: list[int | None] = [None] * len(data_format)
    out[0] = shape[0]
    out[data_format.index("C")] = channels
    pairs = explicit_pairs(padding, explicit, data_format) or [(0, 0)] * len(axes)
    for n, axis in enumerate(axes):
        size = shape[axis]
        # With SAME padding, how many taps there are does not matter.
        count = 1 if padding == "SAME" else taps[n]
        if size is not None and count is not None:
            whole, reach = size + sum(pairs[n]), (count - 1) * dilations[axis] + 1
            if padding != "SAME" and whole < reach:
                raise invalid(f"Negative dimension size caused by subtracting {reach} from {whole}")
            out[axis] = output_size(
                size, count, strides[axis], dilations[axis], padding, pairs[n]
            )[0]
    return tuple(out)

