"""`tf.summary.FileWriter` of 1.x: adds summaries, graphs and logs to an event file."""

from __future__ import annotations

import os
import time
import warnings
import weakref
from typing import Any

from tapeflow import protos
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_methods
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.summary.events import EventFile

# The files of each session, by folder.
_of_sessions: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


@public_methods
class FileWriter:
    """Adds events to a new event file of a folder.

    Args:
      graph: a graph to add first.
      max_queue: how many events may wait in memory.
      flush_secs: how long they may.
      filename_suffix: the end of the file's name.
    """

    def __init__(
        self, logdir: str, graph: Graph | None = None, max_queue: int = 10, flush_secs: int = 120,
        graph_def=None, filename_suffix=None, session=None,
    ):
        self._logdir = os.fspath(logdir)
        self._arguments = (self._logdir, max_queue, flush_secs, filename_suffix or "")
        self._file = self._first(session)
        self._file.flush()
        self._seen_tags: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)

    def _first(self, session):
        """The file to begin with; the writers of one session share that of a folder."""
        if session is None:
            return EventFile(*self._arguments)
        files = _of_sessions.setdefault(session, {})
        known = files.get(self._logdir)
        if known is None or known.closed:
            known = files[self._logdir] = EventFile(*self._arguments)
        return known

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def get_logdir(self):
        """The folder."""
        return self._logdir

    def add_summary(self, summary: Any, global_step: TensorLike | None = None):
        """Adds a Summary, or the bytes of one. Metadata of a tag is only written once."""
        if isinstance(summary, bytes) or hasattr(summary, "numpy"):
            data = summary.numpy() if hasattr(summary, "numpy") else summary
            summary = protos.Summary.FromString(data)
        else:
            copy = protos.Summary()
            copy.CopyFrom(summary)
            summary = copy
        for value in summary.value:
            if not value.HasField("metadata"):
                continue
            if value.tag in self._seen_tags:
                value.ClearField("metadata")
            else:
                self._seen_tags.add(value.tag)
        self._add(protos.Event(summary=summary), global_step)

    def add_session_log(self, session_log, global_step: TensorLike | None = None):
        """Adds a SessionLog."""
        self._add(protos.Event(session_log=session_log), global_step)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Adds a graph, or a GraphDef. Raises TypeError for anything else."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        definition = (
            given.as_graph_def(add_shapes=True) if hasattr(given, "as_graph_def") else given
        )
        if not hasattr(definition, "SerializeToString"):
            raise TypeError(
                "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`"
            )
        self._add(protos.Event(graph_def=definition.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Adds a MetaGraphDef. Raises TypeError for anything else."""
        if not hasattr(meta_graph_def, "SerializeToString"):
            raise TypeError("meta_graph_def must be type MetaGraphDef, saw type: "
                            f"{type(meta_graph_def)}")  # fmt: skip
        self._add(protos.Event(meta_graph_def=meta_graph_def.SerializeToString()), global_step)

    def add_run_metadata(self, run_metadata, tag: str, global_step=None):
        """Adds a RunMetadata under a tag. Raises ValueError for a tag that was used."""
        if tag in self._seen_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._seen_tags.add(tag)
        event = protos.Event()
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = run_metadata.SerializeToString()
        self._add(event, global_step)

    def _add(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step.numpy() if hasattr(step, "numpy") else step)
        self.add_event(event)

    def add_event(self, event):
        """Adds an Event; after close, only warns."""
        if self._file.closed:
            warnings.warn("Attempting to use a closed FileWriter. The operation will be a noop unless the "
                          "FileWriter is explicitly reopened.", stacklevel=2)  # fmt: skip
            return
        self._file.add(event)

    def flush(self):
        """Writes all events that wait."""
        self._file.flush()

    def close(self):
        """Writes all events that wait, and closes the file."""
        self._file.close()

    def reopen(self):
        """Goes on in a new file, if the last was closed."""
        if self._file.closed:
            self._file = EventFile(*self._arguments)


class FileWriterCache:
    """One FileWriter per folder."""

    _writers: dict[str, FileWriter] = {}  # noqa: RUF012

    @classmethod
    def get(cls, logdir: str):
        """The writer of a folder, made when there is none: it begins with the default graph."""
        found = cls._writers.get(logdir)
        if found is None:
            found = cls._writers[logdir] = FileWriter(logdir, get_default_graph())
        return found

    @classmethod
    def clear(cls):
        """Closes and forgets all writers."""
        for writer in cls._writers.values():
            writer.close()
        cls._writers.clear()
