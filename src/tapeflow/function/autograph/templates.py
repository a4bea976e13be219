"""Syntax trees from text: `_NAME_` in a template stands for a given expression or list of statements."""

from __future__ import annotations

import ast
from typing import Any

_TRIES = 100


def parse(text: str) -> ast.Module:
    """The tree of `text`. Raises SyntaxError.

    CPython before 3.11.8 and 3.12.2 keeps one count of the depth for all threads while it makes a tree, and
    raises SystemError where two threads make one at a time (python/cpython#106905).
    """
    for _ in range(_TRIES):
        try:
            return ast.parse(text)
        except SystemError:
            pass
    return ast.parse(text)


class _Fill(ast.NodeTransformer):
    def __init__(self, given: dict[str, Any]):
        self.given = given

    def visit_Name(self, node: ast.Name) -> Any:
        return self.given.get(node.id, node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        if isinstance(node.value, ast.Name) and isinstance(self.given.get(node.value.id), list):
            return self.given[node.value.id]
        return self.generic_visit(node)


def statements(text: str, at: ast.AST, **given: Any) -> list[ast.stmt]:
    """The statements of `text`, at the place of `at` in the program."""
    tree = parse(text)
    place = _place_of(at)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.__dict__.update(place)
    return _Fill(given).visit(tree).body if given else tree.body


def _place_of(at: ast.AST) -> dict[str, int]:
    """Where tracebacks point: for compound statements at their first line."""
    end: Any = getattr(at, "test", None) or getattr(at, "iter", None) or at
    if isinstance(at, ast.stmt) and end.end_lineno != at.lineno and hasattr(at, "body"):
        end = getattr(at, "target", None) or ast.Name(
            "", end_lineno=at.lineno, end_col_offset=at.col_offset + 1
        )
    places: Any = {"lineno": at, "col_offset": at, "end_lineno": end, "end_col_offset": end}
    return {name: getattr(node, name) for name, node in places.items()}


def expression(text: str, at: ast.AST, **given: Any) -> ast.expr:
    """The expression of `text`, at the place of `at` in the program."""
    (statement,) = statements(text, at, **given)
    assert isinstance(statement, ast.Expr)
    return statement.value
