"""Takes `break`, `continue`, early `return` and `else` of loops away: what would be skipped is put under conditions.

Afterwards code is structured: a block is left at its end only. `if c: return a` followed by more becomes an `if` with
the rest in its `else`, which needs no flag; only where that is not possible, a flag says that a jump was taken.
"""

from __future__ import annotations

import ast

from tapeflow.function.autograph.activity import TRY, walk_scope
from tapeflow.function.autograph.errors import UnsupportedSyntax
from tapeflow.function.autograph.templates import expression, statements

RETURNED = "ag__ret"
VALUE = "ag__val"


def lower_jumps(function: ast.FunctionDef) -> None:
    """Changes the body of `function`; its nested functions stay as they are.

    Loops get the attribute `stop_flags`, the names of the flags that end them. Raises UnsupportedSyntax for a jump
    out of a `finally` block.
    """
    for n in walk_scope(function.body):
        if isinstance(n, ast.While) and any(
            isinstance(e, ast.NamedExpr) for e in walk_scope(n.test)
        ):
            _test_inside(n)
    body = function.body
    early = any(
        isinstance(n, ast.Return)
        for s in body
        if not isinstance(s, ast.Return)
        for n in walk_scope(s)
    )
    late = any(isinstance(s, ast.Return) for s in body[:-1])
    if not (
        early
        or late
        or any(
            isinstance(n, (ast.Break, ast.Continue))
            or (isinstance(n, (ast.For, ast.While)) and n.orelse)
            for n in walk_scope(body)
        )
    ):
        return
    lowering = _Lowering(early or late)
    if lowering.returns:
        last = body[-1]
        if not _ends(body):
            body = [*body, *statements(f"return {_NO_RETURN}", last)]
        body, _ = lowering.block(body, None)
        body = [
            *statements(f"{RETURNED} = False", body[0]),
            *body,
            *statements(f"return ag__.returned({VALUE})", last),
        ]
    else:
        body, _ = lowering.block(body, None)
    function.body = _without_unread_flags(body)


def _test_inside(loop: ast.While) -> None:
    """Moves a test that assigns variables into the body, for in the graph these are two functions."""
    if loop.orelse:
        raise UnsupportedSyntax(
            f"a while loop with an else clause and := in its condition is not supported (line {loop.lineno})"
        )
    loop.body = [*statements("if not _TEST_: break", loop.test, _TEST_=loop.test), *loop.body]
    loop.test = ast.copy_location(ast.Constant(True), loop.test)


_NO_RETURN = "ag__.NO_RETURN"


def _ends(stmts: list[ast.stmt]) -> bool:
    """Whether the end of a block is never reached."""
    if not stmts:
        return False
    last = stmts[-1]
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    if isinstance(last, ast.While):
        forever = isinstance(last.test, ast.Constant) and bool(last.test.value)
        return forever and not any(isinstance(n, ast.Break) for n in walk_scope(last.body))
    return isinstance(last, (ast.Return, ast.Break, ast.Continue, ast.Raise))


class _Loop:
    def __init__(self, number: int):
        self.broken = f"ag__brk{number}"
        self.continued = f"ag__cnt{number}"
        self.used: set[str] = set()


