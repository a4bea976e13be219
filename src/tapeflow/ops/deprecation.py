"""Arguments that 1.x knows under an old name beside the new one."""

from __future__ import annotations

from typing import Any


def renamed(new_name: str, new: Any, old_name: str, old: Any, default: Any = None):
    """The one of two spellings of an argument that was given, else `default`.

    Raises ValueError where both were.
    """
    if old is None:
        return default if new is None else new
    if new is not None:
        raise ValueError(f"Cannot specify both '{new_name}' and '{old_name}'.")
    return old
