"""The finder that serves `tensorflow` and what is below it: modules that hand on the names of tapeflow's.

Each served module is a thin one of its own, so that tapeflow's modules stay as they are; it takes a name
from the module behind it when the name is first used, and keeps it.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from tapeflow.alias import missing, places

_V1_VERSION = "1.15.0"


class Finder:
    """Finds and makes the modules `tensorflow`, `tensorflow.a.b` and, where there is no other, `keras`."""

    def __init__(self, v1: bool):
        self.v1 = v1
        self._keras: bool | None = None

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        root = name.partition(".")[0]
        if root == "keras":
            if not self._serves_keras():
                return None
        elif root != "tensorflow":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def _serves_keras(self) -> bool:
        if self._keras is None:
            self._keras = False  # while looking for another
            self._keras = importlib.util.find_spec("keras") is None
        return self._keras

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        root, _, rest = spec.name.partition(".")
        if root == "keras":
            spec_name = "keras" + (f".{rest}" if rest else "")
            return _thin(spec_name, _behind("tapeflow.keras", rest, spec_name))
        if not rest:
            return self._root()
        parent, _, last = spec.name.rpartition(".")
        source = places.find(rest)
        if source is not None:
            return _served(spec.name, source)
        try:
            found = getattr(sys.modules[parent], last)
        except AttributeError as error:
            # Another name than the one asked for, so that `from a import b` shows this message.
            raise ModuleNotFoundError(str(error), name=f"{spec.name} ") from None
        if not isinstance(found, ModuleType):
            found = _Holder(spec.name, found)
        elif found.__name__ == spec.name:
            return found
        return _thin(spec.name, found)

    def exec_module(self, module: ModuleType) -> None:
        if isinstance(module, _Holder):
            sys.modules[module.__name__] = module.held

    def _root(self) -> ModuleType:
        import tapeflow

        if not self.v1:
            module = _thin("tensorflow", tapeflow)
            module.__dict__["__version__"] = tapeflow.version.VERSION
            return module
        from tapeflow.compat import v1

        module = _thin("tensorflow", v1)
        version = _thin("tensorflow.version", v1.version)
        for each, name in ((module, "__version__"), (module, "VERSION"), (version, "VERSION")):
            each.__dict__[name] = _V1_VERSION
        module.__dict__["version"] = sys.modules["tensorflow.version"] = version
        return module


class _Holder(ModuleType):
    """Stands for an object that is imported as if it were a module, until it takes its place."""

    def __init__(self, name: str, held: Any):
        super().__init__(name)
        self.held = held


def _behind(root: str, rest: str, name: str) -> Any:
    found: Any = importlib.import_module(root)
    for part in filter(None, rest.split(".")):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(f"{found.__name__}.{part}")
            except ImportError:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name) from None
    return found


def _thin(name: str, real: ModuleType) -> ModuleType:
    """A module that takes its names from `real`."""
    if isinstance(real, _Holder):
        return real
    return _served(name, places.Behind(real))


def _served(name: str, source: Any) -> ModuleType:
    module = ModuleType(name, source.doc)
    space = module.__dict__

    def attribute(key: str) -> Any:
        if key == "__all__":
            return source.public_names()
        if key.startswith("__") and key.endswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {key!r}")
        try:
            value = source.get(key)
        except AttributeError:
            raise missing.Missing(name, key, source) from None
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] == "tapeflow":
            below = f"{name}.{key}"
            value = sys.modules.get(below)
            if value is None:
                value = _import_below(below, source.get(key))
        space[key] = value
        return value

    space["__getattr__"] = attribute
    space["__dir__"] = lambda: sorted({*source.public_names(), *(k for k in space if k[:2] != "__")})
    space["__path__"] = []
    if source.file is not None:
        space["__file__"] = source.file
    return module


def _import_below(name: str, real: ModuleType) -> ModuleType:
    """The thin module of a name that its parent has as an attribute."""
    module = _thin(name, real)
    finder = next(each for each in sys.meta_path if isinstance(each, Finder))
    spec = importlib.machinery.ModuleSpec(name, finder, is_package=True)  # type: ignore[arg-type]
    module.__spec__, module.__loader__, module.__package__ = spec, finder, name  # type: ignore[assignment]
    sys.modules[name] = module
    return module
