"""How much of TensorFlow's public API is here: `python tests/api/names.py` prints the share for each namespace.

tf1.txt and tf2.txt list the public symbols of TensorFlow 2.21 (`tf.compat.v1` and `tf`), one a line: a function with
its arguments (`name=` where there is a default), a class with those of its constructor, or the bare name of a constant.
internal.txt lists what is below `tf.__internal__`, which libraries use; keras3.txt the names of Keras 3.15.1.
"""

from __future__ import annotations

import collections
import functools
import inspect
import pathlib
from typing import Any

import tapeflow
import tapeflow.compat.v1

HERE = pathlib.Path(__file__).parent
ROOTS = {"tf1": tapeflow.compat.v1, "tf2": tapeflow, "keras3": tapeflow, "internal": tapeflow.__internal__}


@functools.cache
def symbols(version: str) -> dict[str, list[str] | None]:
    """The arguments of each public symbol; None where there is nothing to compare."""
    out: dict[str, list[str] | None] = {}
    for line in (HERE / f"{version}.txt").read_text().splitlines():
        name, bracket, arguments = line.replace(": class", "").partition("(")
        listed = [a for a in arguments.rstrip(")").split(", ") if a]
        out[name] = listed if bracket else None
    return out


def found(version: str, name: str) -> Any:
    """What has the name here; raises AttributeError or ImportError."""
    value = ROOTS[version]
    for part in name.split("."):
        value = getattr(value, part)
    return value


def arguments(value: Any) -> list[str] | None:
    """The arguments of something callable, spelled as in the lists; None where Python cannot tell."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    spelled = [
        stars.get(p.kind, "") + p.name + ("" if p.default is p.empty else "=") for p in parameters
    ]
    return spelled[1:] if spelled[:1] == ["self"] else spelled


def namespace(name: str) -> str:
    return name.rpartition(".")[0]


@functools.cache
def missing(version: str) -> list[str]:
    """The symbols that are not here."""
    out = []
    for name in symbols(version):
        try:
            found(version, name)
        except (AttributeError, ImportError):
            out.append(name)
    return out


@functools.cache
def differing(version: str) -> dict[str, tuple[list[str], list[str] | None]]:
    """The arguments there and here of the symbols whose arguments are others."""
    absent = set(missing(version))
    out = {}
    for name, there in symbols(version).items():
        if name in absent or there is None:
            continue
        here = arguments(found(version, name))
        # What takes `*args, **kwargs` there is a wrapper, of which the arguments are not known.
        if here != there and there != ["*args", "**kwargs"]:
            out[name] = (there, here)
    return out


def shares(version: str) -> dict[str, tuple[int, int, int]]:
    """For each namespace: the number of symbols, of those here, and of those here with equal arguments."""
    absent, different = set(missing(version)), differing(version)
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0])
    for name in symbols(version):
        row = counts[namespace(name)]
        row[0] += 1
        row[1] += name not in absent
        row[2] += name not in absent and name not in different
    return {space: (a, b, c) for space, (a, b, c) in sorted(counts.items())}


def table() -> str:
    """The shares, as text."""
    lines = [f"{'namespace':44}{'symbols':>9}{'here':>7}{'arguments equal':>17}"]
    for version, root in (("tf2", "tf"), ("tf1", "tf.compat.v1")):
        for space, (all_of_it, here, equal) in shares(version).items():
            title = f"{root}.{space}" if space else root
            lines.append(
                f"{title:44}{all_of_it:>9}{here / all_of_it:>7.0%}{equal / all_of_it:>17.0%}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
