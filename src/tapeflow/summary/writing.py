"""`tf.summary` (2.x): scalars, histograms, images, text and sounds for TensorBoard."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core.annotations import Tensor, TensorLike, Variable
from tapeflow.core.context import current_name_scope, name_scope_v1
from tapeflow.core.errors import DataLossError
from tapeflow.core.public import boundaries, public
from tapeflow.ops.io import summary_values as values
from tapeflow.ops.io.summary_encoding import bytes_of_images, png, wav
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
    logdir: str, max_queue=None, flush_millis=None, filename_suffix=None, name: str | None = None,
    experimental_trackable: bool = False, experimental_mesh=None,
):
    """Make a writer of summaries to a new event file.

    Args:
      logdir: the folder.
      max_queue: how many events wait in memory at most; None: 10.
      flush_millis: how long they wait at most; None: two minutes.
      filename_suffix: how the name of the file ends; None: ".v2".
      name: not used.
      experimental_trackable: not used: all writers can be tracked.
      experimental_mesh: not used.

    Returns:
      A `tf.summary.SummaryWriter`.
    """
    return SummaryWriter(logdir, max_queue, flush_millis, filename_suffix)


def create_noop_writer():
    """A SummaryWriter that records nothing."""
    return NoopWriter()


def record_if(condition: Any):
    """A context in which summaries are recorded where `condition` holds: a bool, a bool tensor, or a function."""
    return condition_scope(condition)


def should_record_summaries():
    """Whether summaries of this thread are recorded: a bool tensor or False."""
    return is_recording(True)


def get_step():
    """The step of summaries that are given none, or None."""
    return state.step


def set_step(step: Variable | None):
    """Sets the step of summaries that are given none: a number, a tensor, a variable."""
    state.step = step


@public
def flush(writer=None, name: str | None = None):
    """Writes all events that wait, of the default writer unless another is given."""
    writer = state.writer if writer is None else writer
    if isinstance(writer, Slot):
        return flush_slot(writer)
    return None if writer is None else writer.flush()


@contextlib.contextmanager
def summary_scope(name: str | None, default_name: str = "summary", values: Sequence[Tensor] | None = None):
    """Enter a context for the operations of a summary.

    Args:
      name: the name of the summary.
      default_name: the name where `name` is empty.
      values: tensors in whose graph the scope is (optional).

    Returns:
      A context manager that gives (tag, scope): the name with the name scopes around it, and the scope of
      operations.
    """
    name = name or default_name
    around = current_name_scope()
    tag = f"{around}{name}" if around else name
    legal = re.sub(r"[^A-Za-z0-9_./\\-]", "", name).lstrip("_./-\\")
    with name_scope_v1(f"{legal or default_name}", None, values) as scope:
        yield tag, scope


def _step(step: int | None):
    step = state.step if step is None else step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    return step


@public
def write(tag: str, tensor: Any, step: int | None = None, metadata=None, name: str | None = None):
    """Write a tensor.

    Args:
      tag: the tag, as it is.
      tensor: a tensor; or a function that returns one, called only if summaries are recorded.
      step: the number of the step; None: that of `tf.summary.experimental.set_step`.
      metadata: a `SummaryMetadata` message that says which plugin shows it (optional).
      name: a name for the operation (optional).

    Returns:
      Whether it was written.

    Raises:
      ValueError: where there is a writer but no step.
    """
    return _write(tag, tensor, step, metadata)


def _write(tag: str, tensor: TensorLike, step: int | None, metadata, make: Callable[..., Any] | None = None):
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
def scalar(name: str | None, data: TensorLike, step: int | None = None, description: str | None = None):
    """Write a number.

    Args:
      name: the tag, without the name scopes around.
      data: a real scalar; or a function that returns one, called only if summaries are recorded.
      step: the number of the step; None: that of `tf.summary.experimental.set_step`.
      description: a text in Markdown (optional).

    Returns:
      Whether it was written.

    Raises:
      ValueError: for tensors that are no scalars, and where there is a writer but no step.
    """
    with summary_scope(name, "scalar_summary") as (tag, _):
        return _write(tag, data, step, values.metadata("scalars", description), _scalar)


def _scalar(value: TensorLike):
    value = np.asarray(value)
    if value.ndim:
        raise ValueError(f"A scalar summary is of a scalar, not of shape {value.shape}")
    return value.astype(np.float32)


@public
def histogram(
    name: str | None, data: TensorLike, step: int | None = None, buckets: int | None = None, description=None
):
    """Write how many numbers lie in each of several intervals of one width.

    Args:
      name: the tag, without the name scopes around.
      data: a real tensor; or a function that returns one, called only if summaries are recorded.
      step: the number of the step; None: that of `tf.summary.experimental.set_step`.
      buckets: how many intervals; None: 30.
      description: a text in Markdown (optional).

    Returns:
      Whether it was written.

    Raises:
      ValueError: where there is a writer but no step.
    """
    count = 30 if buckets is None else buckets
    with summary_scope(name, "histogram_summary") as (tag, _):
        return _write(
            tag, data, step, values.metadata("histograms", description),
            lambda value: values.buckets_of(value, count),
        )  # fmt: skip


@public
def image(
    name: str | None, data: TensorLike, step: int | None = None, max_outputs: int = 3, description=None
):
    """Write images.

    Args:
      name: the tag, without the name scopes around.
      data: a tensor `[batch, height, width, channels]` of uint8, or of floating numbers from 0 to 1, with 1 to 4
        channels; or a function that returns one, called only if summaries are recorded.
      step: the number of the step; None: that of `tf.summary.experimental.set_step`.
      max_outputs: how many images of the batch are written at most.
      description: a text in Markdown (optional).

    Returns:
      Whether it was written.

    Raises:
      ValueError: for other shapes, and where there is a writer but no step.
    """

    def make(value: np.ndarray):
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
def text(name: str | None, data: TensorLike, step: int | None = None, description=None):
    """Write strings, which TensorBoard shows as Markdown.

    Args:
      name: the tag, without the name scopes around.
      data: a string tensor; or a function that returns one, called only if summaries are recorded.
      step: the number of the step; None: that of `tf.summary.experimental.set_step`.
      description: a text in Markdown (optional).

    Returns:
      Whether it was written.

    Raises:
      ValueError: for other dtypes, and where there is a writer but no step.
    """

    def make(value: TensorLike):
        value = np.asarray(value)
        if value.dtype.kind not in "OSU":
            raise ValueError(f"A text summary is of strings, not of {value.dtype}")
        return value

    with summary_scope(name, "text_summary") as (tag, _):
        return _write(tag, data, step, values.metadata("text", description), make)


@public
def audio(
    name: str | None, data: TensorLike, sample_rate: int, step: int | None = None, max_outputs: int = 3,
    encoding=None, description=None,
):
    """Write sounds.

    Args:
      name: the tag, without the name scopes around.
      data: a floating tensor `[batch, frames, channels]`, of numbers from -1 to 1; or a function that returns one,
        called only if summaries are recorded.
      sample_rate: samples a second.
      step: the number of the step; None: that of `tf.summary.experimental.set_step`.
      max_outputs: how many sounds of the batch are written at most.
      encoding: None or "wav".
      description: a text in Markdown (optional).

    Returns:
      Whether it was written.

    Raises:
      ValueError: for other shapes and encodings, and where there is a writer but no step.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    rate = int(sample_rate.numpy() if hasattr(sample_rate, "numpy") else sample_rate)

    def make(value: np.ndarray):
        if value.ndim != 3:
            raise ValueError(f"Sounds have shape (batch, frames, channels), got {value.shape}")
        encoded = [[wav(sound, rate), b""] for sound in value[:max_outputs]]
        return np.array(encoded, object).reshape(-1, 2)

    meta = values.metadata("audio", description, b"\x10\x0b")  # encoding: WAV
    with summary_scope(name, "audio_summary") as (tag, _):
        return _write(tag, data, step, meta, make)


@public
def write_raw_pb(tensor: TensorLike, step: int | None = None, name: str | None = None):
    """Write serialized summaries.

    Args:
      tensor: serialized `Summary` messages, which are merged to one event: a string tensor.
      step: the number of the step; None: that of `tf.summary.experimental.set_step`.
      name: a name for the operation (optional).

    Returns:
      Whether it was written.

    Raises:
      DataLossError: for other bytes.
      ValueError: where there is a writer but no step.
    """
    from google.protobuf.message import DecodeError

    recording = is_recording(True)
    if recording is False:
        return record(False, [], _nothing)

    def put(file, step: int, data):
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
def graph(graph_data: int):
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