class _Lowering:
    def __init__(self, returns: bool):
        self.returns = returns
        self.loops = 0

    def block(self, stmts: list[ast.stmt], loop: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        """The block without jumps, and the flags that say that the rest of what follows it is skipped."""
        out: list[ast.stmt] = []
        for i, s in enumerate(stmts):
            ends = isinstance(s, ast.If) and (_ends(s.body), _ends(s.orelse))
            new, flags = self.stmt(s, loop)
            out += new
            rest = stmts[i + 1 :]
            if ends == (True, True):
                return out, flags
            if not flags:
                continue
            if not rest or isinstance(s, (ast.Return, ast.Break, ast.Continue)):
                return out, flags
            at = rest[0]
            rest, more = self.block(rest, loop)
            if ends and any(ends):
                falls = "orelse" if ends[0] else "body"
                own = s.branch_flags[falls]  # type: ignore[attr-defined]
                branch = getattr(s, falls)
                branch += _unless(own, rest, at) if own else rest
            else:
                out += _unless(flags, rest, at)
            return out, flags | more
        return out, set()

    def stmt(self, s: ast.stmt, loop: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        if isinstance(s, ast.Return) and self.returns:
            value = s.value or ast.copy_location(ast.Constant(None), s)
            return statements(f"{VALUE} = _V_\n{RETURNED} = True", s, _V_=value), {RETURNED}
        if isinstance(s, (ast.Break, ast.Continue)) and loop is not None:
            flag = loop.broken if isinstance(s, ast.Break) else loop.continued
            loop.used.add(flag)
            return statements(f"{flag} = True", s), {flag}
        if isinstance(s, ast.If):
            s.body, one = self.block(s.body, loop)
            s.orelse, two = self.block(s.orelse, loop)
            s.branch_flags = {"body": one, "orelse": two}  # type: ignore[attr-defined]
            return [s], one | two
        if isinstance(s, (ast.For, ast.While)):
            return self.loop(s, loop)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            s.body, flags = self.block(s.body, loop)
            return [s], flags
        if isinstance(s, TRY):
            return self.attempt(s, loop)
        if isinstance(s, ast.Match):
            flags = set()
            for case in s.cases:
                case.body, more = self.block(case.body, loop)
                flags |= more
            return [s], flags
        return [s], set()

    def loop(self, s: ast.For | ast.While, outer: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        self.loops += 1
        mine = _Loop(self.loops)
        s.body, flags = self.block(s.body, mine)
        if mine.continued in mine.used:
            s.body = [*statements(f"{mine.continued} = False", s), *s.body]
        stops = flags - {mine.continued}
        s.stop_flags = sorted(stops)  # type: ignore[union-attr]
        out: list[ast.stmt] = []
        if mine.broken in mine.used:
            out += statements(f"{mine.broken} = False", s)
        out.append(s)
        left = stops & {RETURNED}
        if s.orelse:
            at = s.orelse[0]
            orelse, more = self.block(s.orelse, outer)
            s.orelse = []
            out += _unless(stops, orelse, at) if stops else orelse
            left |= more
        return out, left

    def attempt(self, s: ast.Try, loop: _Loop | None) -> tuple[list[ast.stmt], set[str]]:
        if any(
            isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in walk_scope(s.finalbody)
        ):
            raise UnsupportedSyntax(
                f"break, continue and return in a finally block are not supported (line {s.lineno})"
            )
        s.body, flags = self.block(s.body, loop)
        if s.orelse:
            at = s.orelse[0]
            orelse, more = self.block(s.orelse, loop)
            s.orelse = _unless(flags, orelse, at) if flags else orelse
            flags = flags | more
        for handler in s.handlers:
            handler.body, more = self.block(handler.body, loop)
            flags = flags | more
        return [s], flags


def _unless(flags: set[str], stmts: list[ast.stmt], at: ast.stmt) -> list[ast.stmt]:
    """`stmts` where no jump was taken."""
    return statements(f"if ag__.none_of({', '.join(sorted(flags))}):\n  _REST_", at, _REST_=stmts)


def _without_unread_flags(body: list[ast.stmt]) -> list[ast.stmt]:
    read = {
        n.id
        for n in walk_scope(body)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id.startswith("ag__")
    }
    read.update(f for n in walk_scope(body) for f in getattr(n, "stop_flags", ()))
    return _DropFlags(read).block(body)


class _DropFlags(ast.NodeTransformer):
    def __init__(self, read: set[str]):
        self.read = read

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [s for s in (self.visit(s) for s in body) if s is not None]

    def visit_Assign(self, s: ast.Assign) -> ast.stmt | None:
        target = s.targets[0]
        unread = (
            isinstance(target, ast.Name)
            and target.id.startswith(("ag__ret", "ag__brk", "ag__cnt"))
            and target.id not in self.read
        )
        return None if unread else s

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            stmts = getattr(node, field, None)
            if isinstance(stmts, list):
                kept = self.block(stmts)
                if field == "body" and not kept:
                    at = node.pattern if isinstance(node, ast.match_case) else node
                    kept = [ast.copy_location(ast.Pass(), at)]
                setattr(node, field, kept)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]


def not_stopped(flags: list[str], at: ast.AST) -> ast.expr:
    """The condition that a loop has not been left."""
    return expression(f"ag__.none_of({', '.join(flags)})", at)
