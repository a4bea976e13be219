"""Samples of sound from files of several formats, and WAV files of samples."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import tempfile
import wave
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.core import context
from tapeflow.core.annotations import IntLike, Tensor, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, UnavailableError, UnknownError

_FORMATS = ("mp3", "mp4", "ogg", "wav")
_SCALE = 1 << 15  # of samples of 16 bits
_PROBED = 5_000_000  # bytes that are looked at to tell what the file holds
_logger = logging.getLogger("tensorflow")


def decode_audio(
    contents: TensorLike, file_format: TensorLike | None = None, samples_per_second: IntLike | None = None,
    channel_count: IntLike | None = None, stream: str | None = None,
) -> Tensor:  # fmt: skip
    """Decode sound by the program `ffmpeg`, which has to be installed.

    Args:
      contents: a string scalar, the bytes of a file.
      file_format: "mp3", "mp4", "ogg" or "wav".
      samples_per_second: to how many samples a second the sound is brought.
      channel_count: how many channels the result has.
      stream: which stream of the file, in the words of `ffmpeg`; None or "": the best one.

    Returns:
      float32 `[samples, channel_count]` from -1 to 1; `[0, 0]` for what cannot be decoded.

    Raises:
      InvalidArgumentError: for another format, and numbers that are not positive.
      UnavailableError: without `ffmpeg`.
    """

    def decode(data: bytes, kind: bytes, rate: np.ndarray, channels: np.ndarray) -> np.ndarray:
        return _decoded(data, kind.decode().lower(), int(rate), int(channels), stream)

    found = _called(decode, [contents, file_format, samples_per_second, channel_count], v1.float32)
    if not context.executing_eagerly():
        found.set_shape([None, channel_count if isinstance(channel_count, int) else None])
    return found


def _called(function: Callable[..., Any], inputs: Sequence[Any], dtype: DType) -> Tensor:
    """What a Python function makes of the values of tensors."""
    if context.executing_eagerly():
        values = [v1.convert_to_tensor(each).numpy() for each in inputs]
        return v1.convert_to_tensor(function(*values), dtype)
    (found,) = v1.py_func(function, list(inputs), [dtype], stateful=False)
    return found


def _decoded(data: bytes, kind: str, rate: int, channels: int, stream: str | None) -> np.ndarray:
    if kind not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise InvalidArgumentError(None, None, f"file_format must be one of {{{known}}}, but was: '{kind}'")
    if rate <= 0:
        raise InvalidArgumentError(None, None, f"samples_per_second must be positive, but got: {rate}")
    if channels <= 0:
        raise InvalidArgumentError(None, None, f"channel_count must be positive, but got: {channels}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"sound.{kind}")
        with open(path, "wb") as file:
            file.write(data)
        command = [
            "ffmpeg", "-nostats", "-nostdin", "-f", kind, "-probesize", str(_PROBED), "-i", path, "-loglevel",
            "error", "-hide_banner", "-map_metadata", "-1", "-vn", "-ac:a:0", str(channels), "-ar:a:0", str(rate),
            "-codec:a:0", "pcm_s16le", "-sample_fmt", "s16", "-f", "s16le", "-sn", "-y",
            *(["-map", f"0:{stream}"] if stream else []), "pipe:1",
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except FileNotFoundError as error:
            raise UnavailableError(
                None, None, "FFmpeg must be installed to run this op. FFmpeg can be found at http://www.ffmpeg.org."
            ) from error
    if done.returncode:
        _logger.error("FFmpeg failed with error %r. The sound is empty.", done.stderr.decode(errors="replace"))
        return np.zeros([0, 0], np.float32)
    samples = np.frombuffer(done.stdout, "<i2")
    if not samples.size or samples.size % channels:
        raise UnknownError(None, None, f"FFmpeg gave {samples.size} samples of {channels} channels.")
    return (samples.reshape(-1, channels) / _SCALE).astype(np.float32)


def encode_audio(
    audio: TensorLike, file_format: TensorLike | None = None, samples_per_second: IntLike | None = None
) -> Tensor:
    """Write samples as a WAV file of 16 bits.

    Args:
      audio: float32 `[samples, channels]` from -1 to 1.
      file_format: "wav".
      samples_per_second: how many samples are played in a second.

    Returns:
      A string scalar, the bytes of the file.

    Raises:
      InvalidArgumentError: for another format or rank, and a number that is not positive.
    """

    def encode(samples: np.ndarray, kind: bytes, rate: np.ndarray) -> bytes:
        return _encoded(samples, kind.decode().lower(), int(rate))

    made = _called(encode, [audio, file_format, samples_per_second], v1.string)
    if not context.executing_eagerly():
        made.set_shape([])
    return made


def _encoded(samples: np.ndarray, kind: str, rate: int) -> bytes:
    if samples.ndim != 2:
        raise InvalidArgumentError(
            None, None, f"sampled_audio must be a rank-2 tensor but got shape {list(samples.shape)}"
        )
    if kind != "wav":
        raise InvalidArgumentError(None, None, f'file_format must be "wav", but got: {kind}')
    if rate <= 0:
        raise InvalidArgumentError(None, None, f"samples_per_second must be positive, but got: {rate}")
    whole = np.clip(np.round(samples * _SCALE), -_SCALE, _SCALE - 1).astype("<i2")
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(whole.tobytes())
    return buffer.getvalue()
