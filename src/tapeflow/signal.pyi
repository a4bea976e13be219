# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.signal.cosine import dct as dct
from tapeflow.ops.signal.cosine import idct as idct
from tapeflow.ops.signal.cosine import inverse_mdct as inverse_mdct
from tapeflow.ops.signal.cosine import mdct as mdct
from tapeflow.ops.signal.fft_functions import fft as fft
from tapeflow.ops.signal.fft_functions import fft2d as fft2d
from tapeflow.ops.signal.fft_functions import fft3d as fft3d
from tapeflow.ops.signal.fft_functions import fftshift as fftshift
from tapeflow.ops.signal.fft_functions import ifft as ifft
from tapeflow.ops.signal.fft_functions import ifft2d as ifft2d
from tapeflow.ops.signal.fft_functions import ifft3d as ifft3d
from tapeflow.ops.signal.fft_functions import ifftshift as ifftshift
from tapeflow.ops.signal.fft_functions import irfft as irfft
from tapeflow.ops.signal.fft_functions import irfft2d as irfft2d
from tapeflow.ops.signal.fft_functions import irfft3d as irfft3d
from tapeflow.ops.signal.fft_functions import rfft as rfft
from tapeflow.ops.signal.fft_functions import rfft2d as rfft2d
from tapeflow.ops.signal.fft_functions import rfft3d as rfft3d
from tapeflow.ops.signal.fft_functions_nd import fftnd as fftnd
from tapeflow.ops.signal.fft_functions_nd import ifftnd as ifftnd
from tapeflow.ops.signal.fft_functions_nd import irfftnd as irfftnd
from tapeflow.ops.signal.fft_functions_nd import rfftnd as rfftnd
from tapeflow.ops.signal.frames import frame as frame
from tapeflow.ops.signal.frames import inverse_stft as inverse_stft
from tapeflow.ops.signal.frames import inverse_stft_window_fn as inverse_stft_window_fn
from tapeflow.ops.signal.frames import overlap_and_add as overlap_and_add
from tapeflow.ops.signal.frames import stft as stft
from tapeflow.ops.signal.mel import linear_to_mel_weight_matrix as linear_to_mel_weight_matrix
from tapeflow.ops.signal.mel import mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
from tapeflow.ops.signal.windows import hamming_window as hamming_window
from tapeflow.ops.signal.windows import hann_window as hann_window
from tapeflow.ops.signal.windows import kaiser_bessel_derived_window as kaiser_bessel_derived_window
from tapeflow.ops.signal.windows import kaiser_window as kaiser_window
from tapeflow.ops.signal.windows import vorbis_window as vorbis_window
__all__ = [
    "dct",
    "fft",
    "fft2d",
    "fft3d",
    "fftnd",
    "fftshift",
    "frame",
    "hamming_window",
    "hann_window",
    "idct",
    "ifft",
    "ifft2d",
    "ifft3d",
    "ifftnd",
    "ifftshift",
    "inverse_mdct",
    "inverse_stft",
    "inverse_stft_window_fn",
    "irfft",
    "irfft2d",
    "irfft3d",
    "irfftnd",
    "kaiser_bessel_derived_window",
    "kaiser_window",
    "linear_to_mel_weight_matrix",
    "mdct",
    "mfccs_from_log_mel_spectrograms",
    "overlap_and_add",
    "rfft",
    "rfft2d",
    "rfft3d",
    "rfftnd",
    "stft",
    "vorbis_window",
]
