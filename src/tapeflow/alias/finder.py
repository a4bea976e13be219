"""The finder that serves `tensorflow` and what is below it: modules that hand on the names of tapeflow's.

Each served module is a thin one of its own, so that tapeflow's modules stay as they are; it takes a name
from the module behind it when the name is first used, and keeps it.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from tapeflow import _native
from tapeflow.alias import missing, operators, places
from tapeflow.alias.v1_signatures import as_of_1x
from tapeflow.api import providers
from tapeflow.core.release import VERSION

_V1_VERSION = "1.15.0"
# Names of TensorFlow that look like those of Python's own.
_PUBLIC = {"__compiler_version__", "__git_version__", "__internal__", "__operators__", "__version__"}


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

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """The package `tensorflow`, for those who ask for its version: no distribution of it is needed."""
        name = getattr(context, "name", None)
        if name is None or name.lower() == "tensorflow":
            from tapeflow.alias.distribution import Distribution  # which only those who ask need

            yield Distribution(self.version)

    @property
    def version(self) -> str:
        """The version of TensorFlow that is served."""
        if self.v1:
            return _V1_VERSION

        return VERSION

    def _serves_keras(self) -> bool:
        if self._keras is None:
            self._keras = False  # while looking for another
            self._keras = importlib.util.find_spec("keras") is None
        return self._keras

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        root, _, rest = spec.name.partition(".")
        if root == "keras":
            return _keras_module(spec.name, rest)
        if not rest:
            return self._root()
        legacy = legacy_module("src" + rest.removeprefix("python.keras")) if _KERAS.match(rest) else None
        if legacy is not None:
            return _Holder(spec.name, legacy)
        parent, _, last = spec.name.rpartition(".")
        source = places.find(rest)
        if source is not None:
            if self.v1 and rest == "compat.v2":
                source = _Of1x(source.real)
            return _served(spec.name, source)
        try:
            found = getattr(sys.modules[parent], last)
        except AttributeError as error:
            # Another name than the one asked for, so that `from a import b` shows this message.
            raise ModuleNotFoundError(str(error), name=f"{spec.name} ") from None
        if not isinstance(found, ModuleType) or not found.__name__.startswith(("tapeflow", "tensorflow")):
            found = _Holder(spec.name, found)
        elif found.__name__ == spec.name:
            return found
        return _thin(spec.name, found)

    def exec_module(self, module: ModuleType) -> None:
        if isinstance(module, _Holder):
            sys.modules[module.__name__] = module.held

    def _root(self) -> ModuleType:
        if not self.v1:
            return _thin("tensorflow", providers.load("names"))
        v1 = providers.load("names").compat.v1
        module = _served("tensorflow", _Of1x(v1))
        version = _thin("tensorflow.version", v1.version)
        for each, name in ((module, "__version__"), (module, "VERSION"), (version, "VERSION")):
            each.__dict__[name] = _V1_VERSION
        module.__dict__["version"] = sys.modules["tensorflow.version"] = version
        return module


# The class that programs of 1.x know as `tf.Tensor`, where they are served.
_shown_tensor: list[type] = []


def show_tensor(cls: type) -> None:
    """Serves a class as `tf.Tensor`."""
    _shown_tensor[:] = [cls]


class _Of1x(places.Behind):
    """The names of 1.x, with the signatures of 1.15."""

    def get(self, name: str) -> Any:
        """The value of a name. Raises AttributeError where there is none."""
        return as_of_1x(name, super().get(name))


class _OfKeras(places.Behind):
    """The names of a module of the package `keras`: those inside of TensorFlow too, which were the same files once."""

    def __init__(self, real: ModuleType, name: str):
        super().__init__(real)
        self._inside = places.Internal(f"python.{name}")

    def get(self, name: str) -> Any:
        """The value of a name. Raises AttributeError where there is none."""
        try:
            return super().get(name)
        except AttributeError:
            return self._inside.get(name)


class _Holder(ModuleType):
    """Stands for an object that is imported as if it were a module, until it takes its place."""

    def __init__(self, name: str, held: Any):
        super().__init__(name)
        self.held = held


_KERAS = re.compile(r"python\.keras(\.|$)")
_ROOTS = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")


def installed_keras() -> ModuleType | None:
    """The installed Keras that the environment asks for as `tf.keras`; None for that of tapeflow.

    TAPEFLOW_KERAS is "keras" or "tf_keras"; TF_USE_LEGACY_KERAS=1 means tf_keras where that is installed. Raises
    ImportError for a package that TAPEFLOW_KERAS names and that is not there, ValueError for another name.
    """
    wanted = os.environ.get("TAPEFLOW_KERAS", "")
    if wanted in ("", "tapeflow"):
        legacy = os.environ.get("TF_USE_LEGACY_KERAS", "").lower() in ("1", "true")
        if wanted or not legacy or importlib.util.find_spec("tf_keras") is None:
            return None
        wanted = "tf_keras"
    if wanted not in ("keras", "tf_keras"):
        raise ValueError(f"TAPEFLOW_KERAS must be tapeflow, keras or tf_keras, got {wanted!r}")
    if wanted == "keras":
        os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    return importlib.import_module(wanted)


def legacy_module(path: str) -> ModuleType | None:
    """The module of the installed Keras 2 that `keras.<path>` was in its time, public or not.

    None where `tf.keras` is another Keras, and for a module that this one does not have.
    """
    other = installed_keras()
    if other is None or other.__name__ != "tf_keras":
        return None
    inside = path.split(".")[0] == "src"
    inner = path.removeprefix("src.") if inside else path
    if path in ("", "src"):
        tried = ["tf_keras" + (".src" if path else "")]
    else:
        tried = [f"tf_keras.{inner}", f"tf_keras.src.{inner}"]
    for full in reversed(tried) if inside else tried:
        try:
            return importlib.import_module(full)
        except ModuleNotFoundError as error:
            if not (error.name and full.startswith(error.name)):
                raise
    return None


def _keras_module(name: str, rest: str) -> ModuleType:
    """The module `keras.<rest>` where no Keras is installed: `src` holds what is not public, since Keras 2.13."""
    legacy = legacy_module(rest)
    if legacy is not None:
        return _Holder(name, legacy)
    if rest.split(".")[0] == "src":
        rest = rest.removeprefix("src").lstrip(".")
        if rest.split(".")[0] == "legacy":  # where Keras 3 keeps names of Keras 2, which are in their old places here
            rest = rest.removeprefix("legacy").lstrip(".")
    path = "keras" + (f".{rest}" if rest else "")
    try:
        return _thin(name, _behind("tapeflow.keras", rest, path), path)
    except ModuleNotFoundError:
        inside = places.find(f"python.{path}")
        if inside is None:
            raise
        return _served(name, inside)


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


def _thin(name: str, real: ModuleType, path: str | None = None) -> ModuleType:
    """A module that takes its names from `real`; `path`: by which name it is known, where that is another."""
    if isinstance(real, _Holder):
        return real
    of_keras = name.partition(".")[0] == "keras"
    return _served(name, _OfKeras(real, path or name) if of_keras else places.Behind(real))


def _served(name: str, source: Any) -> ModuleType:
    module = ModuleType(name, source.doc)
    space = module.__dict__

    def attribute(key: str) -> Any:
        if key == "__all__":
            return source.public_names()
        if key.startswith("__") and key.endswith("__") and key not in _PUBLIC:
            raise AttributeError(f"module {name!r} has no attribute {key!r}")
        if key == "keras" and name in _ROOTS and (other := installed_keras()) is not None:
            space[key] = other
            return other
        try:
            value = source.get(key)
        except AttributeError:
            inside = f"{name}.{key}"
            if not places.is_inside_contrib(inside):
                raise missing.Missing(name, key, source) from None
            value = importlib.import_module(inside)  # which importing contrib did
        if isinstance(value, type) and issubclass(value, (_native.Tensor, _native.Variable)):
            operators.show()
            if value is _native.Tensor and _shown_tensor:
                value = _shown_tensor[0]
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
