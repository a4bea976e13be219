"""tf.summary (1.x): operations that give serialized summaries, and the writers that take them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import protos
from tapeflow.core.annotations import Collections, Tensor, TensorLike
from tapeflow.core.context import current_graph, executing_eagerly, name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, public
from tapeflow.graph.build.naming import name_after_scope
from tapeflow.ops.io import summary_rows as rows
from tapeflow.ops.io import summary_values
from tapeflow.summary.file_writer import FileWriter, FileWriterCache

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph
    from tapeflow.graph.run.session import BaseSession
    from tapeflow.v1.variable_scoping import VariableScope

_SUMMARIES = "summaries"


def __getattr__(name: str):
    if name in ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"):
        value = globals()[name] = getattr(protos, name)
        return value
    raise AttributeError(f"module 'tapeflow.v1.summary' has no attribute {name!r}")


def _clean(name: str | None):
    """A name without what tags may not have."""
    return re.sub(r"[^-/\w\.]", "_", name).lstrip("/") if name is not None else None


@contextlib.contextmanager
def _tagged(name: str | None, family: str | None, default_name=None):
    """The tag of a summary: the scope of its ops, with the family before and inside."""
    name, family = _clean(name), _clean(family)
    scope_name = f"{family}/{name}" if family is not None else name
    with name_scope(scope_name or default_name or "") as scope:
        yield (f"{family}/{scope.rstrip('/')}" if family is not None else scope.rstrip("/")) or name


def _summary(made: Tensor, collections):
    """The summary that a scope was opened for: it has the scope's name, and joins the collections."""
    name_after_scope(made)
    return _collected(made, collections)


def _collected(summary: Tensor, collections: Sequence[Any] | None):
    graph = current_graph()
    if graph is not None:
        for key in [_SUMMARIES] if collections is None else collections:
            graph.add_to_collection(key, summary)
    return summary


@public
def scalar(name: str | None, tensor: TensorLike, collections: Collections | None = None, family: str | None = None):
    """A serialized Summary of one number.

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      collections: names of collections of the graph that the summary is added to; None: that of all summaries.
      family: a prefix of the tag, which groups summaries.
    """
    with _tagged(name, family) as tag:
        return _summary(rows.ScalarSummary(tag, tensor), collections)


@public
def histogram(name: str | None, values: Any, collections: Collections | None = None, family: str | None = None):
    """A serialized Summary of the distribution of numbers. Raises InvalidArgumentError for NaN.

    Args:
      name: the name of the summary.
      values: the numbers, a tensor of any shape.
      collections: names of collections of the graph that the summary is added to; None: that of all summaries.
      family: a prefix of the tag, which groups summaries.
    """
    with _tagged(name, family, rows.HistogramSummary.name) as tag:
        return _summary(rows.HistogramSummary(tag, values), collections)


@public
def image(
    name: str | None, tensor: TensorLike, max_outputs: int = 3, collections: Collections | None = None,
    family: str | None = None,
):
    """A serialized Summary of the first images of (batch, height, width, channels).

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      max_outputs: how many are recorded at most.
      collections: names of collections of the graph that the summary is added to; None: that of all summaries.
      family: a prefix of the tag, which groups summaries.
    """
    with _tagged(name, family) as tag:
        return _summary(rows.ImageSummary(tag, tensor, max_images=max_outputs), collections)


@public
def audio(
    name: str | None, tensor: TensorLike, sample_rate, max_outputs: int = 3, collections: Collections | None = None,
    family: str | None = None,
):
    """A serialized Summary of the first sounds of (batch, frames) or (batch, frames, channels).

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      sample_rate: samples a second, in Hz.
      max_outputs: how many are recorded at most.
      collections: names of collections of the graph that the summary is added to; None: that of all summaries.
      family: a prefix of the tag, which groups summaries.
    """
    with _tagged(name, family) as tag:
        rate = convert_to_tensor(sample_rate, "float32")
        made = rows.AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs)
        return _summary(made, collections)


@public
def tensor_summary(
    name: str | None, tensor: Any, summary_description=None, collections: Collections | None = None,
    summary_metadata=None, family: str | None = None, display_name=None,
):
    """A serialized Summary of a tensor with metadata.

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      summary_description: has no effect.
      collections: names of collections of the graph that the summary is added to; None: that of all summaries.
      summary_metadata: a `SummaryMetadata` message.
      family: a prefix of the tag, which groups summaries.
      display_name: what is shown in place of the name.
    """
    meta = protos.SummaryMetadata() if summary_metadata is None else summary_metadata
    if summary_description is not None:
        meta.summary_description = str(summary_description)
    if display_name is not None:
        meta.display_name = display_name
    with _tagged(name, family) as tag:
        data = np.array(meta.SerializeToString(), object)
        return _summary(rows.TensorSummaryV2(tag, tensor, data), collections)


@public
def text(name: str | None, tensor: TensorLike, collections: Collections | None = None):
    """A serialized Summary of strings. Raises ValueError for other dtypes.

    Args:
      name: the name of the summary.
      tensor: what is recorded.
      collections: names of collections of the graph that the summary is added to; None: that of all summaries.
    """
    tensor = convert_to_tensor(tensor)
    if tensor.dtype.name != "string":
        raise ValueError(f"Expected tensor {name} to have dtype string, got {tensor.dtype}")
    meta = summary_values.metadata("text", content=b"")
    return tensor_summary(name, tensor, collections=collections, summary_metadata=meta)


@public
def merge(inputs, collections=None, name: str | None = None):
    """Summaries as one. Raises RuntimeError eagerly.

    Args:
      inputs: a list of serialized summaries.
      collections: names of collections of the graph that the summary is added to; None: that of all summaries.
      name: the name of the summary.
    """
    if executing_eagerly():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use "
            "tf.contrib.summary instead."
        )
    with name_scope(name or "Merge"):
        made = rows.MergeSummary([convert_to_tensor(_plain(x)) for x in inputs])
    return _collected(made, [] if collections is None else collections)


def _plain(value: Tensor):
    return np.array(value, object) if isinstance(value, bytes) else value


@public
def merge_all(key: str = _SUMMARIES, scope: str | VariableScope | None = None, name: str | None = None):
    """All summaries collected in the graph as one, None where there are none. Raises RuntimeError eagerly.

    Args:
      key: the name of the collection.
      scope: a prefix of the names of those that are merged (optional).
      name: the name of the summary.
    """
    if executing_eagerly():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use "
            "tf.contrib.summary instead."
        )
    found = current_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


def get_summary_description(node_def):
    """The SummaryDescription of a TensorSummary node. Raises ValueError for other nodes."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    description = protos.SummaryDescription()
    from google.protobuf import json_format

    json_format.Parse(node_def.attr["description"].s.decode(), description)
    return description


def initialize(graph: Graph | None = None, session: BaseSession | None = None):
    """Writes a graph, if one is given; writers start by themselves."""
    from tapeflow.v1.summary_recording import initialize as start

    start(graph, session)


def all_v2_summary_ops():
    """The summary operations of 2.x in the graph; None eagerly."""
    found = current_graph()
    return None if found is None else found.get_collection("_SUMMARY_V2")


__all__ = [
    "FileWriter",
    "FileWriterCache",
    "all_v2_summary_ops",
    "audio",
    "get_summary_description",
    "histogram",
    "image",
    "initialize",
    "merge",
    "merge_all",
    "scalar",
    "tensor_summary",
    "text",
]


boundaries(globals())
