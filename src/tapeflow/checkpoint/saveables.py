"""The values of one object as saveables: functions that make `SaveableObject`s, by the names of the values."""

from __future__ import annotations

import functools
from typing import Any

from tapeflow.checkpoint.object_graph import VALUE, of_library
from tapeflow.ops.state.variable import Variable


class SaveSpec:
    """One tensor of a saveable: the tensor, or a function that gives it; its name and dtype."""

    def __init__(self, tensor: Any, slice_spec: str, name: str, dtype: Any = None, device: Any = None):
        self._tensor, self.slice_spec, self.name = tensor, slice_spec, name
        self._dtype, self._device = dtype, device

    @property
    def tensor(self) -> Any:
        """The tensor."""
        return self._tensor() if callable(self._tensor) else self._tensor

    @property
    def dtype(self) -> Any:
        """The dtype of the tensor."""
        return self.tensor.dtype if self._dtype is None else self._dtype

    @property
    def device(self) -> Any:
        """Where the tensor is."""
        return getattr(self.tensor, "device", "") if self._device is None else self._device


class SaveableObject:
    """Base of what is saved under one name and restored together.

    Args:
      op: the object.
      specs: a list of `SaveSpec`.
      name: under which it is saved.
    """

    def __init__(self, op: Any, specs: list[Any], name: str):
        self.op, self.specs, self.name = op, specs, name

    @property
    def device(self) -> Any:
        """Where the tensors are."""
        return self.specs[0].device

    @property
    def optional_restore(self) -> bool:
        """Whether checkpoints may lack it."""
        return False

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Takes the tensors. Raises ValueError by default."""
        raise ValueError("Calling an abstract method.")


class _Value(SaveableObject):
    """A value that two functions give and take."""

    def __init__(self, owner: Any, get: Any, put: Any, name: str):
        super().__init__(owner, [SaveSpec(get, "", name)], name)
        self._put = put

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Takes the tensor."""
        return self._put(restored_tensors[0])


def _make(owner: Any, get: Any, put: Any, name: str = "") -> SaveableObject:
    return _Value(owner, get, put, name)


def saveable_objects_from_trackable(obj: Any, tf1_saver: bool = False) -> dict[str, Any]:
    """Functions that make saveables of the values that an object has of its own, by name.

    Args:
      obj: any object.
      tf1_saver: whether `_gather_saveables_for_checkpoint` decides where a class has both methods.
    """
    if isinstance(obj, Variable):
        return {VALUE: functools.partial(_make, obj, obj.read_value, obj.assign)}
    if tf1_saver:
        gather: Any = getattr(obj, "_gather_saveables_for_checkpoint", dict)
        found = gather()
        if found:
            return found
    pairs = dict(of_library(obj))
    own = getattr(obj, "_checkpoint_values", None)
    if own is not None:
        pairs |= own()
    return {name: functools.partial(_make, obj, get, put) for name, (get, put) in pairs.items()}
