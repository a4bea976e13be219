"""Arguments that 1.x knows under an old name beside the new one."""

from __future__ import annotations


def renamed(new_name: str, new, old_name: str, old, default=None):
    """The one of two spellings of an argument that was given, else `default`.

    Raises ValueError where both were.
    """
    if old is None:
        return default if new is None else new
    if new is not None:
        raise ValueError(f"Cannot specify both '{new_name}' and '{old_name}'.")
    return old
