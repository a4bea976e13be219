"""NumPy arrays in a checkpoint."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tapeflow.checkpoint.following import PythonState
from tapeflow.core.files.numpy_files import damage_is_an_error
from tapeflow.core.tracking.trackable import Trackable

__all__ = ["NumpyState"]


class _Kept(PythonState):
    """An array as a checkpoint keeps it: the bytes of a `.npy` file."""

    def __init__(self, array: Any):
        self.array = array

    def serialize(self):
        """The bytes of the array."""
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: bytes):
        """Takes the array from its bytes. Raises ValueError for what are none."""
        with damage_is_an_error("The checkpoint holds no array in NumPy's format here"):
            self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


class NumpyState(Trackable):
    """An object whose attributes, NumPy arrays, are saved and restored; a restored one has those that were saved."""

    def _expect(self, names: set[str]) -> None:
        """Makes the attributes that a checkpoint has."""
        for name in names:
            if self._lookup_dependency(name) is None:
                setattr(self, name, np.array([]))

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return value.array if isinstance(value, _Kept) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, (np.ndarray, np.generic)):
            if name in ("_self_setattr_tracking", "_self_update_uid") or not self._setattr_tracking:
                super().__setattr__(name, value)
                return
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array. Currently mixing "
                "NumPy arrays and other trackable objects is not supported. File a feature request if this "
                "limitation bothers you."
            )
        kept = self._lookup_dependency(name)
        if kept is not None:
            kept.array = value
            return
        kept = _Kept(value)
        super().__setattr__(name, kept)
        self._track_trackable(kept, name=name, overwrite=True)
