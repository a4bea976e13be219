"""`tf.contrib.checkpoint`: containers whose variables layers and checkpoints follow."""

from __future__ import annotations

from tapeflow.core.data_structures import List, Mapping, NoDependency
from tapeflow.train.checkpoint_manager import CheckpointManager
from tapeflow.train.trackable import AutoTrackable as Checkpointable

__all__ = ["CheckpointManager", "Checkpointable", "List", "Mapping", "NoDependency"]
