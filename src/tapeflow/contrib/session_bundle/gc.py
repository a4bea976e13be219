"""Which versions of exported models are kept: functions from a list of `Path` to those of it that stay."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tapeflow.compat.v1 import gfile

__all__ = [
    "Path", "get_paths", "largest_export_versions", "mod_export_version", "negation", "one_of_every_n_export_versions",
    "union",
]  # fmt: skip


class Path(NamedTuple):
    """A folder, and the number of the version in it; None where it has none."""

    path: Any
    export_version: int | None


_Filter = Callable[[list[Path]], list[Path]]


def largest_export_versions(n: int) -> _Filter:
    """The `n` versions with the largest numbers."""

    def keep(paths: Iterable[Path]) -> list[Path]:
        numbered = [(path.export_version, i, path) for i, path in enumerate(paths) if path.export_version is not None]
        return sorted(path for _, _, path in sorted(numbered)[::-1][:n])

    return keep


def one_of_every_n_export_versions(n: int) -> _Filter:
    """The largest version of each of the intervals [0, n], (n, 2n], (2n, 3n] and so on."""

    def keep(paths: Iterable[Path]) -> list[Path]:
        found: dict[int, Path] = {}
        for path in paths:
            version = path.export_version
            if version is None:
                continue
            interval = (version - 1) // n if version else 0
            known = found.get(interval)
            if known is None or known.export_version < version:  # type: ignore[operator]
                found[interval] = path
        return sorted(found.values())

    return keep


def mod_export_version(n: int) -> _Filter:
    """The versions whose numbers are multiples of `n`."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)  # type: ignore[operator]


def union(lf: _Filter, rf: _Filter) -> _Filter:
    """What either of two functions keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f: _Filter) -> _Filter:
    """What a function does not keep."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


def get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """The paths in a folder that a parser recognises.

    Args:
      base_dir: the folder.
      parser: gets a `Path` without a version; returns one with its version, or None.
    """
    found = []
    for name in gfile.ListDirectory(base_dir):
        path = parser(Path(os.path.join(base_dir, name), None))
        if path:
            found.append(path)
    return sorted(found)
