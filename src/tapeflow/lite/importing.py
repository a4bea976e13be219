"""The packages of the extra `lite`, imported when they are first used; the error that names the extra without them."""

from __future__ import annotations

import importlib
from typing import Any

from tapeflow.core.errors import UnimplementedError

# By the package that has it: what it does.
_PURPOSES = {
    "litert_converter": "Converting to TensorFlow Lite",
    "ai_edge_quantizer": "Quantizing for TensorFlow Lite",
    "ai_edge_litert": "Running TensorFlow Lite models",
    "flatbuffers": "Writing TensorFlow Lite models",
}


def load(module: str) -> Any:
    """A module of one of the packages.

    Raises UnimplementedError if the package is not installed.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UnimplementedError(
            None,
            None,
            f"{_PURPOSES[package]} needs {package.replace('_', '-')}, which cannot be imported ({error}): "
            "pip install 'tapeflow[lite]'",
        ) from error
