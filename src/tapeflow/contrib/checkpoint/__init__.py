"""`tf.contrib.checkpoint`: containers that checkpoints follow, arrays in checkpoints, and what a checkpoint holds."""

from __future__ import annotations

from tapeflow import protos
from tapeflow.checkpoint.following import AutoTrackable as Checkpointable
from tapeflow.checkpoint.following import PythonState as PythonStateWrapper
from tapeflow.checkpoint.manager import CheckpointManager
from tapeflow.contrib.checkpoint.inspecting import (
    dot_graph_from_checkpoint,
    list_objects,
    object_metadata,
)
from tapeflow.contrib.checkpoint.naming import UniqueNameTracker, capture_dependencies
from tapeflow.contrib.checkpoint.numpy_state import NumpyState
from tapeflow.contrib.checkpoint.splitting import split_dependency
from tapeflow.core.structures.data_structures import List, Mapping, NoDependency
from tapeflow.core.tracking.trackable import Trackable as CheckpointableBase

__all__ = [
    "CheckpointManager", "Checkpointable", "CheckpointableBase", "CheckpointableObjectGraph", "List", "Mapping",
    "NoDependency", "NumpyState", "PythonStateWrapper", "UniqueNameTracker", "capture_dependencies",
    "dot_graph_from_checkpoint", "list_objects", "object_metadata", "split_dependency",
]  # fmt: skip


def __getattr__(name: str):
    if name == "CheckpointableObjectGraph":
        return protos.TrackableObjectGraph
    raise AttributeError(f"module 'tapeflow.contrib.checkpoint' has no attribute {name!r}")
