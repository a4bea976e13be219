"""Which names a piece of code reads and assigns, and which are live: still read before they are assigned anew.

Liveness decides what a staged branch or loop has to hand on. It is computed backwards over structured code, after
`jumps` took break, continue and early return away.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

Names = frozenset[str]
NONE: Names = frozenset()

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
TRY: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def walk_scope(nodes: ast.AST | Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes but those inside of nested functions, lambdas, classes and comprehensions."""
    todo = [nodes] if isinstance(nodes, ast.AST) else list(nodes)
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            todo.extend(node.decorator_list)
        elif isinstance(node, COMPREHENSIONS):
            todo.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        elif not isinstance(node, ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))


def assigned(nodes: ast.AST | Iterable[ast.AST]) -> tuple[set[str], dict[str, ast.expr]]:
    """The names that `nodes` may bind, and the places such as `self.x` or `a[i]` that they may set, by their text."""
    names: set[str] = set()
    places: dict[str, ast.expr] = {}
    for n in walk_scope(nodes):
        if isinstance(n, ast.Name):
            if not isinstance(n.ctx, ast.Load):
                names.add(n.id)
        elif isinstance(n, (ast.Attribute, ast.Subscript)):
            if isinstance(n.ctx, ast.Store) and base_names(n) is not None:
                places[ast.unparse(n)] = n
        elif isinstance(n, (*FUNCTIONS, ast.ClassDef)):
            names.add(n.name)
        elif isinstance(n, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)):
            if n.name:
                names.add(n.name)
        elif isinstance(n, ast.MatchMapping):
            if n.rest:
                names.add(n.rest)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            names.update((a.asname or a.name).split(".")[0] for a in n.names)
    return names, places


def base_names(place: ast.expr) -> set[str] | None:
    """The names that `self.x` or `a[i].b` depend on; None for places that cannot be read again, as `f().x`."""
    names: set[str] = set()
    while True:
        if isinstance(place, ast.Attribute):
            place = place.value
        elif isinstance(place, ast.Subscript):
            index = place.slice
            if isinstance(index, ast.Name):
                names.add(index.id)
            elif not isinstance(index, ast.Constant):
                return None
            place = place.value
        elif isinstance(place, ast.Name):
            return names | {place.id}
        else:
            return None


def reads(node: ast.AST | Iterable[ast.AST | None] | None) -> set[str]:
    """The names of the surrounding scope that `node` reads, also through the functions defined in it."""
    if node is None:
        return set()
    if not isinstance(node, ast.AST):
        return set().union(*(reads(n) for n in node))
    found: set[str] = set()
    todo = [node]
    while todo:
        n = todo.pop()
        if isinstance(n, ast.Name):
            if not isinstance(n.ctx, ast.Store):
                found.add(n.id)
        elif isinstance(n, ast.AugAssign):
            if isinstance(n.target, ast.Name):
                found.add(n.target.id)
            todo.extend((n.target, n.value))
        elif isinstance(n, (*FUNCTIONS, ast.Lambda)):
            found |= free_reads(n)
            a = n.args
            todo.extend([*a.defaults, *(d for d in a.kw_defaults if d)])
            todo.extend(getattr(n, "decorator_list", ()))
        elif isinstance(n, COMPREHENSIONS):
            targets = assigned([g.target for g in n.generators])[0]
            inner = reads(ast.iter_child_nodes(n)) - targets
            found |= inner | reads(n.generators[0].iter)
        else:
            todo.extend(ast.iter_child_nodes(n))
    return found


