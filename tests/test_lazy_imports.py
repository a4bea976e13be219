"""Imports within functions have a reason: at the top of the file they would make a circle, or load more."""

import ast
from functools import cache
from pathlib import Path

import pytest

import tapeflow

ROOT = Path(tapeflow.__file__).parent


def module_name(file):
    parts = ("tapeflow", *file.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(file): file for file in sorted(ROOT.rglob("*.py"))}


def with_packages(module):
    """`tapeflow.ops.math` -> it and the packages around it, which are loaded before."""
    parts = module.split(".")
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def targets(node):
    """The modules of the package that an import loads."""
    names = [a.name for a in node.names]
    if isinstance(node, ast.Import):
        return [name for name in names if name in FILES]
    found = [f"{node.module}.{name}" if f"{node.module}.{name}" in FILES else node.module for name in names]
    return [module for module in found if module in FILES]


def imports(tree, within):
    """The imports that run when a file is loaded, or those `within` functions."""

    def visit(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                if inside == within:
                    yield child
            elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test)):
                is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                yield from visit(child, inside or is_function)

    return visit(tree, False)


@cache
def parsed(module):
    return ast.parse(FILES[module].read_text())


@cache
def arrows(module):
    """The modules of the package that a module imports when it is loaded, but for the packages around it."""
    found = {m for node in imports(parsed(module), within=False) for t in targets(node) for m in with_packages(t)}
    return {m for m in found if m in FILES and not f"{module}.".startswith(m + ".")}


@cache
def loaded_by(module):
    """The modules of the package that are loaded with a module."""
    seen, open_ = set(), [module]
    while open_:
        new = arrows(open_.pop()) - seen
        seen |= new
        open_ += new
    return seen


def without_reason(module):
    """The lines of imports within functions that could as well be at the top of the file."""
    lines = FILES[module].read_text().splitlines()
    for node in imports(parsed(module), within=True):
        commented = "#" in lines[node.lineno - 1] or "#" in lines[node.end_lineno - 1]
        wanted = {m for t in targets(node) for m in with_packages(t) if m in FILES}
        needed = {m for m in wanted if not f"{module}.".startswith(m + ".")}
        if needed and not commented and all(module not in loaded_by(m) for m in needed) and needed <= loaded_by(module):
            yield node.lineno


# The files of packages resolve their names when they are asked for.
MODULES = [module for module, file in FILES.items() if file.name != "__init__.py"]


@pytest.mark.parametrize("module", MODULES)
def test_imports_within_functions_have_a_reason(module):
    free = [f"{FILES[module].relative_to(ROOT)}:{line}" for line in without_reason(module)]
    assert not free, f"{free} import what is loaded anyway: move the import to the top, or say in a comment why not"


# Limits of what is left: lower them, do not raise them.
MOST_WITHIN_FUNCTIONS = 112
LARGEST_CIRCLE = 16


def test_imports_within_functions_are_few():
    found = [target for module in FILES for node in imports(parsed(module), within=True) for target in targets(node)]
    assert len(found) <= MOST_WITHIN_FUNCTIONS


def test_circles_with_imports_within_functions_are_small():
    graph = {
        module: {t for within in (False, True) for node in imports(parsed(module), within) for t in targets(node)}
        - {module, "tapeflow"}
        for module in FILES
    }
    above = {module: reached(module, graph) for module in graph}
    circles = {module: sum(module in above[other] for other in above[module]) for module in graph}
    largest = max(circles, key=circles.__getitem__)
    assert circles[largest] <= LARGEST_CIRCLE, largest


def reached(module, graph):
    seen, open_ = set(), [module]
    while open_:
        new = graph[open_.pop()] - seen
        seen |= new
        open_ += new
    return seen


def clear_caches():
    for function in (parsed, arrows, loaded_by):
        function.cache_clear()


def test_imports_without_reason_are_seen(tmp_path, monkeypatch):
    texts = {
        "low": "",
        "high": "from tapeflow import low\ndef f():\n    from tapeflow.low import x\n",
        "circle": "def f():\n    from tapeflow.user import x\n",
        "user": "import tapeflow.circle\n",
        "cost": "def f():\n    from tapeflow.low import x\n",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setitem(globals(), "FILES", {f"tapeflow.{name}": tmp_path / f"{name}.py" for name in texts})
    clear_caches()
    found = {name: list(without_reason(f"tapeflow.{name}")) for name in texts}
    clear_caches()
    assert found == {"low": [], "high": [3], "circle": [], "user": [], "cost": []}
