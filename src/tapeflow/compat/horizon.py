"""Which changes programs may rely on by date. There is one version of everything here: what is past counts."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator

_horizon: list[datetime.date] = []


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Tell whether a date is before the horizon of compatibility.

    Args:
      year, month, day: the date.

    Returns:
      A bool: by the horizon of `tf.compat.forward_compatibility_horizon`, or else by today.
    """
    return (_horizon[-1] if _horizon else datetime.date.today()) > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Enter a context with another horizon of compatibility.

    Args:
      year, month, day: the date.

    Returns:
      A context manager.
    """
    _horizon.append(datetime.date(year, month, day))
    try:
        yield
    finally:
        _horizon.pop()
