"""Sounds as spectrograms."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import initializers, settings
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import output_length
from tapeflow.keras.layers.preprocessing.base import PreprocessingLayer
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.convolution.functions_any_rank import convolution
from tapeflow.ops.linalg.tensordot import tensordot
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import abs, log, sqrt, square
from tapeflow.ops.math.reductions import reduce_max
from tapeflow.ops.math.trigonometric import atan2
from tapeflow.ops.signal.fft_functions import rfft
from tapeflow.ops.signal.frames import frame
from tapeflow.ops.static import sizes_of


class MelSpectrogram(PreprocessingLayer):
    """The power of signals over time, in bands that are equally wide to the ear.

    Input shape: `(batch, samples)` or `(samples,)`.
    Output shape: `(batch, num_mel_bins, frames)` or `(num_mel_bins, frames)`.

    Args:
      fft_length: the length of the Fourier transforms in samples.
      sequence_stride: the distance between frames in samples.
      sequence_length: the length of the window in samples; None for `fft_length`.
      window: "hann", "hamming", an array of the window's values, or None for none.
      sampling_rate: samples per second.
      num_mel_bins: the number of bands.
      min_freq: the lower edge of the lowest band, in hertz.
      max_freq: the upper edge of the highest band, in hertz; None for half the sampling rate.
      power_to_db: give decibels, at most `top_db` below the loudest.
      top_db: the range of the decibels.
      mag_exp: the exponent of the magnitudes: 2 for power, 1 for magnitude.
      min_power: the smallest power that decibels are computed of.
      ref_power: the power of 0 decibels.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for a window longer than the transforms.
    """

    def __init__(
        self, fft_length: int = 2048, sequence_stride: int = 512, sequence_length=None, window: str = "hann",
        sampling_rate: int = 16000, num_mel_bins: int = 128, min_freq: float = 20.0, max_freq=None,
        power_to_db: bool = True, top_db: float = 80.0, mag_exp: float = 2.0, min_power: float = 1e-10,
        ref_power: float = 1.0, **kwargs,
    ):
        super().__init__(**kwargs)
        self.fft_length, self.sequence_stride = fft_length, sequence_stride
        self.sequence_length = sequence_length or fft_length
        if fft_length < self.sequence_length:
            raise ValueError(
                "`fft_length` must be greater than or equal to `sequence_length`. Received: "
                f"`sequence_length`={self.sequence_length}, `fft_length`={fft_length}."
            )
        self.window, self.sampling_rate, self.num_mel_bins = window, sampling_rate, num_mel_bins
        self.min_freq, self.max_freq = min_freq, max_freq or int(sampling_rate / 2)
        self.power_to_db, self.top_db, self.mag_exp = power_to_db, top_db, mag_exp
        self.min_power, self.ref_power = min_power, ref_power

    def call(self, inputs: TensorLike):
        inputs = cast(convert_to_tensor(inputs), dtypes.float32)
        frames = self._frames(inputs)
        spectrum = abs(rfft(frames, [self.fft_length]))
        if self.mag_exp != 1.0:
            spectrum = spectrum**self.mag_exp
        bins = self.fft_length // 2 + 1
        matrix = self.linear_to_mel_weight_matrix(
            self.num_mel_bins, bins, self.sampling_rate, self.min_freq, self.max_freq
        )
        mel = tensordot(spectrum, matrix, [[spectrum.shape.rank - 1], [0]])
        if self.power_to_db:
            ten = 10.0 / math.log(10.0)
            mel = log(maximum(mel, self.min_power)) * ten
            mel = mel - 10.0 * math.log10(max(math.fabs(self.ref_power), self.min_power))
            mel = maximum(mel, reduce_max(mel) - self.top_db)
        order = list(range(mel.shape.rank))
        order[-2:] = order[-1], order[-2]
        return cast(transpose(mel, order), self._compute_dtype_object)

    def _frames(self, inputs):
        """Frames around every stride-th sample, the signal reflected at its ends, in the window."""

        half = self.fft_length // 2
        around = [[0, 0]] * (inputs.shape.rank - 1) + [[half, half]]
        inputs = pad(inputs, around, mode="REFLECT")
        frames = frame(inputs, self.fft_length, self.sequence_stride)
        if self.window is None:
            return frames
        if isinstance(self.window, str):
            length = self.sequence_length
            angle = 2.0 * np.pi * np.arange(length) / length
            window = {"hann": 0.5 - 0.5 * np.cos(angle), "hamming": 0.54 - 0.46 * np.cos(angle)}[
                self.window
            ]
        else:
            window = np.asarray(self.window)
        left = (self.fft_length - len(window)) // 2
        window = np.pad(window, (left, self.fft_length - len(window) - left))
        return frames * convert_to_tensor(window.astype("float32"))

    def linear_to_mel_weight_matrix(
        self, num_mel_bins: int = 20, num_spectrogram_bins: int = 129, sampling_rate: int = 8000,
        lower_edge_hertz: float = 125.0, upper_edge_hertz: float = 3800.0, dtype="float32",
    ):
        """The weights of linear bins in mel bins, (num_spectrogram_bins, num_mel_bins): triangles of height 1."""

        def mel(hertz: TensorLike):
            return 1127.0 * np.log(1.0 + np.asarray(hertz, "float64") / 700.0)

        bins = mel(np.linspace(0.0, sampling_rate / 2.0, num_spectrogram_bins)[1:])[:, None]
        edges = np.linspace(mel(lower_edge_hertz), mel(upper_edge_hertz), num_mel_bins + 2)
        low, middle, high = edges[None, :-2], edges[None, 1:-1], edges[None, 2:]
        weights = np.minimum((bins - low) / (middle - low), (high - bins) / (high - middle))
        return convert_to_tensor(np.pad(np.maximum(weights, 0.0), [[1, 0], [0, 0]]).astype(dtype))

    def compute_output_shape(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        stride = self.sequence_stride
        frames = None if sizes[-1] is None else (sizes[-1] + stride + 1) // stride
        return TensorShape([*sizes[:-1], self.num_mel_bins, frames])

    def get_config(self):
        names = ("fft_length sequence_stride sequence_length window sampling_rate num_mel_bins min_freq "
                 "max_freq power_to_db top_db mag_exp min_power ref_power")  # fmt: skip
        return {**super().get_config(), **{name: getattr(self, name) for name in names.split()}}


_MODES = ("log", "magnitude", "psd", "real", "imag", "angle", "stft")


class STFTSpectrogram(Layer):
    """The spectra of short frames of signals, by convolutions with waves in a window.

    Input shape: `(batch, samples, channels)`, or with the channels first.
    Output shape: `(batch, frames, channels * frequencies)`, or with the frames last for "channels_first"; with
      `expand_dims` channels and frequencies have axes of their own.

    Args:
      mode: "log", "magnitude", "psd", "real", "imag", "angle", or "stft" for real and imaginary parts.
      frame_length: the length of a frame in samples.
      frame_step: the distance between frames in samples; None for half a frame.
      fft_length: the length of the transforms; None for the next power of two.
      window: the name of a window function, an array of its values, or None for none.
      periodic: whether the window is one period of a periodic function, rather than symmetric.
      scaling: "density", "spectrum", or None for no scaling.
      padding: "valid" or "same".
      expand_dims: keep frequencies and channels on axes of their own.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for lengths that do not fit each other, and for unknown modes, scalings and paddings.
    """

    def __init__(
        self, mode: str = "log", frame_length: int = 256, frame_step=None, fft_length=None,
        window: str = "hann", periodic: bool = False, scaling: str = "density", padding: str = "valid",
        expand_dims: bool = False, data_format: str | None = None, **kwargs,
    ):
        if frame_step is not None and not 1 <= frame_step <= frame_length:
            raise ValueError(
                "`frame_step` should be a positive integer not greater than `frame_length`. Received "
                f"frame_step={frame_step}, frame_length={frame_length}"
            )
        if fft_length is not None and fft_length < frame_length:
            raise ValueError(
                "`fft_length` should be not less than `frame_length`. Received "
                f"fft_length={fft_length}, frame_length={frame_length}"
            )
        if fft_length is not None and fft_length & (fft_length - 1):
            warnings.warn(
                f"`fft_length` is recommended to be a power of two. Received fft_length={fft_length}",
                stacklevel=2,
            )
        if mode not in _MODES:
            raise ValueError(
                f"Output mode is invalid, it must be one of {', '.join(_MODES)}. Received: mode={mode}"
            )
        if scaling not in (None, "density", "spectrum"):
            raise ValueError(
                "Scaling is invalid, it must be `None`, 'density' or 'spectrum'. Received "
                f"scaling={scaling}"
            )
        if padding not in ("valid", "same"):
            raise ValueError(
                f"Padding is invalid, it should be 'valid', 'same'. Received: padding={padding}"
            )
        super().__init__(**kwargs)
        self.mode, self.frame_length, self.frame_step = mode, frame_length, frame_step
        self.fft_length, self.window, self.periodic = fft_length, window, periodic
        self.scaling, self.padding, self.expand_dims = scaling, padding, expand_dims
        self.data_format = settings.normalize_data_format(data_format)
        self.__dict__["_step"] = frame_step or frame_length // 2
        self.__dict__["_length"] = fft_length or 2 ** math.ceil(math.log2(frame_length))
        self.input_spec = InputSpec(ndim=3)

    def build(self, input_shape):
        shape = (self.frame_length, 1, self._length // 2 + 1)
        for part in ("real", "imag"):
            if self.mode != {"real": "imag", "imag": "real"}[part]:
                initializer = initializers.STFT(part, self.window, self.scaling, self.periodic)
                weight = self.add_weight(f"{part}_kernel", shape, initializer=initializer)
                setattr(self, f"{part}_kernel", weight)
        self.built = True

    def call(self, inputs):
        if self.data_format == "channels_last":
            inputs = transpose(inputs, [0, 2, 1])
        _, channels, samples = sizes_of(inputs)
        signal = reshape(inputs, [-1, samples, 1])

        def part(kernel):
            found = convolution(
                signal, convert_to_tensor(kernel), [self._step], self.padding.upper(), "NWC"
            )
            frames, bins = sizes_of(found)[1:]
            return transpose(reshape(found, [-1, channels, frames, bins]), [0, 1, 3, 2])

        real = None if self.mode == "imag" else part(self.real_kernel)
        imag = None if self.mode == "real" else part(self.imag_kernel)
        return self._arranged(self._of_parts(real, imag))

    def _of_parts(self, real, imag):
        """(batch, channels, frequencies, frames) for the mode."""
        if self.mode in ("real", "imag"):
            return real if imag is None else imag
        if self.mode == "angle":
            return atan2(imag, real)
        if self.mode == "stft":
            return concat([real, imag], 2)
        power = square(real) + square(imag)
        if self.mode == "psd":
            return power + pad(power[:, :, 1:-1, :], [[0, 0], [0, 0], [1, 1], [0, 0]])
        tiny = settings.epsilon()
        magnitude = sqrt(maximum(power, tiny))
        return magnitude if self.mode == "magnitude" else log(maximum(magnitude, tiny))

    def _arranged(self, x: Tensor):
        last = self.data_format == "channels_last"
        if self.expand_dims:
            return transpose(x, [0, 3, 2, 1] if last else [0, 1, 3, 2])
        _, channels, bins, frames = sizes_of(x)
        x = reshape(x, [-1, channels * bins, frames])
        return transpose(x, [0, 2, 1]) if last else x

    def compute_output_shape(self, input_shape):
        batch, *rest = TensorShape(input_shape).as_list()
        last = self.data_format == "channels_last"
        samples, channels = rest if last else rest[::-1]
        frames = output_length(samples, self.frame_length, self.padding, self._step)
        bins = (self._length // 2 + 1) * (2 if self.mode == "stft" else 1)
        if self.expand_dims:
            return TensorShape(
                [batch, frames, bins, channels] if last else [batch, channels, frames, bins]
            )
        return TensorShape(
            [batch, frames, bins * channels] if last else [batch, bins * channels, frames]
        )

    def get_config(self):
        names = ("mode frame_length frame_step fft_length window periodic scaling padding expand_dims "
                 "data_format")  # fmt: skip
        return {**super().get_config(), **{name: getattr(self, name) for name in names.split()}}
