"""What keeps variables beside a table of embeddings: optimizers, and combiners with weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.public import boundaries


class WithSlotVariables:
    """Settings that are equal where their attributes are, with names and initial values of variables.

    Args:
      slot_variable_creation_fn: makes the variables instead: called with the table, names and initializers, it
        returns them by name.

    Raises:
      ValueError: where that is no function.
    """

    def __init__(self, slot_variable_creation_fn: Any = None):
        if slot_variable_creation_fn is not None and not callable(slot_variable_creation_fn):
            raise ValueError(
                "Argument `slot_variable_creation_fn` must be either None or a callable. Received: "
                f"{slot_variable_creation_fn}"
            )
        self.slot_variable_creation_fn = slot_variable_creation_fn

    def _slots(self) -> dict[str, Any]:
        """The initializers of the variables, by name."""
        return {}

    def _slot_names(self) -> list[str]:
        return list(self._slots())

    def _slot_initializers(self) -> list[Any]:
        return list(self._slots().values())

    def _create_slots(self, table: Any, variable_creator: Callable[[str, Any], Any]) -> dict[str, Any]:
        if self.slot_variable_creation_fn is not None:
            return self.slot_variable_creation_fn(table, self._slot_names(), self._slot_initializers())
        return {name: variable_creator(name, initializer) for name, initializer in self._slots().items()}

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, type(self)) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.items()))


boundaries(globals())
