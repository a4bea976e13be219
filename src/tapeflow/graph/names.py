"""Names in a graph: which are valid, and how they are made unique."""

from __future__ import annotations

import re
import threading

_OP = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_SCOPE = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


def is_op(name: str) -> bool:
    """Whether `name` can be an operation's."""
    return isinstance(name, str) and _OP.match(name) is not None


def check_op(name: str) -> None:
    """Raises ValueError unless `name` can be an operation's."""
    if not is_op(name):
        raise ValueError(
            f"'{name}' is not a valid node name. Accepted names conform to Regex {_OP.pattern!r}"
        )


def check_scope(name: str, root: bool) -> None:
    """Raises ValueError unless `name` can be a name scope's; one at the root begins like an operation's."""
    pattern = _OP if root else _SCOPE
    if not pattern.match(name):
        raise ValueError(f"'{name}' is not a valid {'root ' if root else ''}scope name. A {'root ' if root else ''}"
                         f"scope name has to match the following pattern: {pattern.pattern}")  # fmt: skip


class Names:
    """The names that are taken. Names that differ in case only count as the same, as some file systems do."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}
        self._lock = threading.Lock()

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._used

    def unique(self, name: str, mark: bool = True) -> str:
        """`name`, or `name_1`, `name_2`, ... if it is taken."""
        used = self._used
        key = name.lower()
        with self._lock:
            count = used.get(key, 0)
            if mark:
                used[key] = count + 1
            if not count:
                return name
            candidate = key
            while candidate in used:
                candidate = f"{key}_{count}"
                count += 1
            if mark:
                used[candidate] = 1
                used[key] = count
            return f"{name}_{count - 1}"

    def mark(self, name: str) -> None:
        """Take `name`."""
        with self._lock:
            self._used.setdefault(name.lower(), 1)


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name below a scope; control inputs and colocations keep what they begin with."""
    if not import_scope:
        return name
    start = next((mark for mark in ("loc:@", "^") if name.startswith(mark)), "")
    return f"{start}{import_scope.rstrip('/')}/{name[len(start) :]}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name without the scope that it begins with; control inputs and colocations keep what they begin with."""
    if not export_scope:
        return name
    start = next((mark for mark in ("loc:@", "^") if name.startswith(mark)), "")
    return start + name[len(start) :].removeprefix(f"{export_scope.rstrip('/')}/")
