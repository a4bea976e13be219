"""`tf.flags`: flags of a program, defined by it and read from its command line.

They are absl's where absl is installed, so that a program may use both; otherwise those of flag_values.
"""

from __future__ import annotations

import sys
from typing import Any

try:
    from absl import flags as _flags
except ImportError:
    from tapeflow.v1 import flag_values as _flags  # type: ignore[no-redef]

# What the arguments of the DEFINE functions were called before 1.5.
_RENAMED = {"flag_name": "name", "default_value": "default", "docstring": "help"}


class _ParsedOnUse:
    """The flags of the program, parsed from sys.argv when the first is read."""

    def __init__(self, values: Any):
        self.__dict__["_values"] = values

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__["_values"]
        if not values.is_parsed():
            values(sys.argv, known_only=True)
        return getattr(values, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_values"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["_values"], name)

    def __dir__(self) -> Any:
        return dir(self.__dict__["_values"])

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["_values"][name]

    def __setitem__(self, name: str, flag: Any) -> None:
        self.__dict__["_values"][name] = flag

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__["_values"]

    def __iter__(self) -> Any:
        return iter(self.__dict__["_values"])

    def __len__(self) -> int:
        return len(self.__dict__["_values"])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["_values"](*args, **kwargs)


FLAGS = _ParsedOnUse(_flags.FLAGS)


def _with_old_names(define: Any) -> Any:
    def defined(*args: Any, **kwargs: Any) -> Any:
        for old, new in _RENAMED.items():
            if old in kwargs:
                kwargs[new] = kwargs.pop(old)
        if len(args) + len(kwargs) == 1 or (len(args) == 2 and not kwargs):
            kwargs.setdefault("help", None)  # the text could be left out
        return define(*args, **kwargs)

    defined.__name__ = defined.__qualname__ = define.__name__
    defined.__doc__ = define.__doc__
    return defined


for _name in ("DEFINE_string", "DEFINE_integer", "DEFINE_float", "DEFINE_boolean", "DEFINE_bool"):
    globals()[_name] = _with_old_names(getattr(_flags, _name))


def __getattr__(name: str) -> Any:
    return getattr(_flags, name)


def __dir__() -> list[str]:
    return sorted({*dir(_flags), "FLAGS"})
