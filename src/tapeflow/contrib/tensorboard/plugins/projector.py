"""`tf.contrib.tensorboard.plugins.projector`: which variables of a checkpoint TensorBoard draws as embeddings."""

from __future__ import annotations

import os
from typing import Any

from tapeflow.core.files import file_system
from tapeflow.protos import EmbeddingInfo, ProjectorConfig, SpriteMetadata

__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"]

_FILE = "projector_config.pbtxt"


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes `config`, a ProjectorConfig, where TensorBoard looks for it: into the folder of a FileWriter.

    Later versions took the folder's path instead of the writer; both serve.
    Raises ValueError for a writer without a folder.
    """
    from google.protobuf import text_format

    folder = summary_writer
    if hasattr(summary_writer, "get_logdir"):
        folder = summary_writer.get_logdir()
    elif not isinstance(summary_writer, (str, os.PathLike)):
        folder = None
    if folder is None:
        raise ValueError(f"Summary writer must have a logdir, got: {summary_writer!r}")
    file_system.makedirs(folder)
    with file_system.GFile(os.path.join(folder, _FILE), "w") as file:
        file.write(text_format.MessageToString(config))
