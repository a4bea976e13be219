"""Where the modules are that programs import from below TensorFlow's public names: `tensorflow.python.framework.ops`
and the like. Their public names are found by internals.txt, and the rest in the packages that have them here.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import re
from types import ModuleType
from typing import Any

from tapeflow.alias.own_names import OWN
from tapeflow.alias.tables import lines_of
from tapeflow.api import providers
from tapeflow.protos import building

# Modules of names that are spread over others.
_PACKAGES = {
    "python.data": ("compat.v1.data", "data", "data.experimental"),
    "python.framework": ("compat.v1", "compat.v1.errors", "dtypes", "protos"),
    "python.keras": ("keras",),
    "python.ops.distributions": (
        "compat.v1.distributions", "v1.distributions.softplus", "contrib.distributions",
        "contrib.distributions.bijectors",
    ),
    "python.ops.linalg": ("linalg", "compat.v1.linalg"),
    "python.ops.losses": ("compat.v1.losses",),
    "python.ops": (
        "compat.v1", "compat.v1.math", "compat.v1.nn", "nn", "compat.v1.linalg", "compat.v1.random",
        "compat.v1.initializers", "compat.v1.image", "compat.v1.io", "compat.v1.strings", "compat.v1.rnn_cell",
        "lookup", "math",
    ),
    "python.saved_model": ("compat.v1.saved_model", "saved_model"),
    "python.summary": ("compat.v1.summary",),
    "python.training": ("train", "compat.v1.train"),
    "python.layers": ("layers",),
    "python": ("compat.v1",),
}  # fmt: skip
# Modules that went before 2.21, or that programs import though TensorFlow does not.
_NAMED = (
    "python.keras.backend",
    "python.ops.gradients",
    "python.ops.standard_ops",
    "python.platform.googletest",
    "python.framework.smart_cond",
    "python.trackable.base",
    "python.trackable.data_structures",
    "python.trackable.autotrackable",
    "python.checkpoint.checkpoint",
    "python.keras.utils.tf_utils",
    "python.keras.utils.generic_utils",
    "python.keras.engine.training",
    "python.keras.engine.sequential",
    "python.pywrap_tensorflow",
    "python.pywrap_tfe",
)
# Where packages were in earlier releases of 1.x.
_FORMER = {
    "contrib.keras.api.keras": "compat.v1.keras",
    "contrib.keras.python.keras": "compat.v1.keras",
    "python.keras._impl.keras": "compat.v1.keras",
    "python.keras.engine.topology": "python.keras.engine.base_layer",
    "tensorboard": "contrib.tensorboard",
}
_FORMER_FOLDERS = ("contrib.keras.api", "contrib.keras.python", "python.keras._impl")
_PROTOS = ("core", "core.framework", "core.protobuf", "core.protobuf.tpu", "core.example", "core.util", "tsl.protobuf")


class Behind:
    """The names of one module of tapeflow, and those of another that it does not have itself."""

    def __init__(self, real: ModuleType, other: ModuleType | None = None):
        self.real = real
        self.other = other
        self.doc = real.__doc__
        self.file = getattr(real, "__file__", None)

    def get(self, name: str) -> Any:
        if name == "v2" and self.real.__name__ == "tapeflow.compat":
            return providers.load("names")
        if self.other is not None and not hasattr(self.real, name):
            return getattr(self.other, name)
        return getattr(self.real, name)

    def public_names(self) -> list[str]:
        names = getattr(self.real, "__all__", ())
        return sorted({*names, *(name for name in dir(self.real) if not name.startswith("_"))})


class Internal:
    """A module of TensorFlow's internals: its names come from several places of tapeflow."""

    file = None

    def __init__(self, path: str):
        self.path, self.doc = path, f"The names of tensorflow.{path} that tapeflow has."

    def get(self, name: str) -> Any:
        own = OWN.get(self.path, {})
        if name in own:
            return _attribute(own[name])
        table = _internals()
        public = table.get(self.path, {}).get(name) or table.get(f"{self.path}_impl", {}).get(name)
        if public is not None:
            candidates = [public]
            if public.startswith("v2:") and public.rpartition(".")[2].removeprefix("v2:") == name:
                candidates.insert(0, public[3:])  # what the module had in 1.x takes more arguments
            for candidate in candidates:
                with contextlib.suppress(AttributeError):
                    return _public(candidate)
            # It may have another public name still.
        below = f"{self.path}.{name}"
        if _is_internal(below):
            return importlib.import_module(f"tensorflow.{below}")
        packages = [own[""]] if "" in own else []
        for prefix, more in _PACKAGES.items():
            if self.path == prefix or self.path.startswith(prefix + "."):
                packages += more
        if self.path.startswith("python.keras"):
            packages.insert(0, self.path.removeprefix("python."))
        for package in packages:
            try:
                return getattr(importlib.import_module(f"tapeflow.{package}"), name)
            except (ImportError, AttributeError):
                continue
        if re.fullmatch(r"python\.ops\.\w+_ops", self.path):  # it has the generated functions of its ops as well
            with contextlib.suppress(AttributeError, ImportError):
                generated = importlib.import_module(f"tensorflow.python.ops.gen_{self.path.rpartition('.')[2]}")
                return getattr(generated, name)
        # A module also has the modules that it imports, as `rnn.rnn_cell_impl`.
        if name.startswith("gen_") and name.endswith("_ops"):
            return importlib.import_module(f"tensorflow.python.ops.{name}")
        if self.path == "python":  # which imports the modules of operations
            for package in ("python.ops", "python.framework"):
                if _is_internal(f"{package}.{name}"):
                    return importlib.import_module(f"tensorflow.{package}.{name}")
        known = [path for path in _by_last_name().get(name, ()) if path.startswith("python")]
        if len(known) == 1 and "." in self.path:
            return importlib.import_module(f"tensorflow.{known[0]}")
        raise AttributeError(name)

    def public_names(self) -> list[str]:
        own, table = OWN.get(self.path, {}), _internals()
        names = {*own, *table.get(self.path, ()), *table.get(f"{self.path}_impl", ())} - {""}
        if "" in own:
            names.update(Behind(importlib.import_module(f"tapeflow.{own['']}")).public_names())
        return sorted(name for name in names if self._has(name))

    def _has(self, name: str) -> bool:
        try:
            self.get(name)
        except (AttributeError, ImportError):
            return False
        return True


