"""Windows: the weights that fade a frame of a signal in and out."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array import joining, reorder
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.rows import StopGradient
from tapeflow.ops.math import arithmetic, choice, comparison, cumulative, elementwise, trigonometric
from tapeflow.ops.math.casting import cast
from tapeflow.ops.special import bessel
from tapeflow.ops.static import static_value


def _length(window_length):
    """The length: an int, or a scalar int32 tensor of a graph. Raises ValueError if it is no scalar or negative."""
    length = static_value(window_length)
    if length is None and not window_length.shape.rank:
        return cast(window_length, dtypes.int32)
    if length is None or np.ndim(length):
        raise ValueError(f"window_length must be a scalar, got {window_length!r}")
    if int(length) < 0:
        raise ValueError(f"window_length must not be negative, got {int(length)}")
    return int(length)


def _floating(name: str, dtype: DTypeLike):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r} for {name}")
    return dtype


def _weights(values: Any, dtype):
    return convert_to_tensor(np.asarray(values).astype(dtype.as_numpy_dtype), dtype)


def _raised_cosine(name: str, window_length, periodic, dtype: DTypeLike, a, b):
    dtype = _floating(name, dtype)
    length = _length(window_length)
    # Windows of odd length are symmetric in any case.
    even = 1 - length % 2
    period = length + int(bool(periodic)) * even - 1
    if not isinstance(length, int):
        places = cast(range_(length), dtypes.float64) * (2 * math.pi)
        # A window of one element has a period of zero, and is 1.
        waves = trigonometric.cos(places / cast(arithmetic.maximum(period, 1), dtypes.float64))
        return cast(choice.SelectV2(comparison.equal(length, 1), 1.0, a - b * waves), dtype)
    if length == 1:
        return _weights(np.ones(1), dtype)
    return _weights(a - b * np.cos(2 * math.pi * np.arange(length) / period), dtype)


@api("signal.hann_window")
@tensor_function
def hann_window(
    window_length: IntLike, periodic: bool = True, dtype: DTypeLike = dtypes.float32, name: str | None = None
):
    """Make a Hann window.

    Args:
      window_length: the number of elements, a scalar integer.
      periodic: whether the window is one period, for spectra; else it is symmetric, for filters.
      dtype: a floating dtype.
      name: a name for the operation (optional).

    Returns:
      A vector `[window_length]`.

    Raises:
      ValueError: for other dtypes.

    >>> tf.signal.hann_window(4).numpy().round(4)
    array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _raised_cosine("hann_window", window_length, periodic, dtype, 0.5, 0.5)


@api("signal.hamming_window")
@tensor_function
def hamming_window(
    window_length: IntLike, periodic: bool = True, dtype: DTypeLike = dtypes.float32, name: str | None = None
):
    """Make a Hamming window.

    Args:
      window_length: the number of elements, a scalar integer.
      periodic: whether the window is one period, for spectra; else it is symmetric, for filters.
      dtype: a floating dtype.
      name: a name for the operation (optional).

    Returns:
      A vector `[window_length]`.

    Raises:
      ValueError: for other dtypes.

    >>> tf.signal.hamming_window(4).numpy().round(4)
    array([0.08, 0.54, 1.  , 0.54], dtype=float32)
    """
    return _raised_cosine("hamming_window", window_length, periodic, dtype, 0.54, 0.46)


@api("signal.vorbis_window")
@tensor_function
def vorbis_window(window_length: TensorLike, dtype: DTypeLike = dtypes.float32, name: str | None = None):
    """Make the power-complementary window of the Vorbis codec.

    Args:
      window_length: the number of elements, a scalar integer.
      dtype: a floating dtype.
      name: a name for the operation (optional).

    Returns:
      A vector `[window_length]`.

    Raises:
      ValueError: for other dtypes.
    """
    dtype = _floating("vorbis_window", dtype)
    length = _length(window_length)
    if not isinstance(length, int):
        places = cast(range_(length), dtypes.float64) + 0.5
        sines = trigonometric.sin(places * math.pi / cast(arithmetic.maximum(length, 1), dtypes.float64))
        return cast(trigonometric.sin(math.pi / 2 * sines * sines), dtype)
    phase = (np.arange(length) + 0.5) * math.pi / max(length, 1)
    return _weights(np.sin(math.pi / 2 * np.sin(phase) ** 2), dtype)


def _kaiser(length: int, beta):
    """The window as an array, or as a float64 tensor where it is not known yet."""
    shape = static_value(beta)
    if isinstance(length, int) and shape is not None:
        return np.kaiser(length, float(shape))
    shape = StopGradient(cast(beta, dtypes.float64))
    middle = cast(length - 1, dtypes.float64) / 2
    places = cast(range_(length), dtypes.float64)
    # Of a window of one element the middle is the only place.
    away = (places - middle) / choice.SelectV2(middle > 0, middle, 1.0)
    roots = elementwise.sqrt(arithmetic.maximum(1 - away * away, 0.0))
    return bessel.bessel_i0(shape * roots) / bessel.bessel_i0(shape)


@api("signal.kaiser_window")
@tensor_function
def kaiser_window(
    window_length: IntLike, beta: TensorLike = 12.0, dtype: DTypeLike = dtypes.float32, name: str | None = None
):
    """Make a Kaiser window.

    Args:
      window_length: the number of elements, a scalar integer.
      beta: the shape: the larger, the narrower; it gets no gradient.
      dtype: a floating dtype.
      name: a name for the operation (optional).

    Returns:
      A vector `[window_length]`.

    Raises:
      ValueError: for other dtypes.
    """
    dtype = _floating("kaiser_window", dtype)
    window = _kaiser(_length(window_length), beta)
    return _weights(window, dtype) if isinstance(window, np.ndarray) else cast(window, dtype)


@api("signal.kaiser_bessel_derived_window")
@tensor_function
def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """Make the power-complementary window of a Kaiser window of half the length.

    Args:
      window_length: the number of elements, an even scalar integer.
      beta: the shape of the Kaiser window.
      dtype: a floating dtype.
      name: a name for the operation (optional).

    Returns:
      A vector `[window_length]`.

    Raises:
      ValueError: for other dtypes.
    """
    dtype = _floating("kaiser_bessel_derived_window", dtype)
    window = _kaiser(_length(window_length) // 2 + 1, beta)
    if not isinstance(window, np.ndarray):
        sums = cumulative.cumsum(window)
        half = elementwise.sqrt(sums[:-1] / sums[-1])
        return cast(joining.concat([half, reorder.reverse(half, [0])], 0), dtype)
    sums = np.cumsum(window)
    half = np.sqrt(sums[:-1] / sums[-1])
    return _weights(np.concatenate([half, half[::-1]]), dtype)


default_window = functools.partial(hann_window, periodic=True)
