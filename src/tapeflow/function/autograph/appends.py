"""`x.append(y)` as an assignment of `x`, so that loops and branches know that the list changes."""

from __future__ import annotations

import ast

from tapeflow.function.autograph.activity import walk_scope
from tapeflow.function.autograph.templates import statements


class Appends(ast.NodeTransformer):
    """Makes `x.append(y)` in branches and loops assign `x`, where `x` is a list that the function itself makes."""

    def __init__(self, body: list[ast.stmt], outside: set[str]):
        self.lists = {
            target.id
            for n in walk_scope(body)
            if isinstance(n, ast.Assign) and _makes_list(n.value)
            for target in n.targets
            if isinstance(target, ast.Name)
        } - outside
        self.depth = 0

    def block(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        return [self.visit(s) for s in stmts] if self.lists else stmts

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef  # type: ignore[assignment]

    def inside(self, node: ast.stmt) -> ast.AST:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    visit_If = visit_For = visit_While = inside

    def visit_Expr(self, s: ast.Expr) -> ast.AST:
        call = s.value
        if not (self.depth and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            return s
        target, args = call.func.value, call.args
        if not (isinstance(target, ast.Name) and target.id in self.lists):
            return s
        if (
            call.func.attr != "append"
            or len(args) != 1
            or call.keywords
            or isinstance(args[0], ast.Starred)
        ):
            return s
        (made,) = statements(f"{target.id} = ag__.list_append({target.id}, _X_)", s, _X_=args[0])
        return made


def _makes_list(value: ast.expr) -> bool:
    """Whether an expression is a new list, or a TensorArray, which can be appended to as well."""
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute):
            return value.func.attr == "TensorArray"
        return isinstance(value.func, ast.Name) and value.func.id in ("list", "TensorArray")
    return isinstance(value, (ast.List, ast.ListComp))


def appended(body: list[ast.stmt]) -> set[str]:
    """Names of lists that a loop appends to, and does not assign otherwise."""
    stores = [
        n.id for n in walk_scope(body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    appends = [
        n.targets[0].id
        for n in walk_scope(body)
        if isinstance(n, ast.Assign)
        and isinstance(n.targets[0], ast.Name)
        and isinstance(n.value, ast.Call)
        and isinstance(n.value.func, ast.Attribute)
        and n.value.func.attr == "list_append"
    ]
    return {name for name in appends if stores.count(name) == appends.count(name)}
