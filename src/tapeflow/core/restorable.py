"""Objects whose attributes a checkpoint restores, also those that come after it was read."""

from __future__ import annotations

from typing import Any


class Restorable:
    """Base of objects that tell waiting restorations of a checkpoint which attributes they get.

    A restoration puts itself, and the number that the object has in the checkpoint, into the object's
    `_pending_restores`; most objects have none.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        pending = self.__dict__.get("_pending_restores")
        if not pending:
            object.__setattr__(self, name, value)
            return
        for restoration, number in pending:
            value = restoration.awaited(number, name, value)
        object.__setattr__(self, name, value)
        for restoration, number in pending:
            restoration.attach(number, name, value)
