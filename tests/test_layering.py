"""Arrows point down only: no package imports a package that comes after it in the one order of all packages."""

import importlib.util
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location(
    "packages", Path(__file__).parents[1] / "docs" / "packages.py"
)
packages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(packages)

LEVEL = {name: level for level, name in enumerate(packages.ORDER)}
FILES = sorted(packages.ROOT.rglob("*.py"))


def level(module):
    return LEVEL[packages.package_of(module)]


def test_every_package_has_its_place():
    there = {packages.package_of(packages.module_name(file)) for file in FILES}
    assert sorted(packages.ORDER) == sorted({*there, "_native"})


@pytest.mark.parametrize(
    "file", FILES, ids=[str(file.relative_to(packages.ROOT)) for file in FILES]
)
def test_imports_point_down(file):
    module = packages.module_name(file)
    upward = [
        f"{file.relative_to(packages.ROOT)}:{line} imports {name}"
        for name, line in packages.imports(file)
        if level(name) > level(module)
    ]
    assert not upward, "\n".join(upward)


def test_names_come_from_below():
    upward = [
        (space, module) for space, module in packages.declared() if level(module) > level(space)
    ]
    assert not upward


def test_every_kind_of_import_is_seen(tmp_path):
    file = tmp_path / "core" / "thing.py"
    file.parent.mkdir()
    file.write_text(
        "import tapeflow.ops.math\n"
        "from tapeflow import keras\n"
        "from ..train import adam\n"
        "_LATER = {'Dataset': 'tapeflow.data.dataset'}\n"
        "def f(name):\n"
        "    from . import errors\n"
        "    importlib.import_module('tapeflow.graph.graph')\n"
        "    __import__('tapeflow.xla')\n"
        "    importlib.import_module(f'tapeflow.contrib.{name}')\n"
        "    importlib.import_module(_LATER[name])\n"
        "    importlib.import_module('jax.numpy')\n"
        "    pkgutil.resolve_name('tapeflow.summary.events:Event')\n"
        "provide(tape='tapeflow.autodiff.tape')\n"
        "a, b, c = _namespace(__name__, 'own', math='tapeflow.math')\n"
    )
    assert sorted(name for name, _ in packages.imports(file, tmp_path)) == [
        "tapeflow.autodiff.tape", "tapeflow.contrib", "tapeflow.core", "tapeflow.data.dataset", "tapeflow.graph.graph",
        "tapeflow.keras", "tapeflow.math", "tapeflow.ops.math", "tapeflow.summary.events", "tapeflow.train",
        "tapeflow.xla",
    ]  # fmt: skip


def test_implied_edges_are_not_drawn():
    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"a"}}
    assert packages.direct(graph) == {"a": set(), "b": {"a"}, "c": {"b"}, "d": {"a"}}


def test_the_map_is_current():
    assert packages.MAP.read_text() == packages.drawn(), "run `python docs/packages.py`"
