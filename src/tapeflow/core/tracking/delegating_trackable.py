"""`DelegatingTrackableMixin`: an object that is another one for checkpoints, such as an optimizer that wraps one."""

from __future__ import annotations

from typing import Any

from tapeflow.core.tracking.trackable import Trackable

_DELEGATED = (
    "_maybe_initialize_trackable", "_no_dependency", "_lookup_dependency", "_add_variable_with_custom_getter",
    "_preload_simple_restoration", "_track_trackable", "_untrack_trackable", "_handle_deferred_dependencies",
    "_gather_saveables_for_checkpoint", "_trackable_children", "_deserialization_dependencies",
    "_export_to_saved_model_graph", "_serialize_to_tensors", "_restore_from_tensors", "_copy_trackable_to_cpu",
)  # fmt: skip
_PROPERTIES = (
    "_setattr_tracking", "_unconditional_checkpoint_dependencies", "_unconditional_dependency_names",
    "_object_identifier", "_tracking_metadata", "_checkpoint_dependencies", "_deferred_dependencies",
)  # fmt: skip


class DelegatingTrackableMixin:
    """Mixin of a `Trackable`: what checkpoints ask is asked of `trackable_obj`."""

    def __init__(self, trackable_obj: Any):
        self._trackable = trackable_obj


def _delegated(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._trackable, name)(*args, **kwargs)

    method.__name__, method.__doc__ = name, getattr(Trackable, name).__doc__
    return method


def _property(name: str) -> property:
    def get(self: Any) -> Any:
        return getattr(self._trackable, name)

    def put(self: Any, value: Any) -> None:
        setattr(self._trackable, name, value)

    return property(get, put)


for _name in _DELEGATED:
    setattr(DelegatingTrackableMixin, _name, _delegated(_name))
for _name in _PROPERTIES:
    setattr(DelegatingTrackableMixin, _name, _property(_name))
