"""Programs that `import tensorflow`, run on tapeflow.

Nothing here happens unasked: `import tapeflow` never touches the name `tensorflow`.
"""

from __future__ import annotations

import copyreg
import importlib
import pkgutil
import sys
from typing import Any

from tapeflow import _native
from tapeflow.alias.finder import Finder, show_tensor
from tapeflow.api import api, providers
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import served_as
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.ops.state.variable import Variable
from tapeflow.protos import building

__all__ = ["install_as_tensorflow"]

_installed: list[Finder] = []


@api(v2="install_as_tensorflow")
def install_as_tensorflow(v1: bool = False) -> Any:
    """Lets `import tensorflow`, and of every module below it, give tapeflow's names; returns that module.

    `import keras` gives `tapeflow.keras`, unless a Keras is installed. A TensorFlow that is installed
    stays out of sight from then on. Calling it again with the same `v1` changes nothing.

    Args:
      v1: `tensorflow` has the names of 1.x, and operations build a graph until the program enables
        eager execution.

    Raises RuntimeError where a TensorFlow is loaded already, or where the other namespace was installed.
    """
    if _installed:
        if _installed[0].v1 != v1:
            raise RuntimeError(
                f"tensorflow is installed already with v1={_installed[0].v1}; one process has one of both"
            )
        return sys.modules["tensorflow"]
    loaded = sys.modules.get("tensorflow")
    if loaded is not None:
        where = getattr(loaded, "__file__", None)
        raise RuntimeError(
            f"a TensorFlow is loaded already ({where}); call install_as_tensorflow before the first "
            "`import tensorflow`"
        )
    if v1:
        # Libraries of 1.x that give their classes the operators of tensors keep an equality of their own.
        overloaded = _native.Tensor.OVERLOADABLE_OPERATORS  # type: ignore[attr-defined]
        _native.Tensor.OVERLOADABLE_OPERATORS = overloaded - {"__eq__", "__ne__"}  # type: ignore[attr-defined]

        providers.load("names").compat.v1.disable_v2_behavior()
        # Made before the classes show their operators.
        show_tensor(importlib.import_module("tapeflow.alias.tensor_of_1x").Tensor)
    _expected_of_the_import()
    _name_modules()
    building.share_pool()
    finder = Finder(v1)
    _installed.append(finder)
    sys.meta_path.insert(0, finder)
    return importlib.import_module("tensorflow")


def _name_modules() -> None:
    """Lets tensors and variables be of modules of TensorFlow: libraries tell by that which package made a value."""
    _native.Tensor.__module__ = "tensorflow.python.framework.tensor"
    _native.EagerTensor.__module__ = "tensorflow.python.framework.ops"
    IndexedSlices.__module__ = "tensorflow.python.framework.indexed_slices"
    SparseTensor.__module__ = "tensorflow.python.framework.sparse_tensor"
    served_as["RaggedTensor"] = "tensorflow.python.ops.ragged.ragged_tensor"
    loaded = sys.modules.get("tapeflow.ops.ragged.tensor")
    if loaded is not None:
        loaded.RaggedTensor.__module__ = served_as["RaggedTensor"]
    Variable.__module__ = "tensorflow.python.ops.resource_variable_ops"

    def reduced(cls: type) -> Any:
        if cls is Variable:
            return pkgutil.resolve_name, ("tapeflow.ops.state.variable:Variable",)
        return cls.__qualname__

    copyreg.pickle(type(Variable), reduced)  # its module there has another of that name


def _expected_of_the_import() -> None:
    """Serves what programs use because TensorFlow's import had loaded it: `import urllib`, then `urllib.request`."""
    import urllib

    def submodule(name: str) -> Any:
        if name in ("error", "parse", "request", "response"):
            return importlib.import_module(f"urllib.{name}")
        raise AttributeError(f"module 'urllib' has no attribute {name!r}")

    vars(urllib).setdefault("__getattr__", submodule)
