"""`SaveSliceInfo`: which part of a larger variable a variable is."""

from __future__ import annotations

from collections.abc import Sequence


class SaveSliceInfo:
    """Which part of a whole a variable is."""

    def __init__(self, full_name: str, full_shape, var_offset: Sequence[int], var_shape: Sequence[int]):
        self.full_name = full_name
        self.full_shape = full_shape
        self.offset = self.var_offset = var_offset
        self.var_shape = var_shape

    @property
    def spec(self) -> str:
        """The slice as text, as checkpoints name it."""
        full = " ".join(str(d) for d in self.full_shape) + " "
        parts = ":".join(f"{o},{s}" for o, s in zip(self.offset, self.var_shape))
        return full + parts
