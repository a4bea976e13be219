"""Modules and what is in them, where text names them: imports by name, tables of names that are resolved later."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import tapeflow

ROOT = Path(tapeflow.__file__).parent


def module_name(file):
    parts = ("tapeflow", *file.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(file): file for file in sorted(ROOT.rglob("*.py"))}
# "core.context:SYNC", with or without the package before it, or "tapeflow.core.context"
PAIR = re.compile(r"[a-z_]\w*(\.\w+)+:[A-Za-z_]\w*")
PATH = re.compile(r"tapeflow(\.\w+)+")


def texts(tree):
    """The texts in a module, but for documentation, and parts of others."""
    nodes = list(ast.walk(tree))
    without = {node.value for node in nodes if isinstance(node, ast.Expr)}
    without |= {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in without:
            yield node.value


def named_by(text):
    """(module, attribute) that a text names, either of which may not exist; None where it names none."""
    if PAIR.fullmatch(text):
        return tuple(f"tapeflow.{text.removeprefix('tapeflow.')}".split(":"))
    if not PATH.fullmatch(text):
        return None
    return (text, "") if text in FILES else tuple(text.rsplit(".", 1))


NAMED = {
    module: found
    for module, file in FILES.items()
    if (found := sorted({named for text in texts(ast.parse(file.read_text())) if (named := named_by(text))}))
}


def test_names_are_seen():
    assert named_by("core.context:SYNC") == ("tapeflow.core.context", "SYNC")
    assert named_by("tapeflow.core.lost:SYNC") == ("tapeflow.core.lost", "SYNC")
    assert named_by("tapeflow.core.context") == ("tapeflow.core.context", "")
    assert named_by("tapeflow.core.context.Lost") == ("tapeflow.core.context", "Lost")
    assert [named_by(text) for text in ("nn.relu", "context", "tapeflow.", "%s:%d", "r:gz")] == [None] * 5
    assert list(texts(ast.parse("'of a.b'\nx = 'a.b'\ny = f'a.b.{x}'"))) == ["a.b"]
    assert sum(map(len, NAMED.values())) > 300


@pytest.mark.parametrize("module", NAMED)
def test_names_in_text_resolve(module):
    lost = [
        f"{path}:{attribute}"
        for path, attribute in NAMED[module]
        if path not in FILES or (attribute and not hasattr(importlib.import_module(path), attribute))
    ]
    assert not lost
