"""`tf.saved_model.Asset`: a file that goes with a SavedModel."""

from __future__ import annotations

import os
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.graph import func_graph


class Asset:
    """A file that a SavedModel takes along.

    `asset_path` is a string tensor; functions that use it find the file where the loaded model has it.
    """

    def __init__(self, path: Any):
        if isinstance(path, os.PathLike):
            path = os.fspath(path)
        self._path = convert_to_tensor(path, dtypes.string)
        func_graph.capture_by_identity(self._path)

    @property
    def asset_path(self) -> Any:
        """Where the file is."""
        return self._path

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}


boundaries(globals())
