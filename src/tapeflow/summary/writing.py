"""`tf.summary` (2.x): scalars, histograms, images, text and sounds for TensorBoard."""

from __future__ import annotations

import contextlib
import re
import time

import numpy as np

from tapeflow import protos
from tapeflow.core.context import current_name_scope, name_scope_v1
from tapeflow.core.errors import DataLossError
from tapeflow.core.public import boundaries, public
from tapeflow.ops import summary_values as values
from tapeflow.ops.summary_encoding import bytes_of_images, png, wav
from tapeflow.summary.recording import (
    NoopWriter,
    Slot,
    SummaryWriter,
    condition_scope,
    flush_slot,
    is_recording,
    record,
    state,
)


@public
def create_file_writer(
    logdir,
    max_queue=None,
    flush_millis=None,
    filename_suffix=None,
    name=None,
    experimental_trackable=False,
    experimental_mesh=None,
):
    """A SummaryWriter of a new event file in a folder.

    Events wait in memory until there are `max_queue` (10), or for `flush_millis` (2 minutes), or until flush.
    """
    return SummaryWriter(logdir, max_queue, flush_millis, filename_suffix)


def create_noop_writer():
    """A SummaryWriter that records nothing."""
    return NoopWriter()


def record_if(condition):
    """A context in which summaries are recorded where `condition` holds: a bool, a bool tensor, or a function."""
    return condition_scope(condition)


def should_record_summaries():
    """Whether summaries of this thread are recorded: a bool tensor or False."""
    return is_recording(True)


def get_step():
    """The step of summaries that are given none, or None."""
    return state.step


def set_step(step):
    """Sets the step of summaries that are given none: a number, a tensor, a variable."""
    state.step = step


@public
def flush(writer=None, name=None):
    """Writes all events that wait, of the default writer unless another is given."""
    writer = state.writer if writer is None else writer
    if isinstance(writer, Slot):
        return flush_slot(writer)
    return None if writer is None else writer.flush()


@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """A context for the ops of a summary; gives the tag, with the name scopes around it, and the scope.

    The scope is one of the graph of the tensors in `values`.
    """
    name = name or default_name
    around = current_name_scope()
    tag = f"{around}{name}" if around else name
    legal = re.sub(r"[^A-Za-z0-9_./\\-]", "", name).lstrip("_./-\\")
    with name_scope_v1(f"{legal or default_name}", None, values) as scope:
        yield tag, scope


def _step(step):
    step = state.step if step is None else step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    return step


@public
def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor (or what a function gives, called only if summaries are recorded) under a tag.

    Returns whether it was written. Raises ValueError where there is a writer and no step.
    """
    return _write(tag, tensor, step, metadata)


def _write(tag, tensor, step, metadata, make=None):
    recording = is_recording(True)
    if recording is False:
        return record(False, [], _nothing)
    step = _step(step)
    metadata = metadata.SerializeToString() if hasattr(metadata, "SerializeToString") else metadata
    tensor = tensor() if callable(tensor) and not hasattr(tensor, "dtype") else tensor

    def put(file, step, value):
        value = value if make is None else make(value)
        file.add_summary(values.tensor_summary(tag, value, metadata), int(step))

    return record(recording, [step, tensor], put)


def _nothing(file):
    """Writes nothing."""


@public
def scalar(name, data, step=None, description=None):
    """Writes one number. Raises ValueError for tensors that are no scalars."""
    with summary_scope(name, "scalar_summary") as (tag, _):
        return _write(tag, data, step, values.metadata("scalars", description), _scalar)


def _scalar(value):
    value = np.asarray(value)
    if value.ndim:
        raise ValueError(f"A scalar summary is of a scalar, not of shape {value.shape}")
    return value.astype(np.float32)


@public
def histogram(name, data, step=None, buckets=None, description=None):
    """Writes how many of the numbers lie in each of `buckets` (30) intervals of one width."""
    count = 30 if buckets is None else buckets
    with summary_scope(name, "histogram_summary") as (tag, _):
        return _write(
            tag, data, step, values.metadata("histograms", description),
            lambda value: values.buckets_of(value, count),
        )  # fmt: skip


@public
def image(name, data, step=None, max_outputs=3, description=None):
    """Writes the first images of (batch, height, width, channels), uint8 or floats from 0 to 1."""

    def make(value):
        if value.ndim != 4:
            raise ValueError(
                f"Images have shape (batch, height, width, channels), got {value.shape}"
            )
        encoded = [png(one) for one in bytes_of_images(value[:max_outputs])]
        sizes = [str(value.shape[2]).encode(), str(value.shape[1]).encode()]
        return np.array([*sizes, *encoded], object)

    with summary_scope(name, "image_summary") as (tag, _):
        return _write(tag, data, step, values.metadata("images", description), make)


@public
def text(name, data, step=None, description=None):
    """Writes strings, which TensorBoard shows as Markdown. Raises ValueError for other dtypes."""

    def make(value):
        value = np.asarray(value)
        if value.dtype.kind not in "OSU":
            raise ValueError(f"A text summary is of strings, not of {value.dtype}")
        return value

    with summary_scope(name, "text_summary") as (tag, _):
        return _write(tag, data, step, values.metadata("text", description), make)


@public
def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Writes the first sounds of (batch, frames, channels), numbers from -1 to 1. Raises ValueError for shapes."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    rate = int(sample_rate.numpy() if hasattr(sample_rate, "numpy") else sample_rate)

    def make(value):
        if value.ndim != 3:
            raise ValueError(f"Sounds have shape (batch, frames, channels), got {value.shape}")
        encoded = [[wav(sound, rate), b""] for sound in value[:max_outputs]]
        return np.array(encoded, object).reshape(-1, 2)

    meta = values.metadata("audio", description, b"\x10\x0b")  # encoding: WAV
    with summary_scope(name, "audio_summary") as (tag, _):
        return _write(tag, data, step, meta, make)


@public
def write_raw_pb(tensor, step=None, name=None):
    """Writes a serialized Summary, or several in one event. Raises DataLossError for malformed bytes."""
    from google.protobuf.message import DecodeError

    recording = is_recording(True)
    if recording is False:
        return record(False, [], _nothing)

    def put(file, step, data):
        merged = protos.Summary()
        for i, one in enumerate(np.ravel(np.asarray(data, object))):
            try:
                merged.MergeFromString(one)
            except DecodeError:
                raise DataLossError(
                    None, None, f"Bad tf.compat.v1.Summary binary proto tensor string at index {i}"
                ) from None
        file.add_summary(merged, int(step))

    return record(recording, [_step(step), tensor], put)


@public
def graph(graph_data):
    """Writes a graph, or a GraphDef. Raises ValueError for anything else."""
    recording = is_recording(True)
    if recording is False:
        return record(False, [], _nothing)
    definition = graph_data.as_graph_def() if hasattr(graph_data, "as_graph_def") else graph_data
    if not hasattr(definition, "SerializeToString"):
        raise ValueError("'graph_data' is not tf.Graph or tf.compat.v1.GraphDef")
    event = protos.Event(wall_time=time.time(), step=0, graph_def=definition.SerializeToString())
    return record(recording, [], lambda file: file.add(event))


boundaries(globals())
