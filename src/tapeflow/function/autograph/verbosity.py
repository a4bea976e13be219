"""How much AutoGraph tells about what it does."""

from __future__ import annotations

import os
import sys

from tapeflow.api import api
from tapeflow.core.log import get_logger
from tapeflow.core.public import boundaries

_level: int | None = None
_to_stdout = hasattr(sys, "ps1")


@api("autograph.set_verbosity")
def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Set how much AutoGraph logs; it takes precedence over the environment's `AUTOGRAPH_VERBOSITY`.

    Args:
      level: from 0 (nothing but warnings) to 10.
      alsologtostdout: whether to print it also.
    """
    global _level, _to_stdout
    _level, _to_stdout = level, alsologtostdout


def get_verbosity() -> int:
    """What was set, or the environment variable `AUTOGRAPH_VERBOSITY`, or 0."""
    if _level is not None:
        return _level
    return int(os.environ.get("AUTOGRAPH_VERBOSITY", "0"))


def log(level: int, text: str, *args: object) -> None:
    """Logs for those who asked for this level."""
    if get_verbosity() >= level:
        get_logger().info(text, *args)
        if _to_stdout:
            print(text % args)


def warn(text: str) -> None:
    """Logs a warning."""
    get_logger().warning("%s", text)
    if _to_stdout:
        print("WARNING:", text)


@api("autograph.trace")
def trace(*args: object) -> None:
    """Prints its arguments while a function is traced."""
    print(*args)


boundaries(globals())
