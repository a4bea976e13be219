"""`tf.summary` (2.x): what TensorBoard shows."""

from tapeflow.summary import experimental
from tapeflow.summary.recording import SummaryWriter
from tapeflow.summary.traces import trace_export, trace_off, trace_on
from tapeflow.summary.writing import (
    audio,
    create_file_writer,
    create_noop_writer,
    flush,
    graph,
    histogram,
    image,
    record_if,
    scalar,
    should_record_summaries,
    text,
    write,
)

__all__ = [
    "SummaryWriter",
    "audio",
    "create_file_writer",
    "create_noop_writer",
    "experimental",
    "flush",
    "graph",
    "histogram",
    "image",
    "record_if",
    "scalar",
    "should_record_summaries",
    "text",
    "trace_export",
    "trace_off",
    "trace_on",
    "write",
]
