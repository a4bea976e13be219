"""Arrows point down only: no package imports a package above it."""

import ast
import sys
from pathlib import Path

import pytest

import tapeflow

ROOT = Path(tapeflow.__file__).parent
# From the lowest to the highest; packages of one line may use each other. Whatever is not named here is
# a public namespace (tf.math, tf.compat.v1), and stands above all.
FLOORS = [
    {"_native", "protos", "api"},
    {"core"},
    {"ops"},
    {"autodiff", "graph"},
    {"xla"},
    {"function"},
    {"checkpoint"},
    {"train", "data", "summary", "saved_model"},
    {"distribute"},
    {"feature_column"},
    {"keras"},
    {"serving"},
]
LEVEL = {package: level for level, packages in enumerate(FLOORS) for package in packages}
TOP = len(FLOORS)


def package_of(module):
    """`tapeflow.ops.math` -> `ops`; the package itself -> ``."""
    return module.split(".")[1] if "." in module else ""


def level(module):
    return LEVEL.get(package_of(module), TOP)


def module_name(file):
    parts = ("tapeflow", *file.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(file):
    """The modules of the package that a file imports, wherever in it, with their lines."""
    package = module_name(file).split(".")
    if file.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(part for part in (base, node.module) if part)
            if source == "tapeflow":  # from tapeflow import ops
                yield from ((f"tapeflow.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield source, node.lineno


FILES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(ROOT)) for file in FILES])
def test_imports_point_down(file):
    own = level(module_name(file))
    upward = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for name, line in imports(file)
        if name.split(".")[0] == "tapeflow" and level(name) > own
    ]
    assert not upward, "\n".join(upward)


def test_every_kind_of_import_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    file = tmp_path / "core" / "thing.py"
    file.parent.mkdir()
    file.write_text(
        "import tapeflow.ops.math\n"
        "from tapeflow import keras\n"
        "from ..train import adam\n"
        "def f():\n"
        "    from . import errors\n"
    )
    assert [name for name, _ in imports(file)] == [
        "tapeflow.ops.math",
        "tapeflow.keras",
        "tapeflow.train",
        "tapeflow.core",
    ]
