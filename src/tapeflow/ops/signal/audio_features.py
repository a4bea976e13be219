"""Spectra of sounds, and the mel-frequency cepstral coefficients that speech recognition makes of them."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.ops import shapes
from tapeflow.ops.signature import integer
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_FLOOR = 1e-12  # Least energy of a band.


def _fft_size(window: int) -> int:
    """The least power of two that holds a window."""
    return 1 << (window - 1).bit_length()


def _frames(samples: int, window: int, stride: int) -> int:
    return 0 if samples < window else 1 + (samples - window) // stride


def _spectrogram_rule(call: ShapeCall):
    samples, channels = shapes.with_rank(call.shape(0), 2)
    window, stride = call.attr("window_size"), call.attr("stride")
    if window < 2 or stride < 1:
        raise invalid(f"Spectrogram initialization failed for window size {window} and stride {stride}")
    frames = None if samples is None else _frames(samples, window, stride)
    return [(channels, frames, 1 + _fft_size(window) // 2)]


@op("AudioSpectrogram", "input: float32 -> spectrogram: float32", shape=_spectrogram_rule,
    attrs={"window_size": integer, "stride": integer, "magnitude_squared": False})  # fmt: skip
def AudioSpectrogram(xp: ModuleType, input: Array, window_size: int, stride: int, magnitude_squared: bool):
    if input.ndim != 2:
        raise invalid(f"input must be 2-dimensional{shape_text(input.shape)}")
    if window_size < 2 or stride < 1:
        raise invalid(f"Spectrogram initialization failed for window size {window_size} and stride {stride}")
    samples, channels = input.shape
    frames, size = _frames(samples, window_size, stride), _fft_size(window_size)
    starts = np.arange(frames)[:, None] * stride + np.arange(window_size)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    if not frames or not channels:
        return xp.zeros((channels, frames, 1 + size // 2), np.float32)
    spectrum = xp.fft.rfft(input.T[:, starts] * hann, size)
    squared = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    return squared if magnitude_squared else xp.sqrt(squared)


@AudioSpectrogram.samples
def _(rng: SampleGenerator):
    sound = rng.normal(37, 2).astype(np.float32)
    yield Sample(sound, window_size=8, stride=3)
    yield Sample(sound, window_size=11, stride=20, magnitude_squared=True)
    yield Sample(sound, window_size=38, stride=1)
    yield Sample(sound[:, 0], window_size=8, stride=3, raises=InvalidArgumentError)
    yield Sample(sound, window_size=1, stride=3, raises=InvalidArgumentError)
    yield Sample(sound, window_size=8, stride=0, raises=InvalidArgumentError)


@AudioSpectrogram.reference
def _(input: np.ndarray, window_size: int, stride: int, magnitude_squared: bool):
    size = _fft_size(window_size)
    turns = np.exp(-2j * np.pi * np.outer(np.arange(size // 2 + 1), np.arange(window_size)) / size)
    out = []
    for sound in input.T.astype(np.float64):
        found = []
        for start in range(0, len(sound) - window_size + 1, stride):
            hann = np.sin(np.pi * np.arange(window_size) / window_size) ** 2
            found.append(np.abs(turns @ (hann * sound[start : start + window_size])))
        out.append(np.reshape(found, (-1, size // 2 + 1)))
    return (np.stack(out) ** (2 if magnitude_squared else 1)).astype(np.float32)


def _mel(frequency):
    return 1127.0 * np.log1p(frequency / 700.0)


def _bands(bins: int, rate: int, low: float, high: float, count: int) -> np.ndarray:
    """What part of each frequency [bins] belongs to each triangular band [count]."""
    bottom = _mel(low)
    spacing = (_mel(high) - bottom) / (count + 1)
    width = 0.5 * rate / (bins - 1)
    first, last = int(1.5 + low / width), int(high / width)
    at = np.arange(bins)
    place = (_mel(at * width) - bottom) / spacing  # in bands; a band has its peak at its number plus one
    out = np.maximum(0, 1 - np.abs(place[:, None] - np.arange(1, count + 1)))
    out[(at < first) | (at > last)] = 0
    return out


def _cosines(bands: int, coefficients: int) -> np.ndarray:
    """The discrete cosine transform [bands, coefficients]."""
    angles = np.pi / bands * np.outer(np.arange(bands) + 0.5, np.arange(coefficients))
    return np.sqrt(2.0 / bands) * np.cos(angles)


def _mfcc_rule(call: ShapeCall):
    channels, frames, _ = shapes.with_rank(call.shape(0), 3)
    shapes.scalar_shape(call, 1)
    return [(channels, frames, call.attr("dct_coefficient_count"))]


@op("Mfcc", "spectrogram: float32, sample_rate: int32 -> output: float32", shape=_mfcc_rule,
    attrs={"upper_frequency_limit": 4000.0, "lower_frequency_limit": 20.0, "filterbank_channel_count": 40,
           "dct_coefficient_count": 13})  # fmt: skip
def Mfcc(
    xp: ModuleType, spectrogram: Array, sample_rate: Array, upper_frequency_limit: float,
    lower_frequency_limit: float, filterbank_channel_count: int, dct_coefficient_count: int,
):  # fmt: skip
    if spectrogram.ndim != 3:
        raise invalid(f"spectrogram must be 3-dimensional{shape_text(spectrogram.shape)}")
    if np.ndim(sample_rate):
        raise invalid(f"Input sample_rate should be a scalar tensor, got {shape_text(sample_rate.shape)} instead.")
    rate, bins = int(sample_rate), spectrogram.shape[2]
    usable = rate > 0 and bins > 1 and 0 <= lower_frequency_limit < upper_frequency_limit
    if not usable or not 1 <= dct_coefficient_count <= filterbank_channel_count:
        raise invalid(
            f"Mfcc initialization failed for channel count {bins}, sample rate {rate} and filterbank_channel_count "
            f"{filterbank_channel_count}"
        )
    if int(upper_frequency_limit * 2 * (bins - 1) / rate) >= bins:
        # The spectrum ends below the limit; TensorFlow logs that and goes on with nothing.
        return xp.zeros((*spectrogram.shape[:2], dct_coefficient_count), np.float32)
    bands = _bands(bins, rate, lower_frequency_limit, upper_frequency_limit, filterbank_channel_count)
    energies = xp.sqrt(spectrogram.astype(np.float64)) @ bands
    return (xp.log(xp.maximum(energies, _FLOOR)) @ _cosines(filterbank_channel_count, dct_coefficient_count)).astype(
        np.float32
    )


Mfcc.compiled(static="sample_rate")


@Mfcc.samples
def _(rng: SampleGenerator):
    spectrum = np.abs(rng.normal(2, 3, 129)).astype(np.float32)
    rate = np.int32(16000)
    yield Sample(spectrum, rate, filterbank_channel_count=10, dct_coefficient_count=5)
    yield Sample(spectrum, rate, upper_frequency_limit=7000.0, lower_frequency_limit=300.0)
    yield Sample(spectrum, np.int32(4000), expect=np.zeros((2, 3, 13), np.float32))
    yield Sample(spectrum[0], rate, raises=InvalidArgumentError)
    yield Sample(spectrum, np.int32(0), raises=InvalidArgumentError)
    yield Sample(spectrum, rate, dct_coefficient_count=41, raises=InvalidArgumentError)
    yield Sample(spectrum, rate, lower_frequency_limit=5000.0, raises=InvalidArgumentError)


@Mfcc.reference
def _(
    spectrogram: np.ndarray, sample_rate: np.ndarray, upper_frequency_limit: float, lower_frequency_limit: float,
    filterbank_channel_count: int, dct_coefficient_count: int,
):  # fmt: skip
    """Frequency by frequency, each shared by the two bands between whose peaks it lies."""
    count, bins = filterbank_channel_count, spectrogram.shape[-1]
    edges = np.linspace(_mel(lower_frequency_limit), _mel(upper_frequency_limit), count + 2)
    energies = np.zeros((*spectrogram.shape[:2], count + 2))
    for i in range(1, bins):
        frequency = i * sample_rate / 2 / (bins - 1)
        if i < int(1.5 + lower_frequency_limit * 2 * (bins - 1) / sample_rate) or frequency > upper_frequency_limit:
            continue
        band = np.searchsorted(edges, _mel(frequency)) - 1
        part = (_mel(frequency) - edges[band]) / (edges[band + 1] - edges[band])
        energies[..., band] += (1 - part) * np.sqrt(spectrogram[..., i].astype(np.float64))
        energies[..., band + 1] += part * np.sqrt(spectrogram[..., i].astype(np.float64))
    logs = np.log(np.maximum(energies[..., 1:-1], _FLOOR))
    out = np.zeros((*spectrogram.shape[:2], dct_coefficient_count))
    for i in range(dct_coefficient_count):
        for j in range(count):
            out[..., i] += np.sqrt(2 / count) * np.cos(i * np.pi / count * (j + 0.5)) * logs[..., j]
    return out.astype(np.float32)


@public
def audio_spectrogram(
    input: TensorLike, window_size: int, stride: int, magnitude_squared: bool = False, name: str | None = None
):
    """The spectra of windows of sounds.

    Args:
      input: [samples, channels] of float32.
      window_size: samples in a window, which a Hann window weighs; padded by zeros to a power of two.
      stride: samples from the start of one window to that of the next.
      magnitude_squared: whether to return squares of magnitudes.

    Returns:
      [channels, windows, frequencies] of float32.

    Raises InvalidArgumentError for another rank, windows of less than 2 samples or a stride that is not positive.
    """
    return AudioSpectrogram(input, window_size, stride, magnitude_squared)


@public
def mfcc(
    spectrogram: TensorLike, sample_rate: TensorLike, upper_frequency_limit: TensorLike = 4000,
    lower_frequency_limit: TensorLike = 20, filterbank_channel_count: int = 40, dct_coefficient_count: int = 13,
    name: str | None = None,
):
    """Mel-frequency cepstral coefficients: the cosine transform of logarithms of the energies in bands.

    Args:
      spectrogram: [channels, windows, frequencies] of float32, squared magnitudes.
      sample_rate: of the sound, in Hz; a scalar.
      upper_frequency_limit: where the bands end, in Hz.
      lower_frequency_limit: where they begin.
      filterbank_channel_count: how many bands there are.
      dct_coefficient_count: how many coefficients are wanted, at most as many as bands.

    Returns:
      [channels, windows, coefficients] of float32.

    Raises InvalidArgumentError for another rank or settings that fit no filter bank.
    """
    return Mfcc(
        spectrogram, sample_rate, upper_frequency_limit, lower_frequency_limit, filterbank_channel_count,
        dct_coefficient_count,
    )  # fmt: skip
