"""Windows: the weights that fade a frame of a signal in and out."""

from __future__ import annotations

import functools
import math

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.ops.static import concrete_value, static_value


def _length(window_length) -> int:
    """The length as an integer. Raises ValueError if it is no scalar or negative."""
    length = static_value(window_length)
    if length is None or np.ndim(length):
        raise ValueError(f"window_length must be a scalar, got {window_length!r}")
    if int(length) < 0:
        raise ValueError(f"window_length must not be negative, got {int(length)}")
    return int(length)


def _floating(name: str, dtype):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r} for {name}")
    return dtype


def _weights(values, dtype):
    return convert_to_tensor(np.asarray(values).astype(dtype.as_numpy_dtype), dtype)


def _raised_cosine(name, window_length, periodic, dtype, a, b):
    dtype = _floating(name, dtype)
    length = _length(window_length)
    if length == 1:
        return _weights(np.ones(1), dtype)
    # Windows of odd length are symmetric in any case.
    even = 1 - length % 2
    period = length + bool(periodic) * even - 1
    return _weights(a - b * np.cos(2 * math.pi * np.arange(length) / period), dtype)


@public
def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """The Hann window. Raises ValueError if `dtype` is not floating."""
    return _raised_cosine("hann_window", window_length, periodic, dtype, 0.5, 0.5)


@public
def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """The Hamming window. Raises ValueError if `dtype` is not floating."""
    return _raised_cosine("hamming_window", window_length, periodic, dtype, 0.54, 0.46)


@public
def vorbis_window(window_length, dtype=dtypes.float32, name=None):
    """The power-complementary window of the Vorbis codec."""
    dtype = _floating("vorbis_window", dtype)
    length = _length(window_length)
    phase = (np.arange(length) + 0.5) * math.pi / max(length, 1)
    return _weights(np.sin(math.pi / 2 * np.sin(phase) ** 2), dtype)


def _kaiser(length: int, beta) -> np.ndarray:
    return np.kaiser(length, float(concrete_value(beta)))


@public
def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """The Kaiser window; `beta` sets its shape, and gets no gradient."""
    dtype = _floating("kaiser_window", dtype)
    return _weights(_kaiser(_length(window_length), beta), dtype)


@public
def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """The power-complementary window made of a Kaiser window of half the length."""
    dtype = _floating("kaiser_bessel_derived_window", dtype)
    sums = np.cumsum(_kaiser(_length(window_length) // 2 + 1, beta))
    half = np.sqrt(sums[:-1] / sums[-1])
    return _weights(np.concatenate([half, half[::-1]]), dtype)


default_window = functools.partial(hann_window, periodic=True)
