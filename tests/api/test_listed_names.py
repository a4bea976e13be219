"""What `dir` of a module says: its public names, and not what it imports."""

import types

import pytest

import tapeflow as tf

NAMESPACES = [
    "keras.activations", "keras.callbacks", "keras.constraints", "keras.initializers", "keras.layers", "keras.losses",
    "keras.metrics", "keras.models", "keras.optimizers", "keras.optimizers.schedules", "keras.preprocessing.sequence",
    "keras.preprocessing.text", "keras.regularizers", "distribute.coordinator", "image", "io", "linalg", "math", "nn",
    "random", "strings",
]  # fmt: skip


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_nothing_that_is_imported(namespace):
    module = tf
    for part in namespace.split("."):
        module = getattr(module, part)
    listed = [name for name in dir(module) if not name.startswith("_")]
    assert listed
    for name in listed:
        value = getattr(module, name)
        home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", "tapeflow")
        assert home.split(".")[0] in ("tapeflow", "tensorflow"), name
    assert not {"Any", "annotations", "boundaries", "convert_to_tensor", "np"} & set(listed)
