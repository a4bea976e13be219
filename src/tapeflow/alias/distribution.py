"""What `importlib.metadata` tells of the package `tensorflow`."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any


class Distribution(importlib.metadata.Distribution):
    """The package of a version.

    Args:
      version: its version.
    """

    def __init__(self, version: str):
        self._version = version

    def read_text(self, filename: str) -> str | None:
        """The text of a file of metadata; there is the main one only."""
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: tensorflow\nVersion: {self._version}\n"

    def locate_file(self, path: Any) -> Any:
        """Where a file of the package would be."""
        return Path(__file__).parent / path
