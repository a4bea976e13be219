"""What a checkpoint follows: the objects held by an object, by name, and the variables at the ends.

An object is followed when it has `_trackable_children()`, a dict of objects by name, or is a module, a
variable, or a list, tuple or dict that holds such. Objects with `_checkpoint_values()` save values of their
own: {attribute: (get, set)}. What waits for a checkpoint's values is told by `attached` when it comes.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from tapeflow.core.module import Module
from tapeflow.core.restorable import Restorable
from tapeflow.ops.variable import Variable

_PRIVATE = {"_pending_restores", "_tracked", "_tracked_variables", "_own_weights"}

# Restorations that still wait for objects, by id; empty almost always, and then nothing is looked for.
waiting: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def is_trackable(value: Any) -> bool:
    """Whether checkpoints follow a value."""
    if isinstance(value, (Variable, Module)) or hasattr(value, "_trackable_children"):
        return True
    if hasattr(value, "_checkpoint_values") or hasattr(value, "_checkpoint_tensors"):
        return True
    if isinstance(value, (list, tuple)):
        return any(is_trackable(item) for item in value)
    if isinstance(value, Mapping):
        return any(isinstance(key, str) and is_trackable(item) for key, item in value.items())
    return False


def children(value: Any) -> dict[str, Any]:
    """The objects that a checkpoint follows from this one, by name, in the order of their tracking."""
    if isinstance(value, Variable):
        return {}
    method = getattr(value, "_trackable_children", None)
    if method is not None:
        return method()
    if isinstance(value, Module):
        found = vars(value).items()
        return {key: item for key, item in found if key not in _PRIVATE and is_trackable(item)}
    if hasattr(value, "_fields"):
        return {key: item for key, item in zip(value._fields, value) if is_trackable(item)}
    if isinstance(value, (list, tuple)):
        return {str(i): item for i, item in enumerate(value) if is_trackable(item)}
    if isinstance(value, Mapping):
        return {
            key: item for key, item in value.items() if isinstance(key, str) and is_trackable(item)
        }
    return {}


def attached(owner: Any, name: str, value: Any) -> None:
    """Says that `owner` now holds `value` under `name`: what a checkpoint kept for it is restored."""
    for restoration, node in owner.__dict__.get("_pending_restores", ()):
        restoration.attach(node, name, value)


def look_again() -> None:
    """Lets restorations that wait look for objects that came without being announced, as in lists."""
    for restoration in list(waiting.values()):
        restoration.match_again()


class ListWrapper(list):
    """A list whose items a checkpoint still waits for: they are restored as they come."""

    def __repr__(self) -> str:
        return f"ListWrapper({super().__repr__()})"

    def _trackable_children(self) -> dict[str, Any]:
        return {str(i): item for i, item in enumerate(self) if is_trackable(item)}

    def append(self, item: Any) -> None:
        super().append(item)
        look_again()

    def extend(self, items: Any) -> None:
        super().extend(items)
        look_again()

    def insert(self, place: Any, item: Any) -> None:
        super().insert(place, item)
        look_again()

    def __setitem__(self, place: Any, item: Any) -> None:
        super().__setitem__(place, item)
        look_again()

    def __iadd__(self, items: Any) -> Any:  # type: ignore[misc]
        self.extend(items)
        return self


class DictWrapper(dict):
    """A dict whose items a checkpoint still waits for: they are restored as they come."""

    def _trackable_children(self) -> dict[str, Any]:
        return {k: item for k, item in self.items() if isinstance(k, str) and is_trackable(item)}

    def __setitem__(self, key: Any, item: Any) -> None:
        super().__setitem__(key, item)
        look_again()

    def update(self, *args: Any, **kwargs: Any) -> None:
        super().update(*args, **kwargs)
        look_again()

    def setdefault(self, key: Any, default: Any = None) -> Any:
        found = super().setdefault(key, default)
        look_again()
        return found


def told(value: Any) -> Any:
    """A list or dict that tells what is put into it; anything else as it is."""
    if type(value) is list:
        return ListWrapper(value)
    return DictWrapper(value) if type(value) is dict else value


class AutoTrackable(Restorable):
    """An object whose attributes checkpoints follow."""

    def _trackable_children(self) -> dict[str, Any]:
        return {
            key: value
            for key, value in vars(self).items()
            if key not in _PRIVATE and is_trackable(value)
        }


class PythonState:
    """A value that is no tensor in a checkpoint: `serialize()` gives a string, `deserialize(string)` takes it."""

    def serialize(self) -> Any:
        """The state as a string."""
        raise NotImplementedError("Abstract method")

    def deserialize(self, string_value: Any) -> None:
        """Takes the state from a string."""
        raise NotImplementedError("Abstract method")

    def _checkpoint_values(self) -> dict[str, Any]:
        return {"py_state": (self.serialize, self.deserialize)}
