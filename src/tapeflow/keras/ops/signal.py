"""Fourier transforms, and frames of signals."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public_names
from tapeflow.keras.ops.conversion import operation, static_rank, tensor
from tapeflow.ops.array.padding import pad as tf_pad
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.math.complex_numbers import complex as tf_complex
from tapeflow.ops.math.complex_numbers import imag as tf_imag
from tapeflow.ops.math.complex_numbers import real as tf_real
from tapeflow.ops.signal.fft_functions import fft as tf_fft
from tapeflow.ops.signal.fft_functions import fft2d as tf_fft2d
from tapeflow.ops.signal.fft_functions import ifft2d as tf_ifft2d
from tapeflow.ops.signal.fft_functions import irfft as tf_irfft
from tapeflow.ops.signal.fft_functions import rfft as tf_rfft
from tapeflow.ops.signal.frames import frame as tf_frame
from tapeflow.ops.signal.frames import inverse_stft as tf_inverse_stft
from tapeflow.ops.signal.frames import inverse_stft_window_fn as tf_inverse_stft_window_fn
from tapeflow.ops.signal.frames import stft as tf_stft
from tapeflow.ops.signal.windows import hamming_window as tf_hamming_window
from tapeflow.ops.signal.windows import hann_window as tf_hann_window


def _parts(x: Tensor):
    return tf_real(x), tf_imag(x)


def _complex(x):
    """A complex tensor of a pair of its real and imaginary parts."""
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ValueError(f"Input `x` should be a tuple of two tensors - real and imaginary. Received: x={x}")
    real, imag = (tensor(part) for part in x)
    if not real.shape.is_compatible_with(imag.shape):
        raise ValueError(
            "Both the real and imaginary parts should have the same shape. "
            f"Received: x[0].shape = {real.shape}, x[1].shape = {imag.shape}"
        )
    if not (real.dtype.is_floating and imag.dtype.is_floating):
        raise ValueError(f"At least one tensor in input `x` is not of type float. Received: x={x}.")
    return tf_complex(real, imag)


@operation
def fft(x: TensorLike):
    """Return the Fourier transform along the last axis of (real, imaginary), as such a pair."""
    return _parts(tf_fft(_complex(x)))


@operation
def fft2(x: TensorLike):
    """Return the Fourier transform along the last two axes of (real, imaginary), as such a pair."""
    return _parts(tf_fft2d(_complex(x)))


@operation
def ifft2(x: TensorLike):
    """Return the inverse of `fft2`."""
    return _parts(tf_ifft2d(_complex(x)))


def _length(fft_length):
    return None if fft_length is None else [fft_length]


@operation
def rfft(x: TensorLike, fft_length: TensorLike | None = None):
    """Return the Fourier transform of real signals along the last axis, as a pair (real, imaginary)."""
    return _parts(tf_rfft(tensor(x), _length(fft_length)))


@operation
def irfft(x: TensorLike, fft_length: TensorLike | None = None):
    """Return the inverse of `rfft` of a pair (real, imaginary)."""
    return tf_irfft(_complex(x), _length(fft_length))


@operation
def extract_sequences(x: TensorLike, sequence_length: TensorLike, sequence_stride):
    """Return parts of a length along the last axis, one for each multiple of the stride where it starts."""
    return tf_frame(tensor(x), sequence_length, sequence_stride, axis=-1)


_WINDOWS = {"hann": tf_hann_window, "hamming": tf_hamming_window}


def _window(window, sequence_length, fft_length, dtype: DType):
    """The window, with zeros on both sides up to `fft_length`."""
    if isinstance(window, str):
        if window not in _WINDOWS:
            raise ValueError(f"`window` must be one of {list(_WINDOWS)} or a tensor. Received: window={window}")
        window = _WINDOWS[window](sequence_length, periodic=True, dtype=dtype)
    window = tensor(window, dtype)
    if window.shape.as_list() != [sequence_length]:
        raise ValueError(f"The shape of `window` must be [sequence_length]. Received: {window.shape}")
    left = (fft_length - sequence_length) // 2
    return tf_pad(window, [[left, fft_length - sequence_length - left]])


@operation
def stft(x, sequence_length, sequence_stride, fft_length, window: str = "hann", center: bool = True):
    """Return the Fourier transforms of windowed parts of signals, as a pair (real, imaginary).

    Args:
      window: "hann", "hamming", a tensor of `sequence_length` elements, or None.
      center: whether to pad the signal by reflection, such that each part is around its place.
    """
    x = tensor(x)
    if x.dtype.name not in ("float32", "float64"):
        raise TypeError(f"Invalid input type. Expected `float32` or `float64`. Received: input type={x.dtype.name}")
    if fft_length < sequence_length:
        raise ValueError(
            "`fft_length` must equal or larger than `sequence_length`. Received: "
            f"sequence_length={sequence_length}, fft_length={fft_length}"
        )
    if center:
        x = tf_pad(x, [[0, 0]] * (static_rank(x) - 1) + [[fft_length // 2] * 2], mode="REFLECT")
    weights = None if window is None else _window(window, sequence_length, fft_length, x.dtype)
    function = None if weights is None else lambda length, dtype: weights
    return _parts(tf_stft(x, fft_length, sequence_stride, fft_length, window_fn=function))


@operation
def istft(
    x: TensorLike, sequence_length: TensorLike, sequence_stride, fft_length: Any, length=None, window: str = "hann",
    center: bool = True,
):
    """Return signals whose `stft` is the pair x of real and imaginary parts.

    Args:
      length: how long the signals are; by default as far as the parts reach.
    """
    x = _complex(x)
    dtype = tf_real(x).dtype
    function = None
    if window is not None:
        weights = _window(window, sequence_length, fft_length, dtype)
        function = tf_inverse_stft_window_fn(sequence_stride, lambda length, dtype: weights)
    signal = tf_inverse_stft(x, fft_length, sequence_stride, fft_length, window_fn=function)
    start = fft_length // 2 if center else 0
    if length is not None:
        return signal[..., start : start + length]
    return signal[..., start : tf_shape(signal)[-1] - start]


__all__ = public_names(globals())