class Messages:
    """A module of protocol buffers: `tensorflow.core.framework.graph_pb2` and the like."""

    file = None
    doc = "TensorFlow's messages."

    def __init__(self, path: str):
        self.path = f"tensorflow/{path.replace('.', '/').removesuffix('_pb2')}.proto"
        if building.has_shared_pool():  # libraries' messages import the file by its name
            building.file_descriptor(self.path)

    def get(self, name: str) -> Any:
        if name == "DESCRIPTOR":
            return building.file_descriptor(self.path)
        protos = importlib.import_module("tapeflow.protos")
        if "_dot_" in name and name.endswith("_pb2"):  # a file that this one hands on, as generated code names it
            return protos
        if name.startswith("DT_"):  # the values of an enum are names of its module too
            try:
                return protos.DataType.Value(name)
            except ValueError:
                raise AttributeError(name) from None
        return getattr(protos, name)

    def public_names(self) -> list[str]:
        return dir(importlib.import_module("tapeflow.protos"))


class Folder:
    """A package that only holds others."""

    file = None
    doc = None

    def get(self, name: str) -> Any:
        raise AttributeError(name)

    def public_names(self) -> list[str]:
        return []


def find(path: str) -> Any:
    """What is behind `tensorflow.<path>`, where that is no public name of the module above; else None."""
    for former, later in _FORMER.items():
        if path == former or path.startswith(f"{former}."):
            return _moved(later + path.removeprefix(former))
    if path in _FORMER_FOLDERS:
        return Folder()
    if path == "compat.v2":
        return Behind(importlib.import_module("tapeflow.compat.v2"))
    if path == "contrib":
        return Behind(importlib.import_module("tapeflow.contrib"))
    if path.startswith("contrib.") and ".python" in path:
        return _contrib(path)
    if path.endswith("_pb2") and path.startswith(_PROTOS):
        return Messages(path)
    if path in _PROTOS or path in (
        "examples", "examples.tutorials", "examples.tutorials.mnist",
    ):  # fmt: skip
        return Folder()
    if path == "examples.tutorials.mnist.input_data":
        return Behind(importlib.import_module("tapeflow.contrib.learn.datasets.mnist"))
    if path == "tools.docs.doc_controls":
        return Behind(importlib.import_module("tapeflow.alias.doc_controls"))
    if path in _packages():
        return Folder()
    if path.startswith("python.") and re.fullmatch(r"gen_\w+_ops|sparse_csr_matrix_ops", path.rpartition(".")[2]):
        from tapeflow.alias.generated_ops import GeneratedOps  # which needs the table of all ops

        return GeneratedOps()
    if _is_internal(path) or path in OWN:
        return Internal(path)
    if path.startswith("python.keras."):
        try:
            return Behind(importlib.import_module(f"tapeflow.{path.removeprefix('python.')}"))
        except ImportError:
            return None
    return None


