"""Rewrites a function so that its control flow goes through `operators`, which decide when it runs.

    if x > 0:                 def ag__then1():
      y = f(x)                    nonlocal y
                                  y = ag__.cv(f)(x)
                              ag__.if_stmt(x > 0, ag__then1, None, ('y',), 1)

The branches are closures over the function's own variables, whose cells the operators read and set. Every node
keeps the place of the code it was made from, so that tracebacks show the program's own lines.
"""

from __future__ import annotations

import ast

from tapeflow.function.autograph.activity import (
    Liveness,
    assigned,
    base_names,
    reads,
    walk_scope,
)
from tapeflow.function.autograph.appends import Appends, appended
from tapeflow.function.autograph.bindings import OF_THE_FRAME, binding_of, bound_in_blocks
from tapeflow.function.autograph.errors import UnsupportedSyntax
from tapeflow.function.autograph.jumps import lower_jumps, not_stopped
from tapeflow.function.autograph.templates import expression, statements

_COMPARISONS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def transform(node: ast.FunctionDef | ast.Lambda, features: frozenset[str] = frozenset()) -> ast.AST:
    """`node` rewritten, without decorators, annotations and default values.

    With the feature EQUALITY_OPERATORS, `==` and `!=` go through operators as well; with BUILTIN_FUNCTIONS, `print`
    does. Raises UnsupportedSyntax.
    """
    args = node.args
    for p in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if p is not None:
            p.annotation = None
    # The converted function is given the values of the original; these only say which arguments have one.
    args.defaults = [ast.copy_location(ast.Constant(None), d) for d in args.defaults]
    args.kw_defaults = [d and ast.copy_location(ast.Constant(None), d) for d in args.kw_defaults]
    rewriting = _Rewriting(features)
    if isinstance(node, ast.Lambda):
        node.body = rewriting.visit(node.body)
        return node
    node.decorator_list = []
    node.returns = None
    if hasattr(node, "type_params"):
        node.type_params = []
    rewriting.function(node)
    return node


