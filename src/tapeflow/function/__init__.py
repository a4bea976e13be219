"""Functions that are traced once and run as a plan: `tf.function` and related functions."""

import sys
from types import ModuleType
from typing import Any


class _Namespace(ModuleType):
    """`tapeflow` until this package is imported: `tf.function` is the function, not the package of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "function":
            self.__class__ = ModuleType  # type: ignore[assignment]
            from tapeflow.function.function import function as value
        ModuleType.__setattr__(self, name, value)


sys.modules["tapeflow"].__class__ = _Namespace
