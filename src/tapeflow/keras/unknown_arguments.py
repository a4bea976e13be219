"""Errors of constructors that are given arguments which they do not take."""

from __future__ import annotations

import inspect
import re
import types
from typing import Any

from tapeflow.core.release import keras_2
from tapeflow.core.spelling import did_you_mean

_FOUND = re.compile(
    r"(?:argument|optimizer:|Keyword argument not understood:|arguments passed to \w+: {|not recognized: {)"
    r"[^'\w]*'?(\w+)'?"
)


def unknown_argument(cls: type, name: str, value: Any, kind: str = "layer") -> Exception:
    """The error for an argument of a constructor: a TypeError in Keras 2, a ValueError in Keras 3."""
    if keras_2() and kind == "layer":
        return TypeError(("Keyword argument not understood:", name))
    hint = did_you_mean(name, _parameters(cls))
    if keras_2():
        return TypeError(f"Unexpected keyword argument passed to optimizer: {name}. {hint}".rstrip())
    start = "Argument(s) not recognized"
    if kind == "layer":
        start = f"Unrecognized keyword arguments passed to {cls.__name__}"
    return ValueError(f"{start}: { {name: value} }" + (f". {hint}" if hint else ""))


def _parameters(cls: type) -> set[str]:
    """The names of the arguments of a class and its bases."""
    found = {"name", "dtype"}
    for each in cls.__mro__:
        init = vars(each).get("__init__")
        # The signature of a built-in one is text, which Python would compile.
        if init is not None and not isinstance(init, types.WrapperDescriptorType):
            found.update(inspect.signature(init).parameters)
    return found - {"self", "args", "kwargs"}


def name_of(error: Exception) -> str | None:
    """The argument that an error says a constructor does not take."""
    if error.args and isinstance(error.args[0], tuple) and len(error.args[0]) == 2:
        return error.args[0][1]
    if isinstance(error, ValueError) and not str(error).startswith(("Unrecognized keyword", "Argument(s) not rec")):
        return None
    found = _FOUND.search(str(error))
    return found and found[1]


def explained(error: TypeError, cls: type, config: dict[str, Any]) -> TypeError:
    """The error of `cls(**config)`, which says what a class of the program has to do about it."""
    if cls.__module__.startswith("tapeflow.") or not re.search(r"unexpected keyword|missing \d+ required", str(error)):
        return error
    return TypeError(
        f"{error}. The config of {cls.__name__} has {sorted(config)}, and these are passed to its `__init__`. Let "
        f"`{cls.__name__}.__init__` take `**kwargs` and pass them on to `super().__init__(**kwargs)`, and let "
        f"`{cls.__name__}.get_config` return `super().get_config()` with all other arguments added; or define "
        "`from_config`."
    )
