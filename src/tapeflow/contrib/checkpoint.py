"""`tf.contrib.checkpoint`: containers whose variables layers and checkpoints follow."""

from __future__ import annotations

from tapeflow.checkpoint.following import AutoTrackable as Checkpointable
from tapeflow.checkpoint.manager import CheckpointManager
from tapeflow.core.structures.data_structures import List, Mapping, NoDependency

__all__ = ["CheckpointManager", "Checkpointable", "List", "Mapping", "NoDependency"]
