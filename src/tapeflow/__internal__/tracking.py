"""`tf.__internal__.tracking`: objects that checkpoints follow."""

from tapeflow.checkpoint.load_status import streaming_restore
from tapeflow.checkpoint.object_writing import register_session_provider
from tapeflow.checkpoint.saveables import saveable_objects_from_trackable
from tapeflow.checkpoint.views import ObjectGraphView
from tapeflow.core.structures.data_structures import (
    TrackableDataStructure,
    sticky_attribute_assignment,
)
from tapeflow.core.structures.data_structures import wrap_or_unwrap as wrap
from tapeflow.core.tracking.delegating_trackable import DelegatingTrackableMixin
from tapeflow.core.tracking.initial_values import (
    CheckpointInitialValue,
    CheckpointInitialValueCallable,
)
from tapeflow.core.tracking.trackable import (
    AutoTrackable,
    Trackable,
    TrackableReference,
    no_automatic_dependency_tracking,
)

__all__ = [
    "AutoTrackable", "CheckpointInitialValue", "CheckpointInitialValueCallable", "DelegatingTrackableMixin",
    "ObjectGraphView", "Trackable", "TrackableDataStructure", "TrackableReference",
    "no_automatic_dependency_tracking", "register_session_provider", "saveable_objects_from_trackable",
    "sticky_attribute_assignment", "streaming_restore", "wrap",
]  # fmt: skip
