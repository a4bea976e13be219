"""Summaries of 1.x as operations: each gives a serialized Summary, a scalar string."""

from __future__ import annotations

import io
import wave
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.io import summary_values
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import ANY, REAL, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator


def _string(message):
    return np.array(message.SerializeToString(), object)


def _text(tag):
    tag = np.asarray(tag).item() if np.ndim(tag) == 0 or np.size(tag) == 1 else tag
    return tag.decode() if isinstance(tag, bytes) else str(tag)


@op(
    "ScalarSummary",
    "tags: string, values: T -> summary: string",
    types={"T": REAL},
    shape=shapes.scalar,
)
def ScalarSummary(xp: ModuleType, tags: Array, values: Array):
    """Numbers under tags of the same shape."""
    if np.shape(tags) != np.shape(values):
        raise InvalidArgumentError(
            None,
            None,
            f"tags and values are not the same shape: {list(np.shape(tags))} != "
            f"{list(np.shape(values))}",
        )
    summary = protos.Summary()
    for tag, value in zip(np.ravel(tags), np.ravel(values)):
        summary.value.add(tag=_text(tag), simple_value=float(value))
    return _string(summary)


ScalarSummary.gradient(None)


@ScalarSummary.samples
def _(rng: SampleGenerator):
    yield Sample(np.array(b"a", object), np.float32(1.5))
    yield Sample(np.array([b"a", b"b"], object), np.array([1, 2], np.int32))
    yield Sample(np.array(b"a", object), np.zeros(2, np.float32), raises=InvalidArgumentError)


@ScalarSummary.reference
def _(tags: np.ndarray, values: np.ndarray):
    parts = [
        protos.Summary.Value(tag=t.decode(), simple_value=float(v))
        for t, v in zip(np.ravel(tags), np.ravel(values))
    ]
    return np.array(protos.Summary(value=parts).SerializeToString(), object)


@op(
    "HistogramSummary",
    "tag: string, values: T -> summary: string",
    types={"T": Preferring(REAL)},
    shape=shapes.scalar,
)
def HistogramSummary(xp: ModuleType, tag: Array, values: Array):
    """The distribution of numbers."""
    if np.ndim(tag):
        raise InvalidArgumentError(None, None, "tags must be scalar")
    try:
        return _string(summary_values.histogram_summary(_text(tag), np.asarray(values)))
    except ValueError as error:
        raise InvalidArgumentError(None, None, str(error)) from None


HistogramSummary.gradient(None)


@HistogramSummary.samples
def _(rng):
    yield Sample(np.array(b"h", object), np.float32([1, 2, 2, -5, 1e30]))
    yield Sample(np.array(b"h", object), np.float32([np.nan]), raises=InvalidArgumentError)
    yield Sample(np.array([b"h"], object), np.float32([1]), raises=InvalidArgumentError)


@HistogramSummary.reference
def _(tag, values):
    summary = protos.Summary()
    entry = summary.value.add(tag=tag.item().decode())
    values = values.astype(np.float64)
    edges = [1e-12]
    while edges[-1] * 1.1 < 1e20:
        edges.append(edges[-1] * 1.1)
    largest = np.finfo(np.float64).max
    edges = np.array([-largest, *[-e for e in reversed(edges)], 0.0, *edges, largest])
    counts = [
        int(((values < high) & (values >= low)).sum())
        for low, high in zip([-np.inf, *edges[:-1]], edges)
    ]
    entry.histo.min, entry.histo.max, entry.histo.num = values.min(), values.max(), values.size
    entry.histo.sum, entry.histo.sum_squares = values.sum(), (values**2).sum()
    for i, (edge, count) in enumerate(zip(edges, counts)):
        if count or i + 1 == len(edges) or counts[i + 1]:
            entry.histo.bucket_limit.append(edge)
            entry.histo.bucket.append(count)
    return np.array(summary.SerializeToString(), object)


@op(
    "ImageSummary",
    "tag: string, tensor: T -> summary: string",
    types={"T": Preferring((dtypes.float32, dtypes.uint8, dtypes.float16, dtypes.float64))},
    attrs={"max_images": 3},
    shape=shapes.scalar,
)
def ImageSummary(xp: ModuleType, tag: Array, tensor: Array, max_images: int):
    """The first images of (batch, height, width, channels)."""
    if max_images <= 0:
        raise InvalidArgumentError(None, None, f"max_images must be > 0, got {max_images}")
    try:
        return _string(summary_values.image_summary(_text(tag), np.asarray(tensor), max_images))
    except ValueError as error:
        raise InvalidArgumentError(None, None, str(error)) from None


ImageSummary.gradient(None)


@ImageSummary.samples
def _(rng):
    pixel = np.full([1, 1, 1, 1], 7, np.uint8)
    # One grey pixel, written by hand: signature, IHDR, IDAT of (no filter, 7), IEND.
    file = bytes.fromhex(
        "89504e470d0a1a0a" "0000000d49484452" "0000000100000001" "0800000000" "3a7e9b55"
        "0000000a49444154" "789c6360070000090008" "2023c38c" "0000000049454e44ae426082"
    )  # fmt: skip
    value = {"tag": "i/image"}
    value["image"] = {"height": 1, "width": 1, "colorspace": 1, "encoded_image_string": file}
    expected = protos.Summary(value=[value]).SerializeToString()
    yield Sample(np.array(b"i", object), pixel, max_images=1, expect=np.array(expected, object))
    bad = np.zeros([1, 2, 2, 5], np.uint8)
    yield Sample(np.array(b"i", object), bad, raises=InvalidArgumentError)


