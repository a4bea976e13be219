"""What notebooks show of a dataset: how many elements it has, and what each is made of."""

from __future__ import annotations

from typing import Any

from tapeflow.core.display import notebook
from tapeflow.core.structures.nest_paths import flatten_with_tuple_paths

_SIZES = {-1: "infinitely many elements", -2: "an unknown number of elements", 1: "1 element"}


def to_html(kind: str, size: int, spec: Any) -> str:
    """A table of the components of an element, below the kind of the dataset and its size."""
    rows = [
        ("".join(f"[{key!r}]" for key in path) or "element", type(leaf).__name__.removesuffix("Spec"),
         getattr(leaf, "shape", ""), getattr(getattr(leaf, "dtype", None), "name", ""))
        for path, leaf in flatten_with_tuple_paths(spec)
    ]  # fmt: skip
    facts = f"{kind}: {_SIZES.get(size, f'{size:,} elements')}"
    return notebook.caption(facts) + notebook.table(rows, ("component", "type", "shape", "dtype"))
