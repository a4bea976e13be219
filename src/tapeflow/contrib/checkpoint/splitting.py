"""Parts of one value that a checkpoint has as variables of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.checkpoint.saveables import SaveableObject, SaveSpec
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.tracking.trackable import Trackable
from tapeflow.ops.control.grouping import no_op

__all__ = ["split_dependency"]


class _Parts:
    """What the parts share: values on their way out and in, and the functions that make and take all of them."""

    def __init__(self, count: int, fill: Callable[..., Any], consume: Callable[..., Any]):
        self.count, self.fill, self.consume = count, fill, consume
        self.saved: dict[str, Any] = {}
        self.restored: dict[str, Any] = {}


class _Saveable(SaveableObject):
    def __init__(self, name: str, part: _Part, dtype: DTypeLike, device: str | None):
        super().__init__(part.save, [SaveSpec(part.save, "", name, dtype=dtype, device=device)], name)
        self._part = part

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Takes the tensor."""
        return self._part.take(restored_tensors[0])


class _Part(Trackable):
    """One of the parts; a checkpoint takes it for a variable."""

    def __init__(self, parts: _Parts, name: str, dtype: DTypeLike, device: str | None):
        self._parts, self._name, self._dtype, self._device = parts, name, dtype, device

    def save(self):
        """The value; the first part that is asked has all of them made."""
        saved = self._parts.saved
        if self._name not in saved:
            if saved:
                raise AssertionError(self._unsynchronized("saved"))
            self._parts.fill(saved)
        return saved.pop(self._name)

    def take(self, tensor: Any):
        """Keeps the value; the last part has all of them taken."""
        restored = self._parts.restored
        if self._name in restored:
            raise AssertionError(self._unsynchronized("restored"))
        restored[self._name] = tensor
        if len(restored) < self._parts.count:
            return no_op()
        done = self._parts.consume(restored)
        restored.clear()
        return done

    def _unsynchronized(self, what: str) -> str:
        return (
            f"Split dependency {self._name} ({self}) unsynchronized. Split dependencies must be {what} together."
        )

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"VARIABLE_VALUE": functools.partial(_Saveable, part=self, dtype=self._dtype, device=self._device)}


def split_dependency(
    component_names: Sequence[str], component_dtypes: Sequence[DTypeLike],
    fill_save_buffer_fn: Callable[[dict[str, Any]], Any], consume_restore_buffer_fn: Callable[[dict[str, Any]], Any],
    device: str | None,
) -> dict[str, Trackable]:  # fmt: skip
    """Objects that are saved and restored together, each as if it were a variable.

    Args:
      component_names: the parts.
      component_dtypes: their dtypes.
      fill_save_buffer_fn: puts the tensors of all parts into a dict.
      consume_restore_buffer_fn: takes a dict of the tensors of all parts; returns what restores from them, or None.
      device: where they are saved and restored.

    Returns:
      The objects, by name.
    """
    parts = _Parts(len(component_names), fill_save_buffer_fn, consume_restore_buffer_fn)
    return {
        name: _Part(parts, name, dtype, device)
        for name, dtype in zip(component_names, component_dtypes, strict=False)
    }
