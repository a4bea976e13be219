"""How names are spelled: those near an unknown one, and `MyName` as `my_name`."""

from __future__ import annotations

import re
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The names that are spelled most like `name`, the nearest first; upper and lower case are the same."""
    import difflib  # here, as it costs 4 ms

    by_lower: dict[str, str] = {}
    for each in known:
        if each != name and (each.lower() not in by_lower or each.islower() == name.islower()):
            by_lower[each.lower()] = each
    # Among many short names some share letters with any other by chance.
    least = 0.6 if len(name) > 4 else 0.7
    return [by_lower[each] for each in difflib.get_close_matches(name.lower(), by_lower, count, least)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question whether one of the nearest names is meant; empty where none is near."""
    found = [repr(each) for each in nearest(name, known)]
    if not found:
        return ""
    return f"Did you mean {' or '.join([', '.join(found[:-1]), found[-1]] if found[1:] else found)}?"


def snake_case(name: str) -> str:
    """`MyLayer2D` -> `my_layer2d`."""
    parts = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    parts = re.sub("([a-z])([A-Z])", r"\1_\2", parts).lower()
    return f"private{parts}" if parts.startswith("_") else parts
