"""What programs call keeps the package's frames out of their tracebacks: every public function, every constructor."""

from types import FunctionType

import pytest

import tapeflow as tf
from tapeflow._native import PublicFunction
from tapeflow.alias import missing
from tapeflow.compat import v1

# Modules whose functions are called within the package at every step, or do nothing that could fail.
_PLAIN = {
    "tapeflow.autodiff.custom_gradient", "tapeflow.core.context", "tapeflow.core.convert", "tapeflow.core.dtypes",
    "tapeflow.core.errors", "tapeflow.core.specs.extension_type", "tapeflow.core.indexed_slices", "tapeflow.core.log",
    "tapeflow.core.structures.nest", "tapeflow.core.sparse_tensor", "tapeflow.core.structures.structure",
    "tapeflow.core.tensor_shape",
    "tapeflow.core.specs.tensor_spec", "tapeflow.core.specs.trace_type", "tapeflow.data.element",
    "tapeflow.data.iteration.iterating",
    "tapeflow.function.atomic", "tapeflow.function.function_type", "tapeflow.graph.func_graph", "tapeflow.graph.graph",
    "tapeflow.graph.default_graph",
    "tapeflow.graph.operation", "tapeflow.keras.settings", "tapeflow.ops.ragged.tensor",
    "tapeflow.ops.lists.tensor_array_spec", "tapeflow.sysconfig", "tapeflow.test",
    # Context managers, whose errors come from the blocks of programs, and what writes to logs.
    "tapeflow.v1.logging", "tapeflow.v1.scopes", "tapeflow.v1.variable_scoping",
    "tapeflow.v1.layers.style", "tapeflow.ops.control.flow", "tapeflow.ops.state.variable",
}  # fmt: skip


def public():
    """(full name, value) of what TensorFlow names and the package defines."""
    for root, base in (("tf", tf), ("tf.compat.v1", v1)):
        for space, names in missing.names().items():
            found = base
            for part in filter(None, space.split(".")):
                found = getattr(found, part, None)
            if space.startswith("contrib") or found is None:
                continue
            for name in names:
                value = getattr(found, name, None)
                module = getattr(value, "__module__", None) or ""
                if module.startswith("tapeflow.") and module not in _PLAIN:
                    yield f"{root}.{space}.{name}".replace("..", "."), value


PUBLIC = dict(public())


def test_functions():
    functions = {name: value for name, value in PUBLIC.items() if isinstance(value, (FunctionType, PublicFunction))}
    assert len(functions) > 1500
    assert not [name for name, value in functions.items() if isinstance(value, FunctionType)]


@pytest.mark.parametrize("method", ["__init__", "__call__", "__getitem__", "__setitem__"])
def test_methods(method):
    plain = set()
    for value in PUBLIC.values():
        for cls in getattr(value, "__mro__", ()):
            if cls.__module__ not in _PLAIN and cls.__module__.startswith("tapeflow.") and isinstance(
                vars(cls).get(method), FunctionType
            ):  # fmt: skip
                plain.add(f"{cls.__module__}.{cls.__qualname__}")
    assert not plain
