"""What summaries hold: `Summary.Value` messages of scalars, histograms, images, text and sounds."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.files.tensor_proto import make_tensor_proto
from tapeflow.ops.io.summary_encoding import png as png_of
from tapeflow.ops.io.summary_encoding import scaled_images, wav


def metadata(plugin: str, description: str | None = None, content: bytes = b"") -> Any:
    """The SummaryMetadata for a plugin of TensorBoard."""
    found = protos.SummaryMetadata(summary_description=description or "")
    found.plugin_data.plugin_name = plugin
    found.plugin_data.content = content
    return found


def tensor_summary(tag: str, value: Any, meta: Any = None) -> Any:
    """A Summary of one tensor, with metadata as a message or as bytes."""
    summary = protos.Summary()
    entry = summary.value.add(tag=tag)
    entry.tensor.CopyFrom(_tensor_proto(np.asarray(value)))
    if isinstance(meta, bytes):
        try:
            entry.metadata.ParseFromString(meta)
        except Exception as error:  # protobuf's own class differs between its versions
            raise ValueError(f"The metadata of summary {tag} are no SummaryMetadata") from error
    elif meta is not None:
        entry.metadata.CopyFrom(meta)
    return summary


def _tensor_proto(value: np.ndarray) -> Any:
    if value.dtype.kind in "OSU":
        return make_tensor_proto(value)
    found = protos.TensorProto(dtype=as_dtype(value.dtype).as_datatype_enum)
    found.tensor_shape.SetInParent()
    for size in value.shape:
        found.tensor_shape.dim.add(size=size)
    found.tensor_content = value.tobytes()
    return found


def buckets_of(values: np.ndarray, count: int) -> np.ndarray:
    """(count, 3): left edge, right edge and number of the values of buckets of one width."""
    values = values.astype(np.float64).reshape(-1)
    if count == 0 or values.size == 0:
        return np.zeros([count, 3])
    low, high = values.min(), values.max()
    if high <= low:
        # All values are one: every bucket is that point, and the last has them all.
        edges = np.full([count, 3], low)
        edges[:, 2] = 0
        edges[-1, 2] = values.size
        return edges
    width = (high - low) / count
    places = np.minimum(((values - low) / width).astype(np.int64), count - 1)
    numbers = np.bincount(places, minlength=count)
    edges = np.linspace(low, high, count + 1)
    return np.stack([edges[:-1], edges[1:], numbers.astype(np.float64)], 1)


# Summaries of 1.x


def scalar_summary(tag: str, value: Any) -> Any:
    """A Summary of one number."""
    summary = protos.Summary()
    summary.value.add(tag=tag, simple_value=float(value))
    return summary


@functools.cache
def _limits() -> np.ndarray:
    """Upper limits of buckets that grow by a tenth each, on both sides of 0."""
    positive, value = [], 1e-12
    while value < 1e20:
        positive.append(value)
        value *= 1.1
    largest = np.finfo(np.float64).max
    return np.array([-largest, *[-v for v in reversed(positive)], 0.0, *positive, largest])


def histogram_proto(values: np.ndarray) -> Any:
    """A HistogramProto of values; empty buckets next to each other are one."""
    values = np.asarray(values, np.float64).reshape(-1)
    found = protos.HistogramProto(
        min=values.min() if values.size else np.finfo(np.float64).max,
        max=values.max() if values.size else -np.finfo(np.float64).max,
        num=values.size,
        sum=values.sum(),
        sum_squares=(values * values).sum(),
    )
    limits = _limits()
    numbers = np.bincount(np.searchsorted(limits, values, side="right"), minlength=len(limits))
    numbers = numbers[: len(limits)]
    at = 0
    while at < len(limits):
        end, number = limits[at], numbers[at]
        at += 1
        if number == 0:
            while at < len(limits) and numbers[at] == 0:
                end = limits[at]
                at += 1
        found.bucket_limit.append(end)
        found.bucket.append(float(number))
    return found


def histogram_summary(tag: str, values: np.ndarray) -> Any:
    """A Summary of the distribution of values. Raises ValueError for values that are not finite."""
    if not np.isfinite(np.asarray(values, np.float64)).all():
        raise ValueError(f"Nan or Inf in summary histogram for: {tag}")
    summary = protos.Summary()
    summary.value.add(tag=tag).histo.CopyFrom(histogram_proto(values))
    return summary


def image_summary(tag: str, images: np.ndarray, max_images: int = 3, bad_color: Any = None) -> Any:
    """A Summary of the first images of (batch, height, width, channels)."""
    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        raise ValueError(
            "Tensor must be 4-D with last dim 1, 3, or 4, not " + str(list(images.shape))
        )
    summary = protos.Summary()
    shown = scaled_images(images[:max_images], bad_color)
    for i, image in enumerate(shown):
        name = f"{tag}/image" if max_images == 1 else f"{tag}/image/{i}"
        entry = summary.value.add(tag=name)
        entry.image.height, entry.image.width, entry.image.colorspace = image.shape
        entry.image.encoded_image_string = png_of(image)
    return summary


def audio_summary(tag: str, sounds: np.ndarray, rate: float, max_outputs: int = 3) -> Any:
    """A Summary of the first sounds of (batch, frames) or (batch, frames, channels)."""
    if not 0 < rate < 1 << 30:
        raise ValueError(f"A sample rate is a positive number, got {rate}")
    if sounds.ndim not in (2, 3):
        raise ValueError(f"Tensor must be 3-D or 2-D, got: {list(sounds.shape)}")
    if sounds.ndim == 2:
        sounds = sounds[..., None]
    summary = protos.Summary()
    for i, sound in enumerate(sounds[:max_outputs]):
        name = f"{tag}/audio" if max_outputs == 1 else f"{tag}/audio/{i}"
        entry = summary.value.add(tag=name)
        entry.audio.sample_rate = rate
        entry.audio.num_channels, entry.audio.length_frames = sound.shape[1], sound.shape[0]
        entry.audio.encoded_audio_string = wav(sound, int(rate))
        entry.audio.content_type = "audio/wav"
    return summary