def _moved(path: str) -> Any:
    """What a former path means by its later one: a module inside of TensorFlow's, else a public one."""
    inner = find(path)
    if inner is not None:
        return inner
    found: Any = importlib.import_module("tapeflow")
    try:
        for part in path.split("."):
            found = getattr(found, part)
    except AttributeError:
        return None
    return Behind(found) if isinstance(found, ModuleType) else None


def _contrib(path: str) -> Any:
    """The modules inside one of contrib's: a public module that ends alike, and the public one of all its names.

    Where none ends alike, the module around it counts. None for what is a name of a module, not a module.
    """
    public, _, inner = path.partition(".python")
    inside = _contrib_packages().get(public.removeprefix("contrib."))
    below = f"python{inner}"
    if inside is not None and below not in inside and below.rpartition(".")[0] not in inside:
        return None
    root, parts = f"tapeflow.{public}", inner.strip(".").removesuffix("_impl").split(".")
    try:
        found = importlib.import_module(root)
    except ImportError:
        return None
    for end in range(len(parts), 0, -1):
        for start in range(end):
            name = ".".join([root, *parts[start:end]])
            if _is_module(name):
                return Behind(importlib.import_module(name), found)
    return Behind(found)


def is_inside_contrib(name: str) -> bool:
    """Whether `tensorflow.contrib...` of this name is, or may be, a module inside of one of contrib's.

    Their packages are known; of the modules in these it is only known that their names have no capitals.
    """
    public, inside, inner = name.removeprefix("tensorflow.contrib.").partition(".python")
    if not inside or find(name.removeprefix("tensorflow.")) is None:
        return False
    packages = _contrib_packages().get(public, set())
    above, _, last = f"python{inner}".rpartition(".")
    return f"python{inner}" in packages or (above in packages and last.islower() and last[0] != "_")


@functools.cache
def _contrib_packages() -> dict[str, set[str]]:
    """contrib_packages.txt: {package of contrib: the packages within it, and `python` itself}."""
    found = {}
    for line in lines_of("contrib_packages.txt"):
        if not line.startswith("#"):
            package, *inner = line.split()
            found[package] = {".".join(name.split(".")[:n]) for name in inner for n in range(1, name.count(".") + 2)}
    return found


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a package on the way is absent
        return False


def _attribute(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f"tapeflow.{module}"), name)


def _public(name: str) -> Any:
    """A public name: of 2.x after `v2:`, else of 1.x."""
    root = "tapeflow.compat.v1"
    if name.startswith("v2:"):
        root, name = "tapeflow", name[3:]
    found: Any = importlib.import_module(root)
    for part in name.split("."):
        found = getattr(found, part)
    return found


@functools.cache
def _text() -> list[str]:
    return lines_of("internals.txt")


@functools.cache
def _internals() -> dict[str, dict[str, str]]:
    """internals.txt: {module: {name: public name}}."""
    found = {}
    for line in _text():
        if not line.startswith(("#", "+")):
            module, *words = line.split()
            pairs = (word.partition("=") for word in words)
            module = "python" if module == "python" else f"python.{module}"
            found[module] = {name: public or name for name, _, public in pairs}
    return found


@functools.cache
def _packages() -> set[str]:
    """The packages beside `python` that hold modules."""
    found: set[str] = set()
    for path in (*OWN, "tools.docs.doc_controls"):
        parts = path.split(".")
        if parts[0] != "python":
            found.update(".".join(parts[:n]) for n in range(1, len(parts)))
    return found


@functools.cache
def _by_last_name() -> dict[str, list[str]]:
    """The modules by the last part of their paths."""
    found: dict[str, list[str]] = {}
    for path in _modules():
        found.setdefault(path.rpartition(".")[2], []).append(path)
    return found


@functools.cache
def _modules() -> set[str]:
    """All modules of internals, and the packages that hold them."""
    found = {"python"}
    for line in _text():
        if line.startswith("+"):
            package, *modules = line[1:].split()
            prefix = "python" if package == "." else f"python.{package}"
            found.update(f"{prefix}.{module}" for module in modules)
            parts = prefix.split(".")
            found.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
    for path in [*_internals(), *_NAMED, *OWN]:
        parts = path.split(".")
        found.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
    return found


def _is_internal(path: str) -> bool:
    return path.startswith("python") and path in _modules()
