"""Dependencies whose names are made unique, and those that variables of a scope become."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tapeflow.core.structures.data_structures import TrackableDataStructure
from tapeflow.core.tracking.trackable import is_trackable
from tapeflow.ops.state.variable import variable_creator_scope

__all__ = ["UniqueNameTracker", "capture_dependencies"]


class UniqueNameTracker(TrackableDataStructure):
    """Follows objects under names that are hints: the second of a name is `name_1`."""

    def __init__(self):
        self._maybe_initialize_trackable()
        self._name_counts: dict[str, int] = {}

    @property
    def _values(self):
        return list(self._unconditional_dependency_names.values())

    def track(self, trackable: Any, base_name: str):
        """Follow an object and return it. Raises ValueError for one that checkpoints cannot follow."""
        if not is_trackable(trackable):
            raise ValueError(
                f"Expected a trackable value, got {trackable} which does not inherit from tf.track.Trackable."
            )
        count = self._name_counts.get(base_name, 0)
        while self._lookup_dependency(name := f"{base_name}_{count}" if count else base_name) is not None:
            count += 1
        self._name_counts[base_name] = count + 1
        return self._track_trackable(trackable, name)


@contextlib.contextmanager
def capture_dependencies(template: Any) -> Iterator[None]:
    """A block in which variables whose names are below the scope of `template` become its dependencies."""
    prefix = template.variable_scope.name
    prefix = f"{prefix}/" if prefix else ""

    def follow(next_creator, **kwargs):
        variable = next_creator(**kwargs)
        name = variable.name.partition(":")[0]
        if name.startswith(prefix):
            template._track_trackable(variable, name=name.removeprefix(prefix))
        return variable

    with variable_creator_scope(follow):
        yield
