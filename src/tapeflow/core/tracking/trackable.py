"""`Trackable`: an object whose parts checkpoints follow, by name; and what tells waiting restorations of new parts.

The names of the half-public methods are TensorFlow's: libraries override and call them.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tapeflow import _native
from tapeflow.core.structures.structure import fields_of
from tapeflow.core.tracking.initial_values import CheckpointInitialValueCallable, CheckpointPosition

# Restorations that still wait for objects, by id; empty almost always, and then nothing is looked for.
waiting: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def attached(owner: Any, name: str, value: Any) -> None:
    """Says that `owner` now holds `value` under `name`: what a checkpoint kept for it is restored."""
    for restoration, node in owner.__dict__.get("_pending_restores", ()):
        restoration.attach(node, name, value)


def look_again() -> None:
    """Lets restorations that wait look for objects that came without being announced, as in lists."""
    for restoration in list(waiting.values()):
        restoration.match_again()


class TrackableReference(NamedTuple):
    """An object that checkpoints follow, and its name."""

    name: str
    ref: Any


class Trackable:
    """Base of objects that checkpoints follow: dependencies are added by `_track_trackable`."""

    __slots__ = ()

    @property
    def _setattr_tracking(self) -> bool:
        """Whether attributes that are set become dependencies."""
        return getattr(self, "_self_setattr_tracking", True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        self.__dict__["_self_setattr_tracking"] = value

    @property
    def _object_identifier(self) -> str:
        """What a SavedModel calls the kind of object."""
        return "_generic_user_object"

    @property
    def _tracking_metadata(self) -> str:
        return ""

    def _maybe_initialize_trackable(self) -> None:
        """Gives the object its list of dependencies, as an object whose `__init__` did not run has none."""
        state = self.__dict__
        if "_self_unconditional_checkpoint_dependencies" not in state:
            state["_self_unconditional_checkpoint_dependencies"] = []
            state["_self_unconditional_dependency_names"] = {}

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        """The dependencies, in the order in which they were added."""
        return getattr(self, "__dict__", {}).get("_self_unconditional_checkpoint_dependencies", [])

    @property
    def _unconditional_dependency_names(self) -> dict[str, Any]:
        return getattr(self, "__dict__", {}).get("_self_unconditional_dependency_names", {})

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        return [TrackableReference(name, ref) for name, ref in self._trackable_children().items()]

    @property
    def _deferred_dependencies(self) -> dict[str, Any]:
        """The restorations that wait for dependencies, by the names of these."""
        found: dict[str, Any] = {}
        for restoration, node in self.__dict__.get("_pending_restores", ()):
            for child in restoration.nodes[node]["children"]:
                found.setdefault(child["local_name"], []).append((restoration, child["node_id"]))
        return found

    def _no_dependency(self, value: Any) -> Any:
        """What is kept of a value that is not to be followed."""
        return value

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        """The dependency of a name, or None."""
        if cached_dependencies is not None:
            return cached_dependencies.get(name)
        return self._unconditional_dependency_names.get(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Adds a dependency, and restores it where a checkpoint waits for it; returns it.

        Raises TypeError for an object that cannot be followed, ValueError for a name that is in use.
        """
        Trackable._maybe_initialize_trackable(self)
        if not isinstance(trackable, Trackable) and not hasattr(trackable, "_trackable_children"):
            raise TypeError(
                "Trackable._track_trackable() can only be used to track objects of type Trackable. Got type "
                f"{type(trackable)}."
            )
        names = self.__dict__["_self_unconditional_dependency_names"]
        found = self.__dict__["_self_unconditional_checkpoint_dependencies"]
        reference = TrackableReference(name, trackable)
        if name in names and names[name] is not trackable:
            if not overwrite:
                raise ValueError(
                    f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is "
                    "already declared as a dependency. Names must be unique (or overwrite=True)."
                )
            for place, known in enumerate(found):
                if known.name == name:
                    found[place] = reference
        elif name not in names:
            found.append(reference)
        names[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _untrack_trackable(self, name: str) -> None:
        """Removes a dependency, if there is one of this name."""
        names = self.__dict__.get("_self_unconditional_dependency_names", {})
        if names.pop(name, None) is not None:
            found = self.__dict__["_self_unconditional_checkpoint_dependencies"]
            found[:] = [each for each in found if each.name != name]

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restores a new dependency from the checkpoints that wait for it."""
        if "_pending_restores" in getattr(self, "__dict__", ()):
            attached(self, name, trackable)

    def _preload_simple_restoration(self, name: str) -> Any:
        """A callable that gives the value which a checkpoint keeps for a variable to be made; else None."""
        for restoration, number in reversed(self._deferred_dependencies.get(name, [])):
            if restoration.is_plain_variable(number):
                return CheckpointInitialValueCallable(CheckpointPosition(restoration, number))
        return None

    def _add_variable_with_custom_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        getter: Any = None,
        overwrite: bool = False,
        **kwargs_for_getter: Any,
    ) -> Any:
        """The variable that `getter` makes, as a dependency; it begins with the value of a waiting checkpoint.

        Raises ValueError for a name that is in use, unless `overwrite`.
        """
        self._maybe_initialize_trackable()
        if not overwrite and self._lookup_dependency(name) is not None:
            raise ValueError(
                f"A variable named '{name}' already exists in this Trackable, but "
                "Trackable._add_variable called to create another with that name. Variable names must be unique "
                "within a Trackable object."
            )
        made = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter)
        if overwrite and not isinstance(made, Trackable):
            return made
        return self._track_trackable(made, name=name, overwrite=overwrite)

    def _add_trackable_child(self, name: str, value: Any) -> None:
        """Restores a child of a SavedModel."""
        self._track_trackable(value, name, overwrite=True)

    def _trackable_children(self, save_type: str = "checkpoint", cache: Any = None, **kwargs: Any) -> dict[str, Any]:
        """The objects that are followed from this one, by name."""
        return dict(getattr(self, "__dict__", {}).get("_self_unconditional_dependency_names", ()))

    def _deserialization_dependencies(self, children: Any) -> dict[str, Any]:
        """The children that have to be there before the object itself is loaded."""
        return {}

    # Values of an object itself, which classes may override.

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """The values of the object itself: by name, `SaveableObject`s or functions that make them."""
        return {}

    def _serialize_to_tensors(self) -> dict[str, Any]:
        """The values of the object itself, by name. Raises NotImplementedError where it has none."""
        raise NotImplementedError

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> Any:
        """Takes what `_serialize_to_tensors` gave. Raises NotImplementedError where the object has no values."""
        raise NotImplementedError

    def _serialize_to_proto(self, object_proto: Any = None, **kwargs: Any) -> Any:
        return None

    @classmethod
    def _deserialize_from_proto(cls, proto: Any = None, dependencies: Any = None, **kwargs: Any) -> Any:
        return cls()

    def _export_to_saved_model_graph(
        self, object_map: Any, tensor_map: Any, options: Any = None, **kwargs: Any
    ) -> list[Any]:
        return []

    def _copy_trackable_to_cpu(self, object_map: Any) -> None:
        """Copies the object to the CPU. Raises NotImplementedError where a class does not say how."""
        raise NotImplementedError("Need to implement _copy_trackable_to_cpu() if the Trackable requires copying to CPU")


class AutoTrackable(Trackable):
    """An object whose attributes checkpoints follow.

    They are looked at when a checkpoint asks. A class that sets its attributes by a `__setattr__` of its own and says
    with `_self_setattr_tracking` when to follow them has those dependencies only that it adds.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if type(value) is NoDependency:
            value = value.value
            _untracked(self).add(name)
        pending = self.__dict__.get("_pending_restores")
        if not pending:
            object.__setattr__(self, name, value)
            return
        # A restoration puts itself, and the number of the object in the checkpoint, there.
        for restoration, number in pending:
            value = restoration.awaited(number, name, value)
        object.__setattr__(self, name, value)
        for restoration, number in pending:
            restoration.attach(number, name, value)

    def __delattr__(self, name: str) -> None:
        self._delete_tracking(name)
        object.__delattr__(self, name)

    def _delete_tracking(self, name: str) -> None:
        """Stops following an attribute."""
        self._untrack_trackable(name)

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        found = super()._lookup_dependency(name, cached_dependencies)
        if found is None and cached_dependencies is None and not _tracks_by_itself(self):
            return _attributes(self).get(name)
        return found

    def _trackable_children(self, save_type: str = "checkpoint", cache: Any = None, **kwargs: Any) -> dict[str, Any]:
        added = super()._trackable_children(save_type, cache, **kwargs)
        return added if _tracks_by_itself(self) else {**_attributes(self), **added}


def _tracks_by_itself(value: Any) -> bool:
    return _sets_by_itself(value) and "_self_setattr_tracking" in vars(value)


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object that are followed."""
    without = vars(value).get("_self_untracked", ())
    return {
        key: item
        for key, item in vars(value).items()
        if key not in _PRIVATE and not key.startswith("_self_") and key not in without and is_trackable(item)
    }


def _untracked(value: Any) -> set[str]:
    return vars(value).setdefault("_self_untracked", set())


class NoDependency:
    """A value that is set as an attribute and not followed; the attribute is the value itself."""

    def __init__(self, value: Any):
        self.value = value


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """A block in which attributes that are set on an object do not make dependencies."""
    if not isinstance(obj, AutoTrackable) or _sets_by_itself(obj):
        before = getattr(obj, "_self_setattr_tracking", True)
        obj._self_setattr_tracking = False
        try:
            yield
        finally:
            obj._self_setattr_tracking = before
        return
    held = dict(vars(obj))
    try:
        yield
    finally:
        new = {name for name, value in vars(obj).items() if held.get(name, held) is not value}
        _untracked(obj).update(new - {"_self_untracked"})


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, whose assignments to attributes do not make dependencies."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked


def _sets_by_itself(value: Any) -> bool:
    return type(value).__setattr__ not in (object.__setattr__, AutoTrackable.__setattr__)


# What a checkpoint follows.

_PRIVATE = {"_pending_restores", "_tracked", "_tracked_variables", "_own_weights"}


def is_trackable(value: Any) -> bool:
    """Whether checkpoints follow a value."""
    if isinstance(value, (_native.Variable, Trackable)) or hasattr(value, "_trackable_children"):
        return True
    if hasattr(value, "_checkpoint_values") or hasattr(value, "_checkpoint_tensors"):
        return True
    if isinstance(value, (list, tuple)):
        return any(is_trackable(item) for item in value)
    if isinstance(value, Mapping):
        return any(isinstance(key, str) and is_trackable(item) for key, item in value.items())
    return False


def children(value: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
    """The objects that are followed from this one, by name, in the order of their tracking.

    Args:
      value: any object.
      save_type: what for: "checkpoint" or "savedmodel".
      **kwargs: handed on to the method `_trackable_children` of the object.
    """
    if isinstance(value, _native.Variable):
        return {}
    method = getattr(value, "_trackable_children", None)
    if method is not None:
        return method(save_type, **kwargs)
    if hasattr(value, "_fields"):
        return {key: item for key, item in zip(fields_of(value), value) if is_trackable(item)}
    if isinstance(value, (list, tuple)):
        return {str(i): item for i, item in enumerate(value) if is_trackable(item)}
    if isinstance(value, Mapping):
        return {key: item for key, item in value.items() if isinstance(key, str) and is_trackable(item)}
    return {}


def restorable_children(value: Any) -> dict[str, Any]:
    """`children`, and what a checkpoint of an older layout knows by other names."""
    method = getattr(value, "_restorable_children", None)
    return children(value) if method is None else method()
