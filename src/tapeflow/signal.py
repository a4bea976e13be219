"""tf.signal: Fourier transforms, frames and windows."""

from tapeflow.ops.signal_frames import (
    frame,
    inverse_stft,
    inverse_stft_window_fn,
    overlap_and_add,
    stft,
)
from tapeflow.ops.signal_windows import (
    hamming_window,
    hann_window,
    kaiser_bessel_derived_window,
    kaiser_window,
    vorbis_window,
)
from tapeflow.ops.spectral import (
    fft,
    fft2d,
    fft3d,
    fftshift,
    ifft,
    ifft2d,
    ifft3d,
    ifftshift,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)

__all__ = [
    "fft", "fft2d", "fft3d", "fftshift", "frame", "hamming_window", "hann_window", "ifft", "ifft2d", "ifft3d",
    "ifftshift", "inverse_stft", "inverse_stft_window_fn", "irfft", "irfft2d", "irfft3d",
    "kaiser_bessel_derived_window", "kaiser_window", "overlap_and_add", "rfft", "rfft2d", "rfft3d", "stft",
    "vorbis_window",
]  # fmt: skip
