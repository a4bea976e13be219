"""The syntax tree of a function, found from its code: in files, notebooks, and wherever `linecache` has lines."""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
from types import CodeType, FunctionType
from typing import Any

from tapeflow.function.autograph.errors import SourceNotFound
from tapeflow.function.autograph.templates import parse

# Whole files that were parsed to find lambdas: name -> (lines, tree).
_parsed_files: dict[str, tuple[list[str], ast.Module]] = {}

Definition = ast.FunctionDef | ast.Lambda


def definition_of(function: FunctionType) -> Definition:
    """The `def` or `lambda` that `function` was made by, with the line numbers of its file.

    Raises SourceNotFound where there is no source or it does not fit the function.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise SourceNotFound(
            f"Unable to locate the source code of {function!r}. Note that functions defined in certain "
            "environments, like the interactive Python shell, do not expose their source code. If that is the "
            "case, you should define them in a .py source file. If you are certain the code is graph-compatible, "
            "wrap the call using @tf.autograph.experimental.do_not_convert."
        )
    node = _find_lambda(code, lines) if code.co_name == "<lambda>" else _find_def(code, lines)
    if node is None:
        raise SourceNotFound(
            f"The source of {function!r} in {code.co_filename} is not the one it was compiled from"
        )
    return node


def _find_def(code: CodeType, lines: list[str]) -> ast.FunctionDef | None:
    first = code.co_firstlineno
    if not 1 <= first <= len(lines):
        return None
    node = _parse_block(lines, first)
    if node is None:  # an unusual layout: look for it in the whole file
        nodes = [
            n
            for n in ast.walk(_whole_file(code.co_filename, lines))
            if isinstance(n, ast.FunctionDef) and _first_line(n) == first
        ]
        node = nodes[0] if nodes else None
    if node is None or node.name != code.co_name or not _same_arguments(node.args, code):
        return None
    return node


def _parse_block(lines: list[str], first: int) -> ast.FunctionDef | None:
    block = inspect.getblock(lines[first - 1 :])
    indented = block[0][:1] in " \t"
    try:
        # An `if` keeps the block's own indentation, and so the text of its multi-line strings.
        tree = parse("".join(["if 1:\n"] * indented + block))
    except SyntaxError:
        return None
    ast.increment_lineno(tree, first - 1 - indented)
    top = tree.body[0]
    node = top.body[0] if indented and isinstance(top, ast.If) else top
    return node if isinstance(node, ast.FunctionDef) else None


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _whole_file(name: str, lines: list[str]) -> ast.Module:
    known = _parsed_files.get(name)
    if known is None or known[0] != lines:
        try:
            known = (lines, parse("".join(lines)))
        except SyntaxError as error:
            raise SourceNotFound(f"{name} cannot be parsed: {error}") from None
        _parsed_files[name] = known
    return known[1]


def _find_lambda(code: CodeType, lines: list[str]) -> ast.Lambda | None:
    found = [
        node
        for node in ast.walk(_whole_file(code.co_filename, lines))
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and _same_arguments(node.args, code)
    ]
    if len(found) > 1:
        # Of those around all instructions, the innermost.
        places = [
            ((line, column), (end_line, end_column))
            for line, end_line, column, end_column in code.co_positions()
            if column is not None and (column, end_column) != (0, 0)
        ]
        found = [n for n in found if all(_encloses(n.body, *place) for place in places)]
        found.sort(key=lambda n: len(ast.unparse(n)))
    # The conversion changes its tree, the parsed file is kept.
    return copy.deepcopy(found[0]) if found else None


def _encloses(node: ast.expr, start: tuple[Any, Any], end: tuple[Any, Any]) -> bool:
    return (node.lineno, node.col_offset) <= start and end <= (node.end_lineno, node.end_col_offset)


def _same_arguments(args: ast.arguments, code: CodeType) -> bool:
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    compiled = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    # Names that begin with two underscores carry their class in compiled code.
    return len(names) == len(compiled) and all(
        ours == theirs or (ours.startswith("__") and theirs.endswith(ours))
        for ours, theirs in zip(names, compiled, strict=True)
    )
