"""Cosine transforms of real signals: types 1 to 4, and the modified one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import tensor_function
from tapeflow.ops.array import joining, reorder
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.math import arithmetic, complex_numbers
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import Rsqrt
from tapeflow.ops.math.trigonometric import Cos, Sin
from tapeflow.ops.signal import fft_functions
from tapeflow.ops.signal.frames import frame, overlap_and_add
from tapeflow.ops.signal.windows import vorbis_window
from tapeflow.ops.static import size_of, static_value


def _checked(x: Tensor, kind, n: int | None, axis, norm) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError(f"n should be a positive integer or None, got {n}")
    if kind not in (1, 2, 3, 4):
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported, got {kind}")
    if kind == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        if x.shape.rank is not None and x.shape.as_list()[-1] in (0, 1):
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _resized(x: Tensor, n: int):
    """`x` with its last dimension cropped or zero-padded to `n`."""
    size = size_of(x, -1)
    if isinstance(size, int):
        if size >= n:
            return x[..., :n]
        missing: Any = n - size
    else:
        x = x[..., :n]
        missing = arithmetic.maximum(n - size, 0)
    return joining.concat([x, _zeros(x, missing)], -1)


def _zeros(x: Tensor, width: int):
    """Zeros like `x`, of another last dimension."""
    shape = joining.concat([shape_of(x)[:-1], [width]], 0)
    return zeros(shape, x.dtype)


def _turn(n: int, kind: DType, half: float, sign: int):
    """exp(sign * iπ (k + half) / (2 n)) for k below `n`."""
    angles = (cast(range_(n), kind) + half) * (math.pi / 2) / cast(n, kind)
    return complex_numbers.complex(Cos(angles), sign * Sin(angles))


def _as_complex(x: Tensor):
    return complex_numbers.complex(x, x * 0)


def _transform(x: Tensor, kind: int, norm):
    n = size_of(x, -1)
    real = complex_numbers.real
    count = cast(n, x.dtype)
    if kind == 1:
        mirrored = joining.concat([x, reorder.reverse(x, [-1])[..., 1:-1]], -1)
        return real(fft_functions.rfft(mirrored))
    if kind == 2:
        spectrum = fft_functions.rfft(x, [2 * n])[..., :n]
        y = 2 * real(spectrum * _turn(n, x.dtype, 0, -1))
        return y * _weights(n, 0.5 * Rsqrt(count), math.sqrt(2)) if norm == "ortho" else y
    if kind == 3:
        if norm == "ortho":
            x = x * _weights(n, Rsqrt(count), math.sqrt(0.5))
        spectrum = _as_complex(x) * _turn(n, x.dtype, 0, 1)
        spectrum = joining.concat([spectrum, _zeros(spectrum, 1)], -1)
        return fft_functions.irfft(spectrum, [2 * n])[..., :n] * (2 * count)
    padded = _as_complex(x) * _turn(n, x.dtype, 0, -1)
    spectrum = fft_functions.fft(joining.concat([padded, _zeros(padded, n)], -1))[..., :n]
    y = 2 * real(spectrum * _turn(n, x.dtype, 0.5, -1))
    return y * (math.sqrt(0.5) * Rsqrt(count)) if norm == "ortho" else y


def _weights(n: int, first: Tensor, ratio: float):
    """The orthonormal scales: `first`, then `ratio` times that."""
    k = range_(n)
    return first * cast(arithmetic.minimum(k, 1), first.dtype) * (ratio - 1) + first


@api("signal.dct")
@tensor_function
def dct(input: TensorLike, type: Any = 2, n=None, axis: AxisLike = -1, norm=None, name: str | None = None):
    """Compute the discrete cosine transform along the last dimension, as SciPy defines it.

    Args:
      input: real signals `[..., samples]` of float32 or float64.
      type: 1 to 4.
      n: the length to which signals are cut or filled up with zeros (optional).
      axis: -1 only.
      norm: None, or "ortho" for an orthonormal transform.
      name: a name for the operation (optional).

    Returns:
      A tensor `[..., samples]` of the dtype of `input`.

    Raises:
      ValueError: for other types, lengths and norms.
      NotImplementedError: for another axis.

    >>> tf.signal.dct([1.0, 1.0], norm="ortho").numpy().round(4)
    array([1.4142, 0.    ], dtype=float32)
    """
    x = convert_to_tensor(input)
    _checked(x, type, n, axis, norm)
    return _transform(x if n is None else _resized(x, n), type, norm)


@api("signal.idct")
@tensor_function
def idct(
    input: TensorLike, type: Any = 2, n=None, axis: AxisLike = -1, norm: str | None = None, name: str | None = None
):
    """Compute the inverse of `tf.signal.dct`.

    Args:
      input: real transforms `[..., samples]` of float32 or float64.
      type: the type of the transform to invert, 1 to 4.
      n: the length to which they are cut or filled up with zeros (optional).
      axis: -1 only.
      norm: None: the inverse times `2 * n` (`2 * (n - 1)` for type 1); "ortho": the inverse of the orthonormal
        transform.
      name: a name for the operation (optional).

    Returns:
      A tensor `[..., samples]` of the dtype of `input`.

    Raises:
      ValueError: for other types, lengths and norms.
      NotImplementedError: for another axis.
    """
    x = convert_to_tensor(input)
    _checked(x, type, n, axis, norm)
    inverse = {1: 1, 2: 3, 3: 2, 4: 4}[type]
    return _transform(x if n is None else _resized(x, n), inverse, norm)


@api("signal.mdct")
@tensor_function
def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None):
    """Compute the modified discrete cosine transform of signals, in frames that overlap by a half.

    Args:
      signals: real signals `[..., samples]` of float32 or float64.
      frame_length: the length of a frame, a multiple of 4.
      window_fn: called as `window_fn(frame_length, dtype=...)`, it makes the window; None: a flat one.
      pad_end: whether the last frame is filled up with zeros.
      norm: None, or "ortho" for an orthonormal transform.
      name: a name for the operation (optional).

    Returns:
      A tensor `[..., frames, frame_length // 2]`.

    Raises:
      ValueError: where `frame_length` is no multiple of 4.
    """
    signals = convert_to_tensor(signals)
    length = static_value(frame_length)
    if length is None:
        length = cast(frame_length, dtypes.int32)
    else:
        length = int(length)
        if length % 4:
            raise ValueError(f"The frame length must be a multiple of 4, got {length}")
    frames = frame(signals, length, length // 2, pad_end=pad_end)
    frames = frames * (math.sqrt(0.5) if window_fn is None else window_fn(length, dtype=frames.dtype))
    quarter = length // 4
    a, b, c, d = (frames[..., i * quarter : (i + 1) * quarter] for i in range(4))
    folded = [-reorder.reverse(c, [-1]) - d, a - reorder.reverse(b, [-1])]
    return dct(joining.concat(folded, -1), type=4, norm=norm)


@api("signal.inverse_mdct")
@tensor_function
def inverse_mdct(
    mdcts: TensorLike, window_fn: Callable[..., Any] | None = vorbis_window, norm: str | None = None,
    name: str | None = None,
):
    """Invert `tf.signal.mdct`.

    Args:
      mdcts: transforms `[..., frames, half a frame]` of float32 or float64.
      window_fn: the function of the window, as there; None: a flat one.
      norm: None or "ortho", as there.
      name: a name for the operation (optional).

    Returns:
      Signals `[..., samples]`; the first and last half a frame are incomplete.

    Raises:
      ValueError: for another norm.
    """
    mdcts = convert_to_tensor(mdcts)
    half = size_of(mdcts, -1)
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    y = dct(mdcts, type=4, norm=norm)
    if norm is None:
        y = y * (0.5 / cast(half, y.dtype))
    first, second = y[..., : half // 2], y[..., half // 2 :]
    parts = [second, -reorder.reverse(second, [-1]), -reorder.reverse(first, [-1]), -first]
    frames = joining.concat(parts, -1)
    frames = frames * (math.sqrt(0.5) if window_fn is None else window_fn(2 * half, dtype=frames.dtype))
    return overlap_and_add(frames, half)
