"""Docstrings made of parts, so that what many classes have in common is written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable

_HEAD = "\n\nArgs:\n"


def entries(block: str) -> dict[str, str]:
    """Return the entries of an `Args:` part, by argument; those of several arguments by each of them."""
    found: list[str] = []
    for line in block.strip("\n").splitlines():
        if line.startswith("    "):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return {name.lstrip("*"): entry for entry in found for name in entry.strip().partition(":")[0].split(", ")}


def _split(doc: str) -> tuple[str, str, str]:
    """Return what a docstring says before its `Args:`, the entries, and what comes after them."""
    before, head, rest = inspect.cleandoc(doc).partition(_HEAD)
    if not head:
        before, _, rest = before.partition("\n\n")
        return before, "", rest
    block, _, after = rest.partition("\n\n")
    return before, block, after


def _joined(before: str, block: Iterable[str], after: str) -> str:
    return f"{before}{_HEAD}" + "\n".join(block) + (f"\n\n{after}" if after else "")


def with_entries(doc: str | None, more: dict[str, str]) -> str | None:
    """Return a docstring with entries for arguments that it lacks; None where Python keeps no docstrings."""
    if doc is None:
        return None
    before, block, after = _split(doc)
    own = entries(block)
    missing = {name: entry for name, entry in more.items() if name not in own}
    return _joined(before, dict.fromkeys((own | missing).values()), after)


def of_class(
    function: Callable[..., object], about: str, arguments: Iterable[str], said: dict[str, str], example: str = ""
) -> str | None:
    """Return the docstring of a class made of a function; None where Python keeps no docstrings.

    Args:
      function: the function, whose docstring has the first paragraph and entries for its settings.
      about: what the class does with the function, a paragraph.
      arguments: the names of the constructor's arguments, in order.
      said: entries for those that are not settings of the function, by name.
      example: an example to end with.
    """
    if function.__doc__ is None:
        return None
    before, block, _ = _split(function.__doc__)
    known = entries(block) | said
    first = before.partition("\n\n")[0]
    return _joined(f"{first}\n\n{about}", dict.fromkeys(known[name] for name in arguments), example)
