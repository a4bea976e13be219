"""Modules of public names, each loaded at its first use, and what modules say about names that they lack."""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tapeflow import _native
from tapeflow.api.names import NAMES

# The sentence for a name that a module lacks; set by the package, which knows all of its names and TensorFlow's.
explain: Callable[[ModuleType, str], str] | None = None
_ROOT = __name__.partition(".")[0]
PACKAGE_DIRECTORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_native.set_package_directory(PACKAGE_DIRECTORY)

# Modules that namespaces have besides those that they name, see `extend`.
_from_above: dict[str, dict[str, str]] = {}

Namespace = tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]


def places(space: str) -> dict[str, tuple[str, str]]:
    """Return where the names of a namespace are: the module and the attribute, by name.

    Args:
      space: the module of the namespace, below the package: "math"; "" for the package itself.
    """
    found = {}
    for line in NAMES.get(space, "").splitlines():
        module, _, names = line.partition(": ")
        for word in names.split():
            name, _, attribute = word.partition("=")
            found[name] = (f"{_ROOT}.{module}", attribute or name)
    return found


def namespace(module: str, *submodules: str, **modules: str) -> Namespace:
    """Return what makes a module a namespace of the names that are declared to be in it: each loads at its first use.

    Args:
      module: the `__name__` of the module.
      *submodules: those of its own submodules that programs use and that are no namespaces themselves.
      **modules: the full names of other modules, by the names that they have here.

    Returns:
      The module's `__getattr__`, `__dir__` and `__all__`.
    """
    space = module.partition(".")[2]
    inner = f"{space}." if space else ""
    where = places(space)
    below = {name: f"{module}.{name}" for name in submodules} | modules | _from_above.get(space, {})
    for other in NAMES:
        name = other[len(inner) :] if other.startswith(inner) else ""
        if name and "." not in name:
            below.setdefault(name, f"{module}.{name}")

    def load(name: str) -> Any:
        if name in where:
            source, attribute = where[name]
            value = getattr(importlib.import_module(source), attribute)
        elif name in below:
            value = importlib.import_module(below[name])
        else:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        return sys.modules[module].__dict__.setdefault(name, value)

    def listed() -> list[str]:
        return sorted({*where, *below, *(("__version__",) if "__version__" in sys.modules[module].__dict__ else ())})

    return load, listed, sorted(name for name in (*where, *below) if not name.startswith("_"))


def extend(space: str, **modules: str) -> None:
    """Give a namespace that is not loaded yet modules of packages above it.

    Args:
      space: the module of the namespace, below the package: "compat.v1".
      **modules: the full names of the modules, by the names that they have in the namespace.
    """
    _from_above.setdefault(space, {}).update(modules)


class MissingNameError(AttributeError):
    """A module lacks a name; the sentence is made when it is read, as many programs only probe for names."""

    def __init__(self, module: ModuleType, name: str):
        super().__init__(f"module {module.__name__!r} has no attribute {name!r}")
        self.name: str = name
        self._module = module

    def __str__(self) -> str:
        return explain(self._module, self.name) if explain else super().__str__()

    def __reduce__(self) -> tuple[Any, ...]:
        return AttributeError, (str(self),)


def explain_missing_names(sentence: Callable[[ModuleType, str], str]) -> None:
    """Let the modules of the package, those that are loaded and those to come, explain the names that they lack.

    `sentence` gives the explanation of a name that a module lacks.
    """
    global explain
    explain = sentence
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == _ROOT:
            _explain_those_of(module)
    if _Finder not in sys.meta_path:  # the package may be loaded again
        sys.meta_path.insert(0, _Finder)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of the package."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        _explain_those_of(module)


class _Finder:
    """Finds the modules of the package as Python does."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith(f"{_ROOT}."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def _explain_those_of(module: ModuleType) -> None:
    if isinstance(module, ModuleType) and not hasattr(module.__dict__.get("__getattr__"), "explains"):
        module.__dict__["__getattr__"] = _lookup(module, module.__dict__.get("__getattr__"))


def _lookup(module: ModuleType, own: Callable[[str], Any] | None) -> Callable[[str], Any]:
    """The `__getattr__` of a module, whose own one, if there is one, loads names that are loaded when they are used."""

    def attribute(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError as error:
                if error.name not in (None, name):  # not about this module
                    raise
        if name.startswith("__"):
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}") from None
        raise MissingNameError(module, name) from None

    found = _native.PublicFunction(attribute, True)
    found.explains = True  # type: ignore[attr-defined]
    return found
