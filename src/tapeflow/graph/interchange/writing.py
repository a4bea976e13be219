"""`tf.io.write_graph`: a graph as a file."""

from __future__ import annotations

import os
from typing import Any

from tapeflow.api import api
from tapeflow.core.files.paths import local_path
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.public import names_itself, public


@api("io.write_graph")
@public
@names_itself
def write_graph(graph_or_graph_def, logdir, name: str, as_text: bool = True):
    """Write a graph, or another message, to a file.

    Args:
      graph_or_graph_def: a `tf.Graph`, `GraphDef` or other message.
      logdir: the folder.
      name: the name of the file.
      as_text: whether in the text format of protocol buffers.

    Returns:
      The path of the file.
    """
    message = graph_or_graph_def
    if hasattr(message, "as_graph_def"):
        message = message.as_graph_def()
    path = os.path.join(os.fspath(logdir), name)
    os.makedirs(os.path.dirname(local_path(path)) or ".", exist_ok=True)
    write_message(message, path, as_text)
    return path


def write_message(message: Any, path: str, as_text: bool) -> None:
    """Writes a message so that a reader sees the old file or the new one, never half of it."""
    if as_text:
        from google.protobuf import text_format

        data = text_format.MessageToString(message).encode()
    else:
        data = message.SerializeToString(deterministic=True)
    replace_file(local_path(path), data)
