"""What configs say of where classes are: Keras' modules, whatever file a class is in here."""

import inspect

import pytest

import tapeflow as tf
from tapeflow.keras.registry import module_of

NAMESPACES = (
    "constraints", "dtype_policies", "initializers", "layers", "losses", "metrics", "optimizers",
    "optimizers.schedules", "quantizers", "regularizers",
)  # fmt: skip
# What Keras 3 writes for classes that it serves elsewhere as well.
OTHERS = {
    "DTypePolicy": "keras", "FloatDTypePolicy": "keras", "RandomHeight": "keras._legacy.layers",
    "RandomWidth": "keras._legacy.layers", "ThresholdedReLU": "keras._legacy.layers",
}  # fmt: skip


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_modules_of_public_classes(namespace):
    found = tf.keras
    for part in namespace.split("."):
        found = getattr(found, part)
    public = {name: getattr(found, name) for name in dir(found)}
    classes = {name: c for name, c in public.items() if inspect.isclass(c) and c.__name__ == name}
    described = {name: module_of(c) for name, c in classes.items() if hasattr(c, "get_config")}
    assert described
    assert described == {name: OTHERS.get(name, f"keras.{namespace}") for name in described}


def test_classes_of_programs_have_no_module():
    class Own(tf.keras.initializers.Initializer):
        pass

    assert module_of(Own()) is None
