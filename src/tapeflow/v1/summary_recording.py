"""The functions of `tf.contrib.summary`; their step is the global step unless one is given."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import protos
from tapeflow.core.annotations import TensorLike
from tapeflow.core.context import current_graph, executing_eagerly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import names_itself, public
from tapeflow.graph.run.session import get_default_session
from tapeflow.ops.io import summary_values as values
from tapeflow.ops.math.comparison import equal
from tapeflow.summary.recording import (
    INITIALIZERS,
    NoopWriter,
    SummaryWriter,
    condition_scope,
    is_recording,
    record,
    state,
)
from tapeflow.summary.writing import flush as flush_writer
from tapeflow.summary.writing import summary_scope
from tapeflow.train.global_step import get_or_create_global_step

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph
    from tapeflow.graph.run.session import BaseSession

_COLLECTION = "_SUMMARY_V2"


@public
@names_itself
def create_file_writer(
    logdir: str, max_queue: int | None = None, flush_millis=None, filename_suffix=None, name: str | None = None
):
    """A SummaryWriter of a folder; one that records nothing for None.

    Args:
      logdir: the folder.
      max_queue: how many events are kept before they are written.
      flush_millis: after how many milliseconds events are written at the latest.
      filename_suffix: the end of the name of the file.
      name: the name of the summary.
    """
    if logdir is None:
        return NoopWriter()
    shared = f"logdir:{logdir}" if name is None else name
    return SummaryWriter(logdir, max_queue, flush_millis, filename_suffix, shared, reopens=True)


create_summary_file_writer = create_file_writer


def should_record_summaries():
    """Whether summaries are recorded: only inside of a context that says so."""
    return is_recording(False)


def always_record_summaries():
    """A context in which all summaries are recorded."""
    return condition_scope(True)


def never_record_summaries():
    """A context in which no summaries are recorded."""
    return condition_scope(False)


@contextlib.contextmanager
def record_summaries_every_n_global_steps(n: int, global_step: TensorLike | None = None):
    """A context in which summaries are recorded when the global step is a multiple of n."""
    step = get_or_create_global_step() if global_step is None else global_step

    def condition():
        return equal(convert_to_tensor(step) % n, 0)

    with condition_scope(condition if executing_eagerly() else condition()):
        yield


def initialize(graph: Graph | None = None, session: BaseSession | None = None):
    """Starts the writers of the graph in a session, and writes a graph if one is given.

    Raises ValueError in a graph without a session.
    """
    if executing_eagerly():
        if graph is not None and state.writer is not None:
            _write_graph(graph, 0)
        return
    if state.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError(
            "Argument `session must be passed if no default session is available"
        )
    session.run(summary_writer_initializer_op())
    if graph is not None:
        session.run(_write_graph(graph, 0))


def summary_writer_initializer_op():
    """The operations that start the writers of the graph. Raises RuntimeError eagerly."""
    if executing_eagerly():
        raise RuntimeError(
            "tf.contrib.summary.summary_writer_initializer_op is only supported in graph mode."
        )
    return list(current_graph().get_collection(INITIALIZERS))


def all_summary_ops():
    """The summary operations of the graph; None eagerly."""
    found = current_graph()
    return None if found is None else found.get_collection(_COLLECTION)


@public
def flush(writer=None, name: str | None = None):
    """Writes all events that wait, of the default writer unless another is given."""
    return flush_writer(writer)


def _write(
    name: str | None, default_name: str, family: str | None, step: int | None, inputs: Sequence[TensorLike],
    make: Callable[..., Any],
):
    recording = is_recording(False)
    if recording is False:
        return record(False, [], _nothing)
    step = get_or_create_global_step() if step is None else step
    scope = f"{family}/{name}" if family else name
    with summary_scope(scope, default_name) as (tag, _):

        def put(file, step: Any, *arrays):
            file.add_summary(make(tag, *arrays), int(step))

        done = record(recording, [step, *inputs], put)
    graph_now = current_graph()
    if graph_now is not None:
        graph_now.add_to_collection(_COLLECTION, done)
    return done


def _nothing(file):
    """Writes nothing."""


@public
def scalar(name: str | None, tensor: TensorLike, family: str | None = None, step=None):
    """Write one number.

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      family: a prefix of the tag, which groups summaries.
      step: the number of the step; None: the global step.
    """
    return _write(name, "scalar", family, step, [tensor], values.scalar_summary)


@public
def histogram(name: str | None, tensor: TensorLike, family: str | None = None, step=None):
    """Write the distribution of numbers.

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      family: a prefix of the tag, which groups summaries.
      step: the number of the step; None: the global step.
    """
    return _write(name, "histogram", family, step, [tensor], values.histogram_summary)


@public
def image(
    name: str | None, tensor: TensorLike, bad_color=None, max_images: int = 3, family: str | None = None, step=None
):
    """Write the first images of (batch, height, width, channels).

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      bad_color: the color of pixels that are not finite: 4 numbers, uint8.
      max_images: how many are recorded at most.
      family: a prefix of the tag, which groups summaries.
      step: the number of the step; None: the global step.
    """

    def make(tag: str, images: np.ndarray):
        return values.image_summary(tag, images, max_images, bad_color)

    return _write(name, "image", family, step, [tensor], make)


@public
def audio(name: str | None, tensor: TensorLike, sample_rate, max_outputs, family: str | None = None, step=None):
    """Write the first sounds of (batch, frames) or (batch, frames, channels).

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      sample_rate: samples a second, in Hz.
      max_outputs: how many are recorded at most.
      family: a prefix of the tag, which groups summaries.
      step: the number of the step; None: the global step.
    """

    def make(tag: str, sounds, rate: float):
        return values.audio_summary(tag, sounds, float(rate), max_outputs)

    return _write(name, "audio", family, step, [tensor, np.float32(sample_rate)], make)


@public
def generic(name: str | None, tensor: TensorLike, metadata=None, family: str | None = None, step=None):
    """Write a tensor, with metadata as a message or as bytes.

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      metadata: a `SummaryMetadata` message or its bytes.
      family: a prefix of the tag, which groups summaries.
      step: the number of the step; None: the global step.
    """
    meta = metadata.SerializeToString() if hasattr(metadata, "SerializeToString") else metadata
    meta = meta.numpy() if hasattr(meta, "numpy") else meta
    if isinstance(meta, str):
        meta = meta.encode()

    def make(tag: str, value: np.ndarray):
        return values.tensor_summary(tag, value, meta or None)

    return _write(name, "tensor", family, step, [tensor], make)


@public
def import_event(tensor: TensorLike, name: str | None = None):
    """Writes a serialized Event."""
    return record(is_recording(False), [tensor], lambda file, data: file.add(np.asarray(data).item()))


event = import_event


@public
def graph(param: Any, step: int | None = None, name: str | None = None):
    """Write a GraphDef, given as a message, as bytes or as a graph, also where no other summaries are recorded.

    Raises TypeError for anything else.

    Args:
      param: the graph.
      step: the number of the step; None: the global step.
      name: the name of the summary.
    """
    if state.writer is None:
        return None
    if isinstance(param, (bytes, str)) or hasattr(param, "numpy"):
        data = param.numpy() if hasattr(param, "numpy") else param
        param = protos.GraphDef.FromString(data.encode() if isinstance(data, str) else data)
    return _write_graph(param, get_or_create_global_step() if step is None else step)


def _write_graph(param: Any, step: int):
    definition = param.as_graph_def() if hasattr(param, "as_graph_def") else param
    if not hasattr(definition, "SerializeToString"):
        raise TypeError(f"Argument 'param' must be a graph, a GraphDef or its bytes, got {type(param)}")
    data = definition.SerializeToString()

    def put(file, step: Any):
        file.add(protos.Event(wall_time=time.time(), step=int(step), graph_def=data))

    return record(True, [step], put)
