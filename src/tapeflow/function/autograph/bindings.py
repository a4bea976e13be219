"""Which names the statements of a function bind."""

from __future__ import annotations

import ast

from tapeflow.function.autograph.activity import (
    assigned,
    walk_scope,
)
from tapeflow.function.autograph.templates import statements

# Builtins that look at the frame they are called from.
OF_THE_FRAME = frozenset({"locals", "globals", "vars", "dir", "eval", "exec", "super"})


def bound_in_blocks(stmts: list[ast.stmt]) -> set[str]:
    """Names that are assigned in branches and loops among `stmts`, which become functions of their own."""
    blocks = [n for n in walk_scope(stmts) if isinstance(n, (ast.If, ast.While, ast.For))]
    return set().union(*(assigned(n)[0] for n in blocks))


def binding_of(names: set[str], at: ast.AST) -> list[ast.stmt]:
    """Makes `names` variables of a function without assigning them; it compiles to nothing."""
    if not names:
        return []
    return statements(f"if 0: {' = '.join(sorted(names))} = None", at)
