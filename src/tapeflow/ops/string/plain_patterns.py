"""Patterns that are a text, or one set of characters, without the engine of regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable

Replace = Callable[[bytes], bytes]

_TEXT = re.compile(rb"[A-Za-z0-9 \t\n_,;:<>/=!@#%&~`'\"-]+")
# One character, or a set of them, that may be repeated. A set ends at the first "]" that is not part of a name, an
# escape, or its first member.
_ONE = re.compile(
    rb"(\[\^?\]?(?:\[:\^?[a-z]+:\]|\\[^QpPxCE0-9]|[^\]\\\[])*\]"
    rb"|\\[dDsSwW]|\\[^A-Za-z0-9]|[A-Za-z0-9 _,;:<>/=!@#%&~`'\"-])(\+?)",
    re.S,
)


def replacement(pattern: bytes, rewrite: bytes, matches: Callable[[bytes, bytes], bool]) -> Replace | None:
    """What replaces all that a pattern matches in a text of ASCII; None for a pattern that is not as simple.

    Args:
      pattern: a valid regular expression.
      rewrite: what to put in the place of each match, as it is.
      matches: whether a pattern matches a text as a whole, as the engine says.
    """
    if _TEXT.fullmatch(pattern):
        return lambda text: text.replace(pattern, rewrite)
    one = _ONE.fullmatch(pattern)
    if one is None:
        return None
    members = bytes(i for i in range(128) if matches(one[1], bytes([i])))
    if not members:
        return lambda text: text
    if one[2]:
        runs = re.compile(b"[" + b"".join(b"\\x%02x" % i for i in members) + b"]+")
        return lambda text: runs.sub(rewrite.replace(b"\\", rb"\\"), text)
    if not rewrite:
        return lambda text: text.translate(None, members)
    if len(rewrite) == 1:
        table = bytes.maketrans(members, rewrite * len(members))
        return lambda text: text.translate(table)
    each = [rewrite if i in members else bytes([i]) for i in range(128)]
    return lambda text: b"".join([each[i] for i in text])


_WITHIN = re.compile(rb"(\.\*)?(" + _TEXT.pattern + rb")(\.\*)?")


def full_match(pattern: bytes) -> Callable[[bytes], bool] | None:
    """Whether a pattern matches a whole line of ASCII; None for one that is no text with `.*` around."""
    found = _WITHIN.fullmatch(pattern)
    if found is None:
        return None
    before, text, after = found.groups()
    if before and after:
        return lambda line: text in line
    if before:
        return lambda line: line.endswith(text)
    return lambda line: line.startswith(text) and (bool(after) or len(line) == len(text))
