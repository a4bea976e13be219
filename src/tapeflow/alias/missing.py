"""What is said of a TensorFlow name that is not in tapeflow: since when TensorFlow has had it, and what is near it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

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
    for line in (Path(__file__).parent / "names.txt").read_text().splitlines():
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


def _nearest(space: str, name: str, present: Any, era: str | None, v1: bool) -> str:
    found = []
    if era in ("1", "1+", "12") and not v1:
        from tapeflow.compat import v1 as old

        if _has(old, space, name):
            found.append(f"tf.compat.v1.{space}.{name}".replace("..", "."))
    prefix = f"tf.{space}." if space else "tf."
    elsewhere = [
        f"tf.{each}.{name}" if each else f"tf.{name}"
        for each, words in names().items()
        if each != space and name in words
    ]
    import tapeflow

    for full in elsewhere[:60]:
        if _has(tapeflow, "", full[3:]) and len(found) < 3:
            found.append(full)
    if not found:
        import difflib  # here, as it costs 4 ms

        close = difflib.get_close_matches(name, [each for each in present if each != name], 2, 0.7)
        found = [prefix + each for each in close]
    return f"Nearest here: {', '.join(found)}." if found else ""


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
