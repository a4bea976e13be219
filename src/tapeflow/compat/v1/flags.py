"""`tf.flags`: flags of a program, defined by it and read from its command line."""

from typing import Any

from tapeflow.v1 import flags as _flags


def __getattr__(name: str) -> Any:
    return getattr(_flags, name)


def __dir__() -> list[str]:
    return dir(_flags)
