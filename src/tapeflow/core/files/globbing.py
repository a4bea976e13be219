"""File names that match a glob pattern, by the rules of TensorFlow's file systems.

`*`, `?` and `[...]` match within one component of a path, leading dots included; a backslash quotes.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from typing import Any

from tapeflow.core.files.paths import local_path, plain_text, shown_path

_Predicate = Callable[[str], bool]

_CLASSES: dict[str, _Predicate] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": lambda c: c in " \t",
    "cntrl": lambda c: unicodedata.category(c) == "Cc",
    "digit": lambda c: c in "0123456789",
    "graph": lambda c: c.isprintable() and not c.isspace(),
    "lower": str.islower,
    "print": str.isprintable,
    "punct": lambda c: c.isprintable() and not c.isalnum() and not c.isspace(),
    "space": str.isspace,
    "upper": str.isupper,
    "xdigit": lambda c: c in "0123456789abcdefABCDEF",
}


def matching_paths(pattern: Any) -> list[str]:
    """Return the paths that match `pattern`, sorted, in its file system.

    Directories that cannot be read have no children.
    """
    text = plain_text(pattern)
    path = local_path(text)
    special = next((at for at, c in enumerate(path) if c in "*?[\\"), len(path))
    if special == len(path):
        return [text] if os.path.exists(path) else []
    fixed, _, rest = path[:special].rpartition("/")
    folders = [fixed or ("/" if path.startswith("/") else ".")]
    parts = [part for part in (rest + path[special:]).split("/") if part]
    for depth, part in enumerate(parts):
        steps = _parsed(part)
        if steps is None:
            return []
        found = [
            os.path.join(folder, name)
            for folder in folders
            for name in _children(folder)
            if _matches(name, steps)
        ]
        folders = (
            found if depth == len(parts) - 1 else [each for each in found if os.path.isdir(each)]
        )
    return sorted(shown_path(each, text) for each in folders)


def _children(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (OSError, ValueError):  # ValueError: a null byte
        return []


def _parsed(part: str) -> list[_Predicate | None] | None:
    """What `part` wants of each character, None for a star; None altogether if it can match nothing."""
    steps: list[_Predicate | None] = []
    at = 0
    while at < len(part):
        c = part[at]
        at += 1
        if c == "*":
            if not steps or steps[-1] is not None:
                steps.append(None)
            continue
        if c == "?":
            steps.append(lambda _: True)
            continue
        if c == "[":
            end, accepts = _bracket(part, at)
            if accepts is not None:
                at = end
                steps.append(accepts)
                continue
        if c == "\\":
            if at == len(part):
                return None
            c = part[at]
            at += 1
        steps.append(c.__eq__)
    return steps


def _bracket(part: str, at: int) -> tuple[int, _Predicate | None]:
    """The end and the meaning of a bracket expression whose inside begins at `at`; no meaning if it never ends."""
    negated = part[at : at + 1] in ("!", "^")
    at += negated
    first = at
    named: list[_Predicate] = []
    ranges: list[tuple[str, str]] = []
    while at < len(part) and (part[at] != "]" or at == first):
        if part.startswith("[:", at) and (end := part.find(":]", at)) > 0:
            kind = _CLASSES.get(part[at + 2 : end])
            if kind is None:
                return at, None
            named.append(kind)
            at = end + 2
            continue
        at += part[at] == "\\"
        low = high = part[at : at + 1]
        at += 1
        if part[at : at + 1] == "-" and part[at + 1 : at + 2] not in ("", "]"):
            at += 1 + (part[at + 1] == "\\")
            high = part[at : at + 1]
            at += 1
        ranges.append((low, high))
    if at >= len(part):
        return at, None

    def accepts(c: str) -> bool:
        inside = any(low <= c <= high for low, high in ranges) or any(kind(c) for kind in named)
        return inside != negated

    return at + 1, accepts


def _matches(name: str, steps: list[_Predicate | None]) -> bool:
    """Whether all of `name` matches; time at most the product of the lengths.

    Only the last star seen has to be tried again: what an earlier one could take instead, this one can as well.
    """
    at = step = 0
    star, star_at = -1, 0
    while at < len(name):
        wanted = steps[step] if step < len(steps) else None
        if wanted is not None and wanted(name[at]):
            at += 1
            step += 1
        elif step < len(steps) and wanted is None:
            star, star_at = step, at
            step += 1
        elif star >= 0:
            star_at += 1
            at, step = star_at, star + 1
        else:
            return False
    return all(wanted is None for wanted in steps[step:])
