"""Passes over programs: each is a function in a file of its own that changes a program in place,
and keeps what it computes.

`optimise` runs them in order; `listeners` are shown the program before the first and after each pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.graph.passes.arithmetic import simplify
from tapeflow.graph.passes.common_subexpressions import merge_common
from tapeflow.graph.passes.folding import fold_constants
from tapeflow.graph.passes.fusion import fuse
from tapeflow.graph.passes.joint_updates import join_updates
from tapeflow.graph.passes.products import stack_products
from tapeflow.graph.passes.prune import prune
from tapeflow.graph.run.program import Program

PASSES: list[tuple[str, Callable[[Program], None]]] = [
    ("prune", prune),
    ("constant folding", fold_constants),
    ("arithmetic", simplify),
    ("common subexpressions", merge_common),
    ("sums of products", stack_products),
    ("prune", prune),
    ("joint updates", join_updates),
    ("fusion", fuse),
]
# Called with the name of a pass ("" before the first) and the program.
listeners: list[Callable[[str, Any], None]] = []


def optimise(program: Program) -> Program:
    for listener in listeners:
        listener("", program)
    for name, change in PASSES:
        change(program)
        for listener in listeners:
            listener(name, program)
    return program
