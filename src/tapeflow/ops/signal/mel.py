"""The mel scale of pitch: filters from frequencies to mel bins, and cepstra."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import tensor_function
from tapeflow.ops.array import padding
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.ranges import linspace
from tapeflow.ops.math import arithmetic
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import Log, Rsqrt
from tapeflow.ops.signal.cosine import dct
from tapeflow.ops.static import size_of, static_value


def _mel(hertz: Tensor):
    """The pitch of a frequency: O'Shaughnessy's formula."""
    return 1127.0 * Log(1.0 + hertz / 700.0)


def _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype: DType) -> None:
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower_edge_hertz < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}")
    rate = static_value(sample_rate)
    if rate is not None:
        if rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
        if upper_edge_hertz > rate / 2:
            raise ValueError(
                "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got "
                f"{upper_edge_hertz} for sample_rate: {sample_rate}"
            )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


@api("signal.linear_to_mel_weight_matrix")
@tensor_function
def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20, num_spectrogram_bins: Any = 129, sample_rate: TensorLike = 8000,
    lower_edge_hertz: TensorLike = 125.0, upper_edge_hertz: TensorLike = 3800.0, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
):
    """Make the matrix that turns spectrograms into bins evenly spaced in pitch.

    Args:
      num_mel_bins: how many bins of pitch.
      num_spectrogram_bins: how many frequencies a spectrogram has, from 0 to half of the sample rate.
      sample_rate: samples a second.
      lower_edge_hertz: where the first triangle begins.
      upper_edge_hertz: where the last one ends.
      dtype: a floating dtype.
      name: a name for the operation (optional).

    Returns:
      A matrix `[num_spectrogram_bins, num_mel_bins]` of triangular filters.

    Raises:
      ValueError: for edges that are not in order or above half of the sample rate, and for other dtypes.

    >>> tf.signal.linear_to_mel_weight_matrix(num_mel_bins=4, num_spectrogram_bins=9).shape
    TensorShape([9, 4])
    """
    dtype = dtypes.as_dtype(dtype)
    _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
    rate = cast(sample_rate, dtype)
    lower, upper = (convert_to_tensor(h, dtype=dtype) for h in (lower_edge_hertz, upper_edge_hertz))
    # The constant term has no pitch.
    linear = linspace(convert_to_tensor(0.0, dtype=dtype), rate / 2.0, num_spectrogram_bins)[1:]
    pitches = expand_dims(_mel(linear), 1)
    edges = linspace(_mel(lower), _mel(upper), num_mel_bins + 2)
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    rising = (pitches - left) / (centre - left)
    falling = (right - pitches) / (right - centre)
    weights = arithmetic.maximum(arithmetic.minimum(rising, falling), convert_to_tensor(0.0, dtype=dtype))
    return padding.pad(weights, [[1, 0], [0, 0]])


@api("signal.mfccs_from_log_mel_spectrograms")
@tensor_function
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None):
    """Mel-frequency cepstral coefficients [..., num_mel_bins] of logarithmic spectra of that shape.

    Raises ValueError where there are no bins.
    """
    spectra = convert_to_tensor(log_mel_spectrograms)
    bins = size_of(spectra, -1)
    if isinstance(bins, int) and bins == 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {log_mel_spectrograms}")
    y = dct(spectra, type=2)
    return y * Rsqrt(cast(bins, y.dtype) * 2.0)
