"""All rows at once, where any name of an op may come."""

from __future__ import annotations

import functools
import importlib
import pkgutil

import tapeflow.ops


@functools.cache
def load_all_rows() -> None:
    """Imports all modules of rows: which are needed is not known before."""
    for module in pkgutil.walk_packages(tapeflow.ops.__path__, "tapeflow.ops."):
        importlib.import_module(module.name)
