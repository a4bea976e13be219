"""Frames: overlapping pieces of a signal, their spectra, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import IntLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor, int_array
from tapeflow.core.dtypes import DType
from tapeflow.core.public import graph_scope, public, tensor_function
from tapeflow.ops.array import layout, padding, transposing
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math import arithmetic, choice, comparison
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.division_no_nan import DivNoNan
from tapeflow.ops.math.reductions import reduce_min, reduce_sum
from tapeflow.ops.math.segment_functions import unsorted_segment_sum
from tapeflow.ops.signal import fft_functions
from tapeflow.ops.signal.windows import default_window
from tapeflow.ops.static import as_shape, rank_of, size_of, sizes_of, static_value


def _count(value, name: str):
    """A scalar integer: an int, or an int32 tensor of a graph. Raises ValueError for anything else."""
    number = static_value(value)
    if number is None and value.dtype.is_integer and not value.shape.rank:
        return cast(value, dtypes.int32)
    if number is None or np.ndim(number) or np.asarray(number).dtype.kind not in "iu":
        raise ValueError(f"{name} must be a scalar integer, got {value!r}")
    return int(number)


def _positive(value, name: str):
    number = _count(value, name)
    if isinstance(number, int) and number <= 0:
        raise ValueError(f"{name} must be positive, got {number}")
    return number


def _at_least(x: Tensor, rank: int):
    if x.shape.rank is not None and x.shape.rank < rank:
        raise ValueError(f"Shape {x.shape} must have rank at least {rank}")
    return x


@api("signal.frame")
@tensor_function
@graph_scope("frame")
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name: str | None = None):
    """Cut an axis into frames, which may overlap.

    Args:
      signal: a tensor of rank 1 at least, of any dtype.
      frame_length: how many elements a frame has.
      frame_step: how far frames are apart.
      pad_end: whether frames start for as long as there is signal; else only whole ones count.
      pad_value: what fills the last frames then, a scalar.
      axis: the axis, which becomes two: the frames, and the elements of a frame.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `signal`, of one dimension more.

    Raises:
      ValueError: for lengths that are not positive integers, and an axis out of range.

    >>> tf.signal.frame([1, 2, 3, 4, 5], frame_length=3, frame_step=2)
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[1, 2, 3],
           [3, 4, 5]], dtype=int32)>
    """
    signal = _at_least(convert_to_tensor(signal), 1)
    length, step = _count(frame_length, "frame_length"), _positive(frame_step, "frame_step")
    if isinstance(length, int) and length < 0:
        raise ValueError(f"frame_length must not be negative, got {length}")
    where = _count(axis, "axis")
    if pad_end and convert_to_tensor(pad_value, signal.dtype).shape.rank not in (0, None):
        raise ValueError(f"pad_value must be a scalar, got {pad_value}")
    rank = signal.shape.rank
    if rank is not None:
        if not -rank <= where < rank:
            raise ValueError(f"axis {where} is out of range for a signal of rank {rank}")
        where %= rank
    size = size_of(signal, where)
    if not all(isinstance(n, int) for n in (length, step, size)):
        frames = _dynamic_frames(signal, length, step, pad_end, pad_value, where, size)
        if rank is not None:
            known = signal.shape.as_list()
            count = None
            if pad_end and isinstance(size, int) and isinstance(step, int):
                count = -(-size // step)
            frames.set_shape([*known[:where], count, length if isinstance(length, int) else None, *known[where + 1 :]])
        return frames
    length, step = int_array((length, step)).tolist()
    if pad_end:
        count = -(-size // step)
        missing = max(0, (count - 1) * step + length - size)
        pads = [[0, missing if i == where else 0] for i in range(rank)]
        signal = padding.PadV2(signal, pads, convert_to_tensor(pad_value, signal.dtype))
    else:
        count = max(0, 1 + (size - length) // step)
    at = np.zeros((0, length), np.int32)  # without frames a huge length takes no memory
    if count:
        at = (np.arange(count)[:, None] * step + np.arange(length)).astype(np.int32)
    return gather(_with_dense_gradient(signal), at, axis=where)


def _with_dense_gradient(signal):
    """The signal, whose gradient is not the slices of a gather: elements are in several frames."""
    return layout.Reshape(signal, as_shape(sizes_of(signal)) if signal.shape.rank is not None else Shape(signal))


def _dynamic_frames(signal, length, step: int, pad_end, pad_value, where, size):
    """`frame` where a size is only known when the graph runs."""
    if pad_end:
        count = -(-size // step)
        missing = arithmetic.maximum((count - 1) * step + length - size, 0)
        rank = rank_of(signal)
        here = comparison.equal(range_(rank), where if where >= 0 else rank + where)
        after = choice.SelectV2(here, missing, 0)
        pads = stack([after * 0, after], 1)
        signal = padding.PadV2(signal, pads, convert_to_tensor(pad_value, signal.dtype))
    else:
        count = arithmetic.maximum(1 + (size - length) // step, 0)
    return gather(_with_dense_gradient(signal), _places(count, step, length), axis=where)


def _places(count: int, step: int, length):
    """Where in the signal the elements of each frame are."""
    return layout.expand_dims(range_(count) * step, 1) + range_(length)


@api("signal.overlap_and_add")
@tensor_function
@graph_scope("overlap_and_add")
def overlap_and_add(signal: Any, frame_step: TensorLike, name: str | None = None):
    """Add frames up to a signal.

    Args:
      signal: frames `[..., frames, frame_length]` of a numeric dtype.
      frame_step: how far they are apart.
      name: a name for the operation (optional).

    Returns:
      Signals `[..., (frames - 1) * frame_step + frame_length]`.

    Raises:
      ValueError: for fewer than two dimensions, and a step that is no positive integer.

    >>> tf.signal.overlap_and_add([[1, 2], [3, 4]], frame_step=1)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 5, 4], dtype=int32)>
    """
    signal = _at_least(convert_to_tensor(signal), 2)
    step = _count(frame_step, "frame_step")
    rank, frames, length = signal.shape.rank, size_of(signal, -2), size_of(signal, -1)
    if isinstance(step, int) and step <= 0 and not step == length == 0:
        raise ValueError(f"frame_step must be positive, got {step}")
    if rank is None or not all(isinstance(n, int) for n in (frames, length, step)):
        every = range_(rank_of(signal))
        order = concat([every[-2:], every[:-2]], 0)
        size = arithmetic.maximum((frames - 1) * step + length, 0)
        places = _places(frames, step, length)
        sums = unsorted_segment_sum(transposing.transpose(signal, order), places, size)
        return transposing.transpose(sums, concat([every[1:-1], every[:1]], 0))
    size = max((frames - 1) * step + length, 0)
    at = np.arange(frames)[:, None] * step + np.arange(length)
    order = [rank - 2, rank - 1, *range(rank - 2)]
    sums = unsorted_segment_sum(transposing.transpose(signal, order), at.astype(np.int32), size)
    return transposing.transpose(sums, [*range(1, rank - 1), 0])


def _enclosing_power_of_two(length):
    if not isinstance(length, int):
        powers = 2 ** np.arange(31)
        return reduce_min(choice.SelectV2(powers >= length, powers.astype(np.int32), 2**30))
    return 1 << max(length - 1, 0).bit_length()


@api("signal.stft")
@tensor_function
def stft(
    signals, frame_length: IntLike, frame_step: IntLike, fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = default_window, pad_end: bool = False, name: str | None = None,
):  # fmt: skip
    """Compute the short-time Fourier transform of signals: that of windowed frames.

    Args:
      signals: real signals `[..., samples]` of float32 or float64.
      frame_length: how many samples a frame has.
      frame_step: how far frames are apart.
      fft_length: the size of the transform; None: the power of two that holds a frame.
      window_fn: called as `window_fn(frame_length, dtype=...)`, it makes the window; None: none.
      pad_end: whether the last frames are filled up with zeros.
      name: a name for the operation (optional).

    Returns:
      A complex tensor `[..., frames, fft_length // 2 + 1]`.

    >>> tf.signal.stft(tf.zeros([2, 1000]), frame_length=256, frame_step=128).shape
    TensorShape([2, 6, 129])
    """
    signals = _at_least(convert_to_tensor(signals), 1)
    length = _count(frame_length, "frame_length")
    size = (
        _enclosing_power_of_two(length) if fft_length is None else _count(fft_length, "fft_length")
    )
    framed = frame(signals, length, frame_step, pad_end=pad_end)
    if window_fn is not None:
        framed = arithmetic.Mul(framed, window_fn(length, dtype=framed.dtype))
    return fft_functions.rfft(framed, [size])


@api("signal.inverse_stft")
@tensor_function
def inverse_stft(
    stfts, frame_length, frame_step: IntLike, fft_length: TensorLike | None = None,
    window_fn: Callable[..., Any] | None = default_window, name: str | None = None,
):  # fmt: skip
    """Invert `tf.signal.stft`.

    The result is the original signal where `window_fn` is what `tf.signal.inverse_stft_window_fn` makes of the
    window.

    Args:
      stfts: transforms `[..., frames, fft_length // 2 + 1]`, complex.
      frame_length: how many samples a frame has.
      frame_step: how far frames are apart.
      fft_length: the size of the transform; None: the power of two that holds a frame.
      window_fn: called as `window_fn(frame_length, dtype=...)`, it makes the window; None: none.
      name: a name for the operation (optional).

    Returns:
      Real signals `[..., samples]`.
    """
    stfts = convert_to_tensor(stfts)
    if not stfts.dtype.is_complex:
        stfts = convert_to_tensor(stfts, dtypes.complex64)
    _at_least(stfts, 2)
    length = _count(frame_length, "frame_length")
    size = (
        _enclosing_power_of_two(length) if fft_length is None else _count(fft_length, "fft_length")
    )
    frames = fft_functions.irfft(stfts, [size])[..., :length]
    if not isinstance(length, int) or not isinstance(size, int) or frames.shape.rank is None:
        missing = arithmetic.maximum(length - size, 0)
        last = comparison.equal(range_(rank_of(frames)), rank_of(frames) - 1)
        after = choice.SelectV2(last, missing, 0)
        frames = padding.pad(frames, stack([after * 0, after], 1))
    elif size < length:
        pads = [[0, 0]] * (frames.shape.rank - 1) + [[0, length - size]]
        frames = padding.pad(frames, pads)
    if window_fn is not None:
        frames = arithmetic.Mul(frames, window_fn(length, dtype=frames.dtype))
    return overlap_and_add(frames, frame_step)


@api("signal.inverse_stft_window_fn")
@public
def inverse_stft_window_fn(frame_step: IntLike, forward_window_fn=default_window, name: str | None = None):
    """Make the window with which `tf.signal.inverse_stft` inverts `tf.signal.stft`.

    Args:
      frame_step: how far frames are apart.
      forward_window_fn: the function of the window used there.
      name: a name for the operation (optional).

    Returns:
      A function `(frame_length, dtype)`, for `window_fn`.
    """
    step = _positive(frame_step, "frame_step")

    def window(frame_length, dtype: DType):
        length = _count(frame_length, "frame_length")
        forward = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        squares = padding.pad(arithmetic.Mul(forward, forward), [[0, overlaps * step - length]])
        total = reduce_sum(layout.reshape(squares, [overlaps, step]), 0)
        # Where frames do not overlap, and the window is 0 at its ends, nothing is left to divide by.
        return DivNoNan(forward, tile(total, [overlaps])[:length])

    return window
