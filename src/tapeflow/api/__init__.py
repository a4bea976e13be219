"""Where public names are declared: `api` and `api_value`, of which `generate.py` makes the table of names.

What belongs here is what finds public names; what they stand for is in the other packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def _same(value: T) -> T:
    return value


def api(*names: str, v1: str | tuple[str, ...] = (), v2: str | tuple[str, ...] = ()) -> Callable[[T], T]:
    """Declare the public names of the function or class that is defined below.

    Args:
      *names: names in 2.x and in 1.x, below `tf`: "math.cumsum".
      v1: those in 1.x alone, below `tf.compat.v1`.
      v2: those in 2.x alone.

    Returns:
      A decorator that leaves the value as it is: `generate.py` reads the declarations from the sources.
    """
    return _same


def api_value(
    attribute: str, *names: str, v1: str | tuple[str, ...] = (), v2: str | tuple[str, ...] = ()
) -> None:
    """Declare the public names of a value of the module that calls this.

    Args:
      attribute: the name of the value in the module.
      *names: names in 2.x and in 1.x, as for `api`.
      v1: those in 1.x alone.
      v2: those in 2.x alone.
    """


__all__: list[Any] = ["api", "api_value"]