@op(
    "AudioSummaryV2",
    "tag: string, tensor: float32, sample_rate: float32 -> summary: string",
    attrs={"max_outputs": 3},
    shape=shapes.scalar,
)
def AudioSummaryV2(xp: ModuleType, tag: Array, tensor: Array, sample_rate: Array, max_outputs: int):
    """The first sounds of (batch, frames) or (batch, frames, channels)."""
    if np.ndim(sample_rate):
        raise InvalidArgumentError(None, None, "sample_rate must be scalar")
    try:
        rate = float(sample_rate)
        if not 0 < rate < 2**31:
            raise ValueError(f"sample_rate must be positive and below 2**31, got {rate}")
        return _string(
            summary_values.audio_summary(_text(tag), np.asarray(tensor), rate, max_outputs)
        )
    except ValueError as error:
        raise InvalidArgumentError(None, None, str(error)) from None


AudioSummaryV2.gradient(None)


@AudioSummaryV2.samples
def _(rng):
    tag, rate = np.array(b"a", object), np.float32(8000)
    yield Sample(tag, np.float32([[0.0, 0.5, -0.25]]), rate)
    yield Sample(tag, np.zeros([2], np.float32), rate, raises=InvalidArgumentError)


@AudioSummaryV2.reference
def _(tag: np.ndarray, tensor: np.ndarray, sample_rate: np.ndarray, max_outputs: int):
    value = protos.Summary.Value(tag=f"{tag.item().decode()}/audio/0")
    with io.BytesIO() as buffer:
        with wave.open(buffer, "wb") as file:
            file.setparams((1, 2, int(sample_rate), 0, "NONE", ""))
            file.writeframes((tensor[0] * 32768).astype("<i2").tobytes())
        value.audio.encoded_audio_string = buffer.getvalue()
    value.audio.sample_rate, value.audio.num_channels = float(sample_rate), 1
    value.audio.length_frames, value.audio.content_type = tensor.shape[1], "audio/wav"
    return np.array(protos.Summary(value=[value]).SerializeToString(), object)


@op(
    "TensorSummaryV2",
    "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string",
    types={"T": ANY},
    shape=shapes.scalar,
)
def TensorSummaryV2(xp: ModuleType, tag: Array, tensor: Array, serialized_summary_metadata: Array):
    """A tensor with metadata."""
    if np.ndim(serialized_summary_metadata):
        raise InvalidArgumentError(None, None, "serialized_summary_metadata must be scalar")
    meta = np.asarray(serialized_summary_metadata).item()
    meta = meta.encode() if isinstance(meta, str) else meta
    try:
        return _string(summary_values.tensor_summary(_text(tag), np.asarray(tensor), meta))
    except ValueError as error:
        raise InvalidArgumentError(None, None, str(error)) from None


TensorSummaryV2.gradient(None)


@TensorSummaryV2.samples
def _(rng):
    meta = protos.SummaryMetadata(display_name="d").SerializeToString()
    yield Sample(np.array(b"t", object), np.int32([1, 2]), np.array(meta, object))


@TensorSummaryV2.reference
def _(tag: np.ndarray, tensor: np.ndarray, serialized_summary_metadata: np.ndarray):
    value = protos.Summary.Value(tag=tag.item().decode())
    value.tensor.dtype = 3  # DT_INT32
    value.tensor.tensor_shape.dim.add(size=2)
    value.tensor.tensor_content = tensor.tobytes()
    value.metadata.ParseFromString(serialized_summary_metadata.item())
    return np.array(protos.Summary(value=[value]).SerializeToString(), object)


@op("MergeSummary", "inputs: N>=1*string -> summary: string", shape=shapes.scalar)
def MergeSummary(xp: ModuleType, inputs: Sequence[Array]):
    """All values of summaries. Raises InvalidArgumentError for two of one tag, or bytes that are no Summary."""
    merged, tags = protos.Summary(), set()
    for part in inputs:
        for data in np.ravel(part):
            try:
                summary = protos.Summary.FromString(data)
            except Exception:  # protobuf's own class differs between its versions
                raise InvalidArgumentError(
                    None, None, "Could not parse one of the summary inputs"
                ) from None
            for value in summary.value:
                if value.tag in tags:
                    raise InvalidArgumentError(
                        None, None, f"Duplicate tag {value.tag} found in summary inputs"
                    )
                if value.tag:
                    tags.add(value.tag)
                merged.value.add().CopyFrom(value)
    return _string(merged)


MergeSummary.gradient(None)


@MergeSummary.samples
def _(rng: SampleGenerator):
    a = np.array(
        protos.Summary(value=[{"tag": "a", "simple_value": 1.0}]).SerializeToString(), object
    )
    b = np.array(
        protos.Summary(value=[{"tag": "b", "simple_value": 2.0}]).SerializeToString(), object
    )
    yield Sample([a, b], expect=np.array(a.item() + b.item(), object))
    yield Sample([a, a], raises=InvalidArgumentError)