def is_generator(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function has a `yield` of its own."""
    body = function.body if isinstance(function.body, list) else [function.body]
    return any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in walk_scope(body))


def _leaves_alone(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
    return name == "do_not_convert"


class _Rewriting(ast.NodeTransformer):
    def __init__(self, features: frozenset[str]):
        self.features = features
        self.count = 0
        self.globals: set[str] = set()
        self.outside: set[str] = set()  # names declared global or nonlocal
        self.self_name: str | None = None

    # Functions.

    def function(self, fn: ast.FunctionDef) -> None:
        """Rewrites the body of `fn` in its place."""
        saved = self.globals, self.outside, self.self_name
        a = fn.args
        first = (*a.posonlyargs, *a.args)
        if first:
            self.self_name = first[0].arg
        declarations = [n for n in walk_scope(fn.body) if isinstance(n, (ast.Global, ast.Nonlocal))]
        self.globals = {x for n in declarations if isinstance(n, ast.Global) for x in n.names}
        self.outside = {x for n in declarations for x in n.names}
        doc = fn.body[:1] if ast.get_docstring(fn, clean=False) is not None else []
        fn.body = fn.body[len(doc) :] or [ast.copy_location(ast.Pass(), fn.body[0])]
        at = fn.body[0]
        fn.body = Appends(fn.body, self.outside).block(fn.body)
        lower_jumps(fn)
        Liveness(fn.body, self.outside)
        names = bound_in_blocks(fn.body) - self.outside
        body = self.block(fn.body)
        # Declarations hold for the whole function, also for the parts that become functions of their own.
        head: list[ast.stmt] = [ast.copy_location(type(n)(n.names), at) for n in declarations]
        fn.body = [*doc, *head, *binding_of(names, at), *body]
        self.globals, self.outside, self.self_name = saved

    def block(self, stmts: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in stmts:
            new = self.visit(s)
            if isinstance(new, list):
                out += new
            elif new is not None:
                out.append(new)
        return out

    def visit_FunctionDef(self, fn: ast.FunctionDef) -> ast.AST:
        if is_generator(fn) or any(map(_leaves_alone, fn.decorator_list)):
            return fn
        fn.decorator_list = [self.visit(d) for d in fn.decorator_list]
        fn.args = self.visit(fn.args)
        self.function(fn)
        return fn

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node if is_generator(node) else self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:
        return ast.copy_location(ast.Pass(), node)

    visit_Nonlocal = visit_Global  # type: ignore[assignment]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    # Branches and loops.

    def _declared(self, keep: set[str]) -> str:
        """The declaration with which a block shares the variables `keep` with the function around it."""
        local, shared = sorted(keep - self.globals), sorted(keep & self.globals)
        return (f"  nonlocal {', '.join(local)}\n" if local else "") + (
            f"  global {', '.join(shared)}\n" if shared else ""
        )

    def _places(self, parts: list[ast.stmt], bound: set[str]) -> dict[str, ast.expr]:
        """Attributes and items that are assigned in `parts` and that exist outside of it."""
        found = assigned(parts)[1]
        return {text: p for text, p in found.items() if not (base_names(p) or set()) & bound}

    def _place_functions(
        self, number: int, places: dict[str, ast.expr], at: ast.stmt
    ) -> tuple[list[ast.stmt], str]:
        """For each place a function that reads, sets or deletes it, and the argument that hands them on."""
        defs: list[ast.stmt] = []
        entries = []
        for i, text in enumerate(places):
            name = f"ag__place{number}_{i}"
            defs += statements(
                f"def {name}(*ag__v):\n  if not ag__v: return {text}\n  if len(ag__v) > 1: del {text}\n"
                f"  else: {text} = ag__v[0]",
                at,
            )
            entries.append(f"{text!r}: {name}")
        return defs, f", {{{', '.join(entries)}}}" if entries else ""

    def _body(self, stmts: list[ast.stmt], keep: set[str], at: ast.stmt) -> list[ast.stmt]:
        """A block as the body of a function in which all variables but `keep` are local."""
        local = bound_in_blocks(stmts) - keep - self.outside
        return [*binding_of(local, at), *self.block(stmts)]

    def visit_If(self, s: ast.If) -> list[ast.stmt]:
        names_body, names_else = assigned(s.body)[0], assigned(s.orelse)[0]
        names = names_body | names_else
        out = names & (s.live_out | self.outside)  # type: ignore[attr-defined]
        keep_body = names_body & (s.live_body | self.outside)  # type: ignore[attr-defined]
        keep_else = names_else & (s.live_orelse | self.outside)  # type: ignore[attr-defined]
        keep = out | keep_body | keep_else
        places = self._places([*s.body, *s.orelse], names)
        self.count += 1
        k = self.count
        test = self.visit(s.test)
        defs, given = self._place_functions(k, places, s)
        shared = [*sorted(out), *places, *sorted(keep - out)]
        count = len(out) + len(places)
        body, orelse = self._body(s.body, keep, s), self._body(s.orelse, keep, s)
        declared = self._declared(keep)
        text = f"def ag__then{k}():\n{declared}  _BODY_\n"
        if orelse or given:
            text += f"def ag__else{k}():\n{declared}  _ELSE_\n"
        other = f"ag__else{k}" if orelse or given else "None"
        text += f"ag__.if_stmt(_TEST_, ag__then{k}, {other}, {tuple(shared)!r}, {count}{given})"
        pass_ = [ast.copy_location(ast.Pass(), s)]
        new = statements(text, s, _BODY_=body, _ELSE_=orelse or pass_, _TEST_=test)
        return [*defs, *new]

    def visit_While(self, s: ast.While) -> list[ast.stmt]:
        names = assigned(s.body)[0]
        around = s.live_out | s.live_around | self.outside  # type: ignore[attr-defined]
        keep = names & around
        places = self._places(s.body, names)
        lists = appended(s.body) & keep
        fresh = keep - s.live_head - reads(s.test)  # type: ignore[attr-defined]
        directive, s.body = self._loop_options(s.body, s)
        flags = getattr(s, "stop_flags", ())
        test = self.visit(s.test)
        if flags:
            goes_on = not_stopped(flags, s)
            test = expression("ag__.and_(_A_, lambda: _B_)", s, _A_=goes_on, _B_=test)
        self.count += 1
        k = self.count
        defs, given = self._place_functions(k, places, s)
        shared = (*sorted(keep), *places)
        body = self._body(s.body, keep, s)
        declared = self._declared(keep)
        options = self._trailing(given, directive, lists, fresh)
        new = statements(
            f"def ag__test{k}():\n{declared}  return _TEST_\ndef ag__body{k}():\n{declared}  _BODY_\n"
            f"ag__.while_stmt(ag__test{k}, ag__body{k}, {shared!r}{options})",
            s,
            _TEST_=test,
            _BODY_=body,
            **({"_OPTIONS_": directive} if directive else {}),
        )
        return [*defs, *new]

    def visit_For(self, s: ast.For) -> list[ast.stmt]:
        target_names = assigned(s.target)[0]
        names = assigned(s.body)[0] | target_names
        around = s.live_out | s.live_around | self.outside  # type: ignore[attr-defined]
        keep = names & around
        places = self._places(
            [*s.body, ast.copy_location(ast.Assign([s.target], s.iter), s)], names
        )
        lists = (appended(s.body) & keep) - target_names
        fresh = keep - (s.live_head - target_names)  # type: ignore[attr-defined]
        directive, s.body = self._loop_options(s.body, s)
        flags = getattr(s, "stop_flags", ())
        iterated = self.visit(s.iter)
        self.count += 1
        k = self.count
        defs, given = self._place_functions(k, places, s)
        shared = (*sorted(keep), *places)
        simple = isinstance(s.target, ast.Name) and s.target.id not in keep
        argument = s.target.id if simple else "ag__item"  # type: ignore[attr-defined]
        body = self._body(s.body, keep | (target_names if simple else set()), s)
        if not simple:
            target = statements("_TARGET_ = ag__item", s.target, _TARGET_=self.visit(s.target))
            body = [*target, *body]
        declared = self._declared(keep)
        text = f"def ag__body{k}({argument}):\n{declared}  _BODY_\n"
        more = "None"
        if flags:
            more = f"ag__more{k}"
            text += f"def {more}():\n  return _MORE_\n"
        options = self._trailing(given, directive, lists, fresh)
        item = tuple(sorted(target_names & keep))
        text += f"ag__.for_stmt(_ITER_, {more}, ag__body{k}, {shared!r}, {item!r}{options})"
        new = statements(
            text,
            s,
            _BODY_=body,
            _ITER_=iterated,
            **({"_MORE_": not_stopped(flags, s)} if flags else {}),
            **({"_OPTIONS_": directive} if directive else {}),
        )
        return [*defs, *new]

    @staticmethod
    def _trailing(places: str, directive: ast.expr | None, lists: set[str], fresh: set[str]) -> str:
        """The arguments of an operator that not every loop needs."""
        given = places
        if directive is not None:
            given = (places or ", None") + ", lambda: _OPTIONS_"
        for name, names in (("lists", lists), ("fresh", fresh)):
            if names:
                given += f", {name}={tuple(sorted(names))!r}"
        return given

    def _loop_options(
        self, body: list[ast.stmt], at: ast.stmt
    ) -> tuple[ast.expr | None, list[ast.stmt]]:
        """Takes a call of `set_loop_options` out of the body of a loop; returns the options as a dict and the body."""
        for i, s in enumerate(body):
            call = s.value if isinstance(s, ast.Expr) else None
            if not isinstance(call, ast.Call):
                continue
            f = call.func
            name = f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")
            if name != "set_loop_options":
                continue
            names = ["parallel_iterations", "swap_memory", "maximum_iterations", "shape_invariants"]
            given = dict(zip(names, call.args, strict=False))
            given |= {k.arg: k.value for k in call.keywords if k.arg}
            if isinstance(given.get("shape_invariants"), (ast.List, ast.Tuple)):
                # By name, so that it is clear which variable a pair is about.
                for pair in given["shape_invariants"].elts:  # type: ignore[attr-defined]
                    if isinstance(pair, (ast.Tuple, ast.List)) and len(pair.elts) == 2:
                        text = ast.copy_location(ast.Constant(ast.unparse(pair.elts[0])), pair)
                        pair.elts.insert(0, text)
            keys: list[ast.expr | None] = [ast.copy_location(ast.Constant(n), call) for n in given]
            options = ast.copy_location(ast.Dict(keys, list(given.values())), call)
            rest = [*body[:i], *body[i + 1 :]] or [ast.copy_location(ast.Pass(), at)]
            return self.visit(options), rest
        return None, body

    # Expressions. Operands that may not be evaluated become lambdas, in which `:=` would be local.

    @staticmethod
    def _binds(node: ast.expr) -> bool:
        return any(isinstance(n, (ast.NamedExpr, ast.Await)) for n in walk_scope(node))

    def visit_BoolOp(self, e: ast.BoolOp) -> ast.AST:
        binds = any(map(self._binds, e.values[1:]))
        self.generic_visit(e)
        if binds:
            return e
        name = "and_" if isinstance(e.op, ast.And) else "or_"
        out = e.values[-1]
        for value in reversed(e.values[:-1]):
            out = expression(f"ag__.{name}(_A_, lambda: _B_)", e, _A_=value, _B_=out)
        return out

    def visit_UnaryOp(self, e: ast.UnaryOp) -> ast.AST:
        self.generic_visit(e)
        if isinstance(e.op, ast.Not):
            return expression("ag__.not_(_A_)", e, _A_=e.operand)
        return e

    def visit_IfExp(self, e: ast.IfExp) -> ast.AST:
        binds = self._binds(e.body) or self._binds(e.orelse)
        text = ast.unparse(e.test)
        self.generic_visit(e)
        if binds:
            return e
        return expression(
            f"ag__.if_exp(_T_, lambda: _A_, lambda: _B_, {text!r})",
            e,
            _T_=e.test,
            _A_=e.body,
            _B_=e.orelse,
        )

    def visit_Compare(self, e: ast.Compare) -> ast.AST:
        binds = any(map(self._binds, e.comparators[1:]))
        self.generic_visit(e)
        if len(e.ops) == 1:
            if "EQUALITY_OPERATORS" in self.features and isinstance(e.ops[0], (ast.Eq, ast.NotEq)):
                name = "eq" if isinstance(e.ops[0], ast.Eq) else "not_eq"
                return expression(f"ag__.{name}(_A_, _B_)", e, _A_=e.left, _B_=e.comparators[0])
            return e
        if binds:
            return e
        signs = tuple(_COMPARISONS[type(op)] for op in e.ops)
        slots = {f"_X{i}_": c for i, c in enumerate(e.comparators)}
        thunks = ", ".join(f"lambda: {x}" for x in slots)
        return expression(f"ag__.chained(_A_, {signs!r}, ({thunks},))", e, _A_=e.left, **slots)

    def visit_Call(self, e: ast.Call) -> ast.AST:
        func = e.func
        self.generic_visit(e)
        if isinstance(func, ast.Attribute) and getattr(func.value, "id", "") == "ag__":
            return e
        if isinstance(func, ast.Name) and func.id == "super" and not e.args and not e.keywords:
            if self.self_name is None:
                return e
            place = ast.copy_location(ast.Name("__class__", ast.Load()), e)
            e.args = [place, ast.copy_location(ast.Name(self.self_name, ast.Load()), e)]
            return e
        if isinstance(func, ast.Name) and func.id in OF_THE_FRAME:
            if e.args or func.id not in ("locals", "vars", "dir"):
                return e
            return expression("ag__.of_the_program(_E_)", e, _E_=e)
        prints = isinstance(func, ast.Name) and func.id == "print" and "BUILTIN_FUNCTIONS" in self.features
        e.func = expression(f"ag__.{'printing' if prints else 'cv'}(_F_)", func, _F_=e.func)
        return e

    def visit_Assert(self, s: ast.Assert) -> ast.AST:
        self.generic_visit(s)
        message = s.msg or ast.copy_location(ast.Constant("Assertion error"), s)
        s.test = expression("ag__.assertion(_T_, lambda: _M_)", s, _T_=s.test, _M_=message)
        return s

    def visit_Await(self, e: ast.Await) -> ast.AST:
        raise UnsupportedSyntax("await is not supported")