def free_reads(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """The names that a nested function reads from the scope around it."""
    a = function.args
    own = {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p}
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    declared = {
        name
        for n in walk_scope(body)
        if isinstance(n, (ast.Nonlocal, ast.Global))
        for name in n.names
    }
    return ((reads(body) | declared) - own) - (assigned(body)[0] - declared)


class Liveness:
    """Marks each `if` and loop of a function with the names that are live around it.

    Sets on `ast.If`: `live_out`, `live_body`, `live_orelse` (at the start of the branches); on loops: `live_out` and
    `live_head` (at the start of an iteration). `shared` are names that live outside of the function.
    """

    def __init__(self, body: list[ast.stmt], shared: Iterable[str]):
        self.closures = self._closures(body)
        self._reads: dict[int, Names] = {}
        self._kills: dict[int, Names] = {}
        self.shared = frozenset(shared) | {
            name
            for n in ast.walk(ast.Module(body, []))
            if isinstance(n, ast.Nonlocal)
            for name in n.names
        }
        self.caught: Names = NONE  # what the handlers of the `try` around read
        self.block(body, self.shared)

    @staticmethod
    def _closures(body: list[ast.stmt]) -> dict[str, Names]:
        """What calling a local function may read, by its name."""
        found: dict[str, set[str]] = {}
        for n in walk_scope(body):
            if isinstance(n, FUNCTIONS):
                found.setdefault(n.name, set()).update(free_reads(n))
            elif isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda):
                for t in n.targets:
                    if isinstance(t, ast.Name):
                        found.setdefault(t.id, set()).update(free_reads(n.value))
        changed = True
        while changed:
            changed = False
            for names in found.values():
                more = set().union(*(found[n] for n in names if n in found)) - names
                if more:
                    names |= more
                    changed = True
        return {name: frozenset(names) for name, names in found.items()}

    def reads(self, node: ast.AST | None) -> Names:
        # The bodies of nested loops are gone through many times.
        known = self._reads.get(id(node))
        if known is None:
            names = reads(node)
            if self.closures:
                for n in list(names):
                    names |= self.closures.get(n, NONE)
            known = self._reads[id(node)] = frozenset(names)
        return known

    def kills(self, node: ast.AST, parts: list[ast.AST] | None = None) -> Names:
        """The names that `node`, or `parts` of it, assigns for certain."""
        known = self._kills.get(id(node))
        if known is None:
            found = assigned(node if parts is None else parts)[0]
            known = self._kills[id(node)] = frozenset(found) - self.shared
        return known

    def block(self, stmts: list[ast.stmt], out: Names) -> Names:
        out |= self.caught
        for s in reversed(stmts):
            out = self.stmt(s, out) | self.caught
        return out

    def stmt(self, s: ast.stmt, out: Names) -> Names:
        if isinstance(s, ast.If):
            s.live_out = out  # type: ignore[attr-defined]
            s.live_body = self.block(s.body, out)  # type: ignore[attr-defined]
            s.live_orelse = self.block(s.orelse, out)  # type: ignore[attr-defined]
            return self.reads(s.test) | s.live_body | s.live_orelse  # type: ignore[attr-defined]
        if isinstance(s, (ast.While, ast.For)):
            return self.loop(s, out)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            inner = self.block(s.body, out)
            for item in reversed(s.items):
                if item.optional_vars is not None:
                    inner = (inner - self.kills(item.optional_vars)) | self.reads(
                        item.optional_vars
                    )
                inner |= self.reads(item.context_expr)
            return inner
        if isinstance(s, TRY):
            after = self.block(s.finalbody, out)
            handled = after if s.finalbody else NONE
            for h in s.handlers:
                handled |= self.reads(h.type) | (
                    self.block(h.body, after) - ({h.name} if h.name else NONE)
                )
            orelse = self.block(s.orelse, after)
            outer, self.caught = self.caught, self.caught | handled
            inner = self.block(s.body, orelse)
            self.caught = outer
            return inner
        if isinstance(s, ast.Match):
            inner = out
            for case in s.cases:
                one = self.block(case.body, out) | self.reads(case.guard)
                inner |= (one - self.kills(case.pattern)) | self.reads(case.pattern)
            return inner | self.reads(s.subject)
        if isinstance(s, ast.Return):
            return self.reads(s.value) | self.shared
        if isinstance(s, ast.AugAssign):
            return out | self.reads(s)
        return (out - self.kills(s, self._certain(s))) | self.reads(s)

    @staticmethod
    def _certain(s: ast.stmt) -> list[ast.AST]:
        """The parts of a simple statement that assign whenever it is run."""
        if isinstance(s, (ast.Assign, ast.Delete)):
            return list(s.targets)
        if isinstance(s, ast.AnnAssign):
            return [s.target] if s.value is not None else []
        if isinstance(s, (*FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)):
            return [s]
        return []

    def loop(self, s: ast.While | ast.For, out: Names) -> Names:
        stops = frozenset(getattr(s, "stop_flags", ()))
        s.live_out = out  # type: ignore[union-attr]
        if isinstance(s, ast.While):
            always = out | self.reads(s.test) | stops
            targets = NONE
        else:
            always = out | stops | self.reads(s.target)
            targets = self.kills(s.target)
        head = always
        while True:
            inside = self.block(s.body, head)
            s.live_head = inside  # type: ignore[union-attr]
            grown = head | (inside - targets)
            if grown == head:
                break
            head = grown
        s.live_around = head  # type: ignore[union-attr]
        return head | self.reads(s.iter) if isinstance(s, ast.For) else head
