"""`tf.lite`: models for TensorFlow Lite's runtime. Needs the extra `lite`: pip install 'tapeflow[lite]'."""

from __future__ import annotations

import importlib
from typing import Any

_NAMES = {
    "Interpreter": "interpreter",
    "OpsSet": "options",
    "Optimize": "options",
    "RepresentativeDataset": "options",
    "TFLiteConverter": "converter",
    "TargetSpec": "options",
}


def __getattr__(name: str) -> Any:
    if name == "experimental":
        value = importlib.import_module("tapeflow.lite.experimental")
    elif name in _NAMES:
        value = getattr(importlib.import_module(f"tapeflow.lite.{_NAMES[name]}"), name)
    else:
        raise AttributeError(f"module 'tapeflow.lite' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_NAMES, "experimental"])
