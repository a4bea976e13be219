"""What configs say of where classes are: Keras' modules, whatever file a class is in here."""

import inspect
import json
import os
import subprocess

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.keras.engine.functional import operations
from tapeflow.keras.registry import module_of, namespaces

NAMESPACES = (
    "constraints", "dtype_policies", "initializers", "layers", "losses", "metrics", "optimizers",
    "optimizers.schedules", "quantizers", "random", "regularizers", "",
)  # fmt: skip
# What Keras 3 writes for classes that it serves elsewhere as well.
OTHERS = {
    "DTypePolicy": "keras", "FloatDTypePolicy": "keras", "RandomHeight": "keras._legacy.layers",
    "RandomWidth": "keras._legacy.layers", "AlphaDropout": "keras._legacy.layers",
    "ThresholdedReLU": "keras._legacy.layers",
    **dict.fromkeys(
        ("Initializer", "InputSpec", "Layer", "Loss", "Metric", "Optimizer", "Quantizer", "Regularizer"), "keras"
    ),
}  # fmt: skip
# What no config names alone: a base that only this package has, what layers make of their own arguments, and what
# `MultiOptimizer` reads by itself.
NOT_READ = ("RandomValues", "InputSpec", "OptimizerMap")
# What Keras writes for its classes, by their public names, and for what calls of its `ops` are.
PROGRAM = """
import importlib, inspect, json, keras
from keras.src.ops.operation import Operation
from keras.src.saving import serialization_lib
classes, operations = {}, {}
def walk(path, module):
    for name, value in vars(module).items():
        if inspect.ismodule(value) and value.__name__.startswith("keras._tf_keras.keras." + path):
            walk(f"{path}{name}.", value)
        elif inspect.isclass(value) and hasattr(value, "get_config") and value.__name__ == name:
            classes[path + name] = serialization_lib.serialize_with_public_class(value, {})["module"]
walk("", importlib.import_module("keras._tf_keras.keras"))
for part in ("core", "image", "linalg", "math", "nn", "numpy"):
    module = importlib.import_module("keras.src.ops." + part)
    for name, value in vars(module).items():
        if inspect.isclass(value) and issubclass(value, Operation) and value.__module__ == module.__name__:
            operations[name] = module.__name__
print(json.dumps([classes, operations]))
"""


def public(path):
    found = tf.keras
    for part in filter(None, path.split(".")):
        found = getattr(found, part, None)
    return found


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_modules_of_public_classes(namespace):
    found = public(namespace)
    shown = {name: getattr(found, name) for name in dir(found)}
    classes = {name: c for name, c in shown.items() if inspect.isclass(c) and c.__name__ == name}
    described = {name: module_of(c) for name, c in classes.items() if hasattr(c, "get_config")}
    assert described
    usual = f"keras.{namespace}".rstrip(".")
    assert described == {name: OTHERS.get(name, usual) for name in described}
    # What is written can be read.
    written = [name for name in described if described[name] == usual and name[0] != "_" and name not in NOT_READ]
    assert [name for name in written if namespaces[usual].named(name) is None] == []


def test_classes_of_programs_have_no_module():
    class Own(tf.keras.initializers.Initializer):
        pass

    assert module_of(Own()) is None


@pytest.mark.parametrize("layer", [tf.compat.v1.layers.Dense, tf.compat.v1.nn.rnn_cell.BasicLSTMCell])
def test_classes_of_1x_have_no_module(layer):
    assert module_of(layer) is None


@pytest.mark.parametrize("make", [
    lambda: tf.keras.Operation(name="o"),
    lambda: tf.keras.initializers.Initializer(),
    lambda: tf.keras.constraints.Constraint(),
    lambda: tf.keras.random.SeedGenerator(1),
    lambda: tf.keras.DTypePolicy("mixed_float16"),
    lambda: tf.keras.dtype_policies.FloatDTypePolicy("mixed_float16"),
])  # fmt: skip
def test_bases_and_seeds_are_made_again(make):
    value = make()
    described = json.loads(json.dumps(tf.keras.utils.serialize_keras_object(value)))
    made = tf.keras.utils.deserialize_keras_object(described)
    assert type(made) is type(value)
    assert made.get_config() == value.get_config()


def test_seeds_of_initializers_are_made_again():
    def draw(initializer):
        return initializer((3,)).numpy()

    def make():
        return tf.keras.initializers.RandomNormal(seed=tf.keras.random.SeedGenerator(7))

    described = tf.keras.utils.serialize_keras_object(make())
    made = tf.keras.utils.deserialize_keras_object(json.loads(json.dumps(described)))
    np.testing.assert_array_equal(draw(made), draw(make()))


@pytest.mark.parametrize("initializer", [tf.random_normal_initializer, tf.random_uniform_initializer])
@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_models_with_initializers_of_tensorflow_are_loaded(initializer, name, tmp_path):
    layer = tf.keras.layers.Dense(1, kernel_initializer=initializer())
    model = tf.keras.Sequential([tf.keras.Input((2,)), layer])
    model.save(tmp_path / name)
    made = tf.keras.models.load_model(tmp_path / name).layers[0].kernel_initializer
    assert type(made).__name__ == initializer.__name__
    assert made.get_config() == initializer().get_config()


@pytest.mark.parametrize("name", ["unstack", "scan", "switch", "rearrange", "conv", "sobel_edges"])
def test_operations_are_not_named_by_files(name):
    modules = {"rearrange": "einops", "conv": "nn", "sobel_edges": "image"}
    function = getattr(tf.keras.ops.image if name == "sobel_edges" else tf.keras.ops, name)
    assert operations.module_of(function) == f"keras.src.ops.{modules.get(name, 'core')}"


def test_build_configs_of_models_have_tuples():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.build((None, 3))
    assert model.get_build_config() == {"input_shape": (None, 3)}


@pytest.fixture(scope="module")
def theirs():
    done = subprocess.run([os.environ["TF_PYTHON"], "-c", PROGRAM], check=True, capture_output=True, timeout=300)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_modules_are_those_that_keras_writes(theirs):
    classes = {name: module for name, module in theirs[0].items() if public(name) is not None}
    assert len(classes) > 200
    assert {name: module_of(public(name)) for name in classes} == classes


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_operations_are_in_the_modules_that_keras_writes(theirs):
    functions = [getattr(each, name) for each in (tf.keras.ops, tf.keras.ops.image) for name in each.__all__]
    described = {operations.class_name(function): operations.module_of(function) for function in functions}
    known = {name: module for name, module in described.items() if name in theirs[1]}
    assert len(known) > 200
    assert known == {name: theirs[1][name] for name in known}
