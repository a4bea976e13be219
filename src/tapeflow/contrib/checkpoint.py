"""`tf.contrib.checkpoint`: containers whose variables layers and checkpoints follow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapeflow._native import Variable
from tapeflow.core import nest
from tapeflow.train.checkpoint_manager import CheckpointManager
from tapeflow.train.trackable import AutoTrackable as Checkpointable

__all__ = ["CheckpointManager", "Checkpointable", "List", "Mapping", "NoDependency"]


class _Collected:
    """What containers of layers and variables know of these."""

    def _items(self) -> Iterable[Any]:
        return ()

    def _found(self, name: str, keep: Any) -> list[Any]:
        found: dict[int, Any] = {}
        for item in nest.flatten(list(self._items())):
            if isinstance(item, Variable):
                if keep(item):
                    found.setdefault(id(item), item)
            else:
                for each in getattr(item, name, ()):
                    found.setdefault(id(each), each)
        return list(found.values())

    @property
    def layers(self) -> list[Any]:
        """The items that are no variables."""
        return [item for item in self._items() if hasattr(item, "variables")]

    @property
    def variables(self) -> list[Any]:
        """The variables of all items."""
        return self._found("variables", lambda v: True)

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable ones."""
        return self._found("trainable_variables", lambda v: v.trainable)

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The others."""
        return self._found("non_trainable_variables", lambda v: not v.trainable)

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


class List(_Collected, list):
    """A list of layers and variables."""

    def __init__(self, *args: Any):
        list.__init__(self, *args)

    def _items(self) -> Iterable[Any]:
        return self


class Mapping(_Collected, dict):
    """A dict of layers and variables with string keys that are set once."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        if key in self and self[key] is not value:
            raise ValueError(
                f"Mappings are an append-only data structure. Tried to overwrite the key {key!r}."
            )
        super().__setitem__(key, value)

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def _items(self) -> Iterable[Any]:
        return self.values()


def NoDependency(value: Any) -> Any:
    """`value`, which the program does not want to be followed; containers that hold no variables never are."""
    return value
