"""Which rows XLA compiles: `python tests/ops/row_coverage.py` prints how many, and why others run on the host."""

from __future__ import annotations

import collections
import re
from typing import Any

from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

COMPILED = "compiled: the kernel under `jax.numpy`"
OWN = "compiled: a kernel of its own"
SHAPES = "done while compiling: of shapes alone"
LISTS = "compiled in graphs, on the host eagerly: lists of tensors"
CHECKS = "dropped in compiled functions, on the host elsewhere: there to raise"
STRINGS = "on the host: takes or returns strings"
REASONS = "on the host: the row says why"


def kind_of(row: Any) -> str:
    """How a row meets XLA, one of the texts above."""
    dtypes = {part.rpartition(":")[2].strip().rpartition("*")[2] for part in re.split("->|,", row.signature)}
    if row.checks:
        return CHECKS
    if row.not_compiled:
        return REASONS
    if "string" in dtypes:
        return STRINGS
    if "variant" in dtypes:
        return LISTS
    if row.of_shape is not None:
        return SHAPES
    return COMPILED if row.compiled_kernel is None else OWN


def table() -> str:
    """How many rows there are of each kind, in Markdown."""
    load_all_rows()
    counts = collections.Counter(kind_of(row) for row in REGISTRY.values())
    lines = [f"| {kind} | {counts[kind]} |" for kind in (COMPILED, OWN, SHAPES, LISTS, CHECKS, STRINGS, REASONS)]
    return "\n".join(["| rows | how many |", "|---|---|", *lines])


def main() -> None:
    print(table())
    print()
    for name, row in sorted(REGISTRY.items()):
        kind = kind_of(row)
        if kind in (STRINGS, REASONS):
            print(f"{name}: {row.not_compiled or 'it takes or returns strings'}")


if __name__ == "__main__":
    main()
