"""WAV files of 16 bit: decoded to floats between -1 and 1, and made of them.

The format is Microsoft's RIFF: chunks of a four-letter name, a length and so many bytes.
"""

from __future__ import annotations

import struct
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.ops.table import Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_SCALE = 32768.0


def _invalid(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


class _Reader:
    """Bytes, read from front to back."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        if count > len(self._data) - self._at:
            raise _invalid("Data too short when trying to read string")
        self._at += count
        return self._data[self._at - count : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def expect(self, text: bytes) -> None:
        found = self.take(len(text))
        if found != text:
            raise _invalid(f"Header mismatch: Expected {text.decode()} but found {found!r}")

    @property
    def left(self) -> int:
        return len(self._data) - self._at


def _parsed(data: bytes) -> tuple[int, np.ndarray]:
    """The sample rate and the samples, int16 `[samples, channels]`."""
    reader = _Reader(data)
    reader.expect(b"RIFF")
    reader.number(4)
    reader.expect(b"WAVE")
    reader.expect(b"fmt ")
    size = reader.number(4)
    if size not in (16, 18):
        raise _invalid(f"Bad format chunk size for WAV: Expected 16 or 18, but got{size}")
    kind, channels, rate, _, per_sample, bits = struct.unpack("<HHIIHH", reader.take(16))
    reader.take(size - 16)
    if kind != 1:
        raise _invalid(f"Bad audio format for WAV: Expected 1 (PCM), but got{kind}")
    if bits != 16:
        raise _invalid(f"Can only read 16-bit WAV files, but received {bits}")
    if not channels or per_sample != channels * 2:
        raise _invalid(
            f"Bad bytes per sample in WAV header: Expected {channels * 2} but got {per_sample}"
        )
    while reader.left:
        name, size = reader.take(4), reader.number(4)
        chunk = reader.take(size)
        if name == b"data":
            whole = size // per_sample * per_sample
            return rate, np.frombuffer(chunk[:whole], "<i2").reshape(-1, channels)
    raise _invalid("No data chunk found in WAV")


def _sound_shape(call: ShapeCall):
    sizes = call.attr("desired_samples"), call.attr("desired_channels")
    return [tuple(None if n < 0 else n for n in sizes), ()]


@op(
    "DecodeWav",
    "contents: string -> audio: float32, sample_rate: int32",
    attrs={"desired_channels": -1, "desired_samples": -1},
    ranks="contents: 0",
    shape=_sound_shape,
)
def DecodeWav(xp: ModuleType, contents: Array, desired_channels: int, desired_samples: int):
    if contents.ndim:
        raise _invalid(f"contents must be scalar, got shape {list(contents.shape)}")
    rate, samples = _parsed(contents.item())
    audio = samples.astype(np.float32) / np.float32(_SCALE)
    channels = audio.shape[1] if desired_channels < 0 else desired_channels
    count = audio.shape[0] if desired_samples < 0 else desired_samples
    # More channels than there are repeat the last one, more samples are silent.
    audio = audio[:count][:, np.minimum(np.arange(channels), audio.shape[1] - 1)]
    audio = np.concatenate([audio, np.zeros([count - len(audio), channels], np.float32)])
    return audio, np.int32(min(rate, 2**31 - 1))


@op("EncodeWav", "audio: float32, sample_rate: int32 -> contents: string", ranks="audio: 2, sample_rate: 0",
    shape=lambda call: [()])
def EncodeWav(xp: ModuleType, audio: Array, sample_rate: Array):
    if audio.ndim != 2:
        raise _invalid(f"audio must be 2-dimensional{list(audio.shape)}")
    if sample_rate.ndim:
        raise _invalid(
            f"Input sample_rate should be a scalar tensor, got {list(sample_rate.shape)} instead."
        )
    if sample_rate <= 0:
        raise _invalid(f"sample_rate must be in (0, 2^32), got: {sample_rate}")
    count, channels = audio.shape
    if not 0 < channels < 2**16:
        raise _invalid(f"num_channels must be in (0, 2^16), got: {channels}")
    if not count:
        raise _invalid("audio is null")
    rate = int(sample_rate)
    bounded = np.nan_to_num(np.clip(np.asarray(audio, np.float64) * 32767.0, -32768, 32767))
    data = np.rint(bounded).astype("<i2").tobytes()
    if rate * channels * 2 >= 2**32:
        raise _invalid(
            f"{rate} samples a second of {channels} channels are too many for the format"
        )
    head = struct.pack(
        "<4sIHHIIHH", b"fmt ", 16, 1, channels, rate, rate * channels * 2, channels * 2, 16
    )
    body = b"WAVE" + head + struct.pack("<4sI", b"data", len(data)) + data
    return np.array(struct.pack("<4sI", b"RIFF", len(body)) + body, object)


DecodeWav.gradient(None)
EncodeWav.gradient(None)

_WAV = struct.pack(
    "<4sI4s4sIHHIIHH4sI4h", b"RIFF", 44, b"WAVE", b"fmt ", 16, 1, 2, 8000, 32000, 4, 16, b"data", 8,
    0, 16384, -32768, 32767,
)  # fmt: skip


@DecodeWav.samples
def _(rng: SampleGenerator):
    sound = np.array([[0.0, 0.5], [-1.0, 32767 / 32768]], np.float32)
    rate = np.int32(8000)
    yield Sample(np.array(_WAV, object), expect=(sound, rate))
    yield Sample(np.array(_WAV, object), desired_channels=1, desired_samples=3,
        expect=(np.array([[0.0], [-1.0], [0.0]], np.float32), rate))  # fmt: skip
    wrong = _WAV.replace(b"WAVE", b"WAVY"), _WAV.replace(b"data", b"none")
    for bad in (b"", b"abc", _WAV[:30], _WAV[:50], *wrong):
        yield Sample(np.array(bad, object), raises=InvalidArgumentError)
    yield Sample(np.array([_WAV, _WAV], object), raises=InvalidArgumentError)


@EncodeWav.samples
def _(rng: SampleGenerator):
    sound = np.array([[0.0, 0.5], [-2.0, 1.5]], np.float32)
    yield Sample(sound, np.int32(8000), expect=np.array(_WAV, object))
    yield Sample(sound[0], np.int32(8000), raises=InvalidArgumentError)
    yield Sample(sound, np.int32(0), raises=InvalidArgumentError)
    yield Sample(sound, np.array([8000], np.int32), raises=InvalidArgumentError)
    yield Sample(sound[:0], np.int32(8000), raises=InvalidArgumentError)
    yield Sample(sound[:, :0], np.int32(8000), raises=InvalidArgumentError)


@api("audio.decode_wav")
@public
def decode_wav(contents: TensorLike, desired_channels=-1, desired_samples=-1, name: str | None = None):
    """Read the sound of a WAV file of 16 bit.

    Args:
      contents: the bytes of the file, a scalar string.
      desired_channels: how many channels to return; -1: as there are. Missing ones are copies of the last.
      desired_samples: how many samples to return; -1: as there are. Missing ones are zero.
      name: a name for the operation (optional).

    Returns:
      (audio, sample_rate): float32 `[samples, channels]` between -1 and 1, and a scalar int32.

    Raises:
      InvalidArgumentError: for other files, and for truncated ones.
    """
    return DecodeWav(contents, desired_channels, desired_samples)


@api("audio.encode_wav")
@public
def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """Write sound as the bytes of a WAV file of 16 bit.

    Args:
      audio: a float32 matrix `[samples, channels]`; what lies outside of -1 to 1 is cut off.
      sample_rate: samples a second, a positive scalar int32.
      name: a name for the operation (optional).

    Returns:
      A scalar string.

    Raises:
      InvalidArgumentError: for other shapes, and for a sample rate that is not positive.
    """
    return EncodeWav(audio, sample_rate)
