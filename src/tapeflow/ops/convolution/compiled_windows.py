"""Windows that slide over an image, as XLA's own instructions: convolutions, pooling, and their gradients.

What a compiled program may run in place of one product, or one comparison, for each tap of the window. XLA's compiler
for CPUs makes one loop of those, which is faster than its own instructions for all but convolutions and what they pass
back to images; compilers for accelerators have libraries for the instructions. Arrays are channels-last, as in
`tapeflow.ops.convolution.sliding`; `win` is its `Windows`. Only compiled code gets here, so jax, which is part of an
extra, is imported when a function runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _letters(rank: int) -> tuple[str, str, str]:
    """How XLA's convolution names the dimensions of image, filter and result, channels last."""
    space = "DHW"[3 - rank :]
    return (f"N{space}C", f"{space}IO", f"N{space}C")


def choose(xp: Any, instruction: Any, taps: Any, *arrays: Any) -> Any:
    """`instruction(*arrays)` in programs for accelerators; `taps(*arrays)` in those for CPUs, and in NumPy."""
    if xp is np:
        return taps(*arrays)
    from jax import lax

    return lax.platform_dependent(*arrays, cpu=taps, default=instruction)


def convolution(x: Any, w: Any, win: Any, groups: int) -> Any:
    """The convolution of the image `x` with the filter `w`, whose channels are in so many groups."""
    from jax import lax

    return lax.conv_general_dilated(
        x,
        w,
        win.strides,
        win.pads,
        rhs_dilation=win.dilations,
        dimension_numbers=_letters(len(win.taps)),
        feature_group_count=groups,
        precision=lax.Precision.HIGHEST,
    )


def convolution_input_gradient(shape: Any, w: Any, dy: Any, win: Any, groups: int) -> Any:
    """What `convolution` passes back to an image of `shape`."""
    return _transposed(lambda x: convolution(x, w, win, groups), shape, dy)


def convolution_filter_gradient(x: Any, taps_shape: Any, dy: Any, win: Any, groups: int) -> Any:
    """What `convolution` passes back to a filter of `taps_shape`."""
    return _transposed(lambda w: convolution(x, w, win, groups), taps_shape, dy)


def largest(x: Any, win: Any, lowest: Any) -> Any:
    """The largest value of each window of `x`; `lowest` is below all values."""
    from jax import lax

    return lax.reduce_window(x, np.asarray(lowest, x.dtype), lax.max, *_window(win))


def largest_gradient(x: Any, dy: Any, win: Any, lowest: Any) -> Any:
    """What `largest` passes back: to the first of the largest values of each window."""
    import jax

    _, backward = jax.vjp(lambda x: largest(x, win, lowest), x)
    return backward(dy)[0]


def sums(x: Any, win: Any) -> Any:
    """The sum of each window of `x`."""
    from jax import lax

    return lax.reduce_window(x, np.zeros((), x.dtype), lax.add, *_window(win))


def sums_gradient(shape: Any, dy: Any, win: Any) -> Any:
    """What `sums` passes back to an image of `shape`."""
    return _transposed(lambda x: sums(x, win), shape, dy)


def _window(win: Any) -> tuple[Any, ...]:
    """Size, strides, padding and dilations of the windows in all dimensions."""
    inner = (1,) * (len(win.taps) + 2)
    return (1, *win.taps, 1), (1, *win.strides, 1), [(0, 0), *win.pads, (0, 0)], inner, (1, *win.dilations, 1)


def _transposed(linear: Any, shape: Any, dy: Any) -> Any:
    """What the linear function passes back to an argument of `shape`."""
    import jax

    (dx,) = jax.linear_transpose(linear, jax.ShapeDtypeStruct(tuple(shape), dy.dtype))(dy)
    return dx
