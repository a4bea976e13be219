"""Why public symbols of TensorFlow are not here: reason, then names, with `*` for all that are below a namespace."""

from __future__ import annotations

import fnmatch

REASONS: dict[str, str] = {}

NAMES = [name for listed in REASONS.values() for name in listed.split()]

# Functions that are here and refuse, because nothing here could do what they ask.
REFUSED: set[str] = set()


def reason(name: str) -> str | None:
    """Why the symbol is not here; None where nobody knows."""
    for text, listed in REASONS.items():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in listed.split()):
            return text
    return None
