"""What is said of a TensorFlow name that is not in tapeflow: since when TensorFlow has had it, and what is near it."""

from __future__ import annotations

import functools
import re
from types import ModuleType
from typing import Any

from tapeflow.alias.tables import lines_of
from tapeflow.api import providers
from tapeflow.core.spelling import nearest

_SINCE = {
    "12": "since 1.x and in 2.x",
    "1": "in 1.x only, up to 1.15",
    "2": "since 2.0",
    "1+": "in 1.x, and again since a release after 2.0",
    "+": "since a release after 2.0",
    "?": "in some releases",
}


@functools.cache
def names() -> dict[str, dict[str, str]]:
    """TensorFlow's public names: {namespace: {name: era}}, from names.txt."""
    found: dict[str, dict[str, str]] = {}
    for line in lines_of("names.txt"):
        if not line.startswith("#"):
            space, era, *words = line.split()
            found.setdefault("" if space == "tf" else space, {}).update(dict.fromkeys(words, era))
    return found


def explain(module: str, name: str, present: Any) -> str:
    """The sentence for `tensorflow.<module>.<name>`; `present`: the names that the namespace has here."""
    space = module.removeprefix("tensorflow").lstrip(".")
    v1 = space == "compat.v1" or space.startswith("compat.v1.")
    table_space = space.removeprefix("compat.v1").removeprefix("compat.v2").lstrip(".")
    era = names().get(table_space, {}).get(name)
    full = f"{module}.{name}"
    if era is None and f"{table_space}.{name}".lstrip(".") in names():
        era = next(iter(names()[f"{table_space}.{name}".lstrip(".")].values()))
    if era is not None:
        text = f"{full} is not in tapeflow; TensorFlow has it {_SINCE[era]}"
    elif space.split(".")[0] in ("python", "core", "compiler", "lite", "tools"):
        text = f"{full} is not in tapeflow; it belongs to TensorFlow's internals"
    else:
        text = f"{full} is not in tapeflow, nor among the public names of TensorFlow"
    near = _nearest(table_space, name, present, era, v1)
    text = f"{text}. {near}" if near else f"{text}."
    if "tf.compat.v1." in near:
        text += " A program of 1.x runs with `python -m tapeflow.run --v1`, or after install_as_tensorflow(v1=True)."
    return text


def explain_here(module: ModuleType, name: str) -> str:
    """The sentence for a name that a module of tapeflow lacks: where it is, or which names are spelled alike."""
    space = module.__name__.removeprefix("tapeflow").lstrip(".")
    text = f"module {module.__name__!r} has no attribute {name!r}."
    old = _of_v1(space, name)
    if old is not None:
        here = f"tf.compat.v1.{space}.{name}".replace("..", ".")
        what = (getattr(old, "__doc__", None) or "").strip().partition("\n")[0] if callable(old) else ""
        said = f": {what[0].lower()}{what[1:].rstrip('.')}" if what else ""
        return f"{text} It is a name of TensorFlow 1.x{said}. It is here as {here}."
    table_space = space.removeprefix("compat.v1").lstrip(".")
    known = names().get(table_space, {})
    present = {each for each in dir(module) if _is_public(module, each, table_space)}
    present.update(each for each in known if hasattr(module, each))
    near = _nearest(table_space, name, present, None, v1=True)
    if table_space != space:
        near = re.sub(r"\btf\.(?!compat)", "tf.compat.v1.", near)
    return f"{text} {near}".rstrip()


def _is_public(module: ModuleType, name: str, space: str) -> bool:
    """Whether a name of a module is for programs: the modules that hold its parts are not."""
    if name.startswith("_"):
        return False
    return not isinstance(module.__dict__.get(name), ModuleType) or f"{space}.{name}".lstrip(".") in names()


def _of_v1(space: str, name: str) -> Any:
    """What 1.x calls so and 2.x does not have; None for any other name."""
    era = names().get(space, {}).get(name)
    if space.startswith(("compat", "contrib")) or era not in ("1", "1+"):
        return None
    found: Any = providers.load("names").compat.v1
    for part in (*filter(None, space.split(".")), name):
        found = getattr(found, part, None)
    return found


def _nearest(space: str, name: str, present: Any, era: str | None, v1: bool) -> str:
    found = []
    if era in ("1", "1+", "12") and not v1:
        if _has(providers.load("names").compat.v1, space, name):
            found.append(f"tf.compat.v1.{space}.{name}".replace("..", "."))
    prefix = f"tf.{space}." if space else "tf."
    elsewhere = [
        f"tf.{each}.{name}" if each else f"tf.{name}"
        for each in sorted(names(), key=_distance)
        if each != space and name in names()[each]
    ]

    for full in elsewhere[:60]:
        if _has(providers.load("names"), "", full[3:]) and len(found) < 3:
            found.append(full)
    if not found:
        found = [prefix + each for each in nearest(name, present, 2)]
    return f"Nearest here: {', '.join(found)}." if found else ""


def _distance(space: str) -> tuple[bool, int, int]:
    """How far a namespace is from what new programs use: contrib and Keras's backend come last."""
    return space.startswith(("contrib", "keras.backend", "compat")), space.count("."), len(space)


def _has(root: Any, space: str, name: str) -> bool:
    for part in [*filter(None, space.split(".")), *name.split(".")]:
        try:
            root = getattr(root, part)
        except Exception:  # what cannot be loaded is not there to be named
            return False
    return True


class Missing(AttributeError):
    """A name that tapeflow lacks; the sentence is made when it is read, as many programs only probe."""

    def __init__(self, module: str, name: str, source: Any):
        super().__init__(f"module {module!r} has no attribute {name!r}")
        self._asked = (module, name, source)

    def __str__(self) -> str:
        module, name, source = self._asked
        return explain(module, name, source.public_names())
