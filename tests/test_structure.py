"""The size of what a reader has to take in at a time: functions, and folders."""

import ast
import re
from collections import Counter
from pathlib import Path

import tapeflow

ROOT = Path(tapeflow.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
LINES = 80
# Namespaces are a file each, as programs import them.
MODULES = {"compat/v1": 34}


def test_functions_are_short():
    long = []
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno - node.lineno >= LINES:
                long.append(f"{file.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert not long, f"more than {LINES} lines: {long}"


def test_folders_hold_few_modules():
    folders = Counter(str(file.parent.relative_to(ROOT)) for file in FILES)
    full = {folder: count for folder, count in folders.items() if count > MODULES.get(folder, 30)}
    assert not full, f"put modules of these folders into packages by topic: {full}"


def test_packages_say_what_they_hold():
    silent = [
        str(file.relative_to(ROOT))
        for file in FILES
        if file.name == "__init__.py" and ast.get_docstring(ast.parse(file.read_text())) is None
    ]
    assert not silent, silent


# Attributes of other objects that begin with an underscore: lower the limit, do not raise it.
MOST_PRIVATE = 903


def test_few_private_attributes_are_read_from_outside():
    found = [
        node.attr
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and re.match("_[a-z]", node.attr)
        and not isinstance(node.value, ast.Call)
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "_native"))
    ]
    assert len(found) <= MOST_PRIVATE
