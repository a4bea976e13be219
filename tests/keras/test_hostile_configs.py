"""Configs that somebody else has written: every way to read one, with every name and file that it may ask for."""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import shutil
import sys
import zipfile

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import deserialization

h5py = pytest.importorskip("h5py")
keras = tf.keras


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model in every format, and a secret that no config may read."""
    folder = tmp_path_factory.mktemp("configs")
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="a")])
    model.compile("adam", "mse")
    for name in ("m.keras", "m.h5", "saved"):
        model.save(folder / name)
    (folder / "secret.txt").write_text("a\nb\n")
    (folder / "secret.npy").write_bytes(b"x")
    return folder


# Files with a config in place of theirs.


def _in_keras_file(folder, tmp_path, config):
    path = str(tmp_path / "changed.keras")
    with zipfile.ZipFile(folder / "m.keras") as archive, zipfile.ZipFile(path, "w") as changed:
        for name in archive.namelist():
            changed.writestr(name, json.dumps(config) if name == "config.json" else archive.read(name))
    return path


def _in_hdf5_file(folder, tmp_path, config):
    path = str(tmp_path / "changed.h5")
    shutil.copy(folder / "m.h5", path)
    with h5py.File(path, "r+") as file:
        file.attrs["model_config"] = json.dumps(config)
    return path


def _sequential(layer):
    return {"class_name": "Sequential", "module": "keras", "config": {"name": "m", "layers": [layer]}}


def _in_saved_model(folder, tmp_path, config):
    path = str(tmp_path / "changed")
    shutil.copytree(folder / "saved", path)
    shutil.copy(_in_keras_file(folder, tmp_path, config), tmp_path / "changed" / "assets.extra" / "model.keras")
    return path


FILES = {"keras": _in_keras_file, "hdf5": _in_hdf5_file, "saved_model": _in_saved_model}
CONFIGS = {
    "layers": keras.layers.deserialize,
    "model_from_json": lambda layer: keras.models.model_from_json(json.dumps(_sequential(layer))),
    "model_from_config": lambda layer: keras.models.model_from_config(_sequential(layer)),
    "Sequential": lambda layer: keras.Sequential.from_config({"name": "m", "layers": [layer]}),
    "Sequential of a list": lambda layer: keras.Sequential.from_config([layer]),
    "Wrapper": lambda layer: keras.layers.TimeDistributed.from_config({"layer": layer}),
    "Bidirectional": lambda layer: keras.layers.Bidirectional.from_config({"layer": layer}),
    "RNN": lambda layer: keras.layers.RNN.from_config({"cell": layer}),
    "Pipeline": lambda layer: keras.layers.Pipeline.from_config({"layers": [layer]}),
    "Functional": lambda layer: keras.Model.from_config(_functional(layer, [["x", 0, 0, {}]])),
    "saving": keras.saving.deserialize_keras_object,
    "utils": keras.utils.deserialize_keras_object,
    "activations": keras.activations.deserialize,
    "activation of a layer": lambda layer: keras.layers.Dense(1, activation=layer),
}  # fmt: skip
OTHERS = {
    "optimizers": keras.optimizers.deserialize,
    "optimizers.get": keras.optimizers.get,
    "schedules": keras.optimizers.schedules.deserialize,
    "learning rate": lambda config: keras.optimizers.SGD.from_config({"learning_rate": config}),
    "inner optimizer": lambda config: keras.optimizers.LossScaleOptimizer.from_config({"inner_optimizer": config}),
    "initializers": keras.initializers.deserialize,
    "initializer of a layer": lambda config: keras.layers.Dense(1, kernel_initializer=config),
    "regularizers": keras.regularizers.deserialize,
    "constraints": keras.constraints.deserialize,
    "losses": keras.losses.deserialize,
    "loss wrapper": lambda config: keras.losses.LossFunctionWrapper.from_config({"fn": config})
    if hasattr(keras.losses, "LossFunctionWrapper") else keras.losses.deserialize(config),
    "metrics": keras.metrics.deserialize,
    "metric wrapper": lambda config: keras.metrics.MeanMetricWrapper.from_config({"fn": config, "name": "m"}),
    "dtype policies": keras.mixed_precision.Policy.from_config,
    "compile": lambda config: _compiled({"optimizer": config}),
    "compiled loss": lambda config: _compiled({"optimizer": "sgd", "loss": config}),
    "compiled metrics": lambda config: _compiled({"optimizer": "sgd", "metrics": [config]}),
    "feature columns": lambda config: keras.layers.DenseFeatures.from_config({"feature_columns": [config]}),
}  # fmt: skip


@functools.cache
def _model():
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])


def _compiled(config):
    model = _model()
    model.compile_from_config(config)
    if isinstance(config.get("loss"), str) or config.get("metrics") not in (None, []):
        model.evaluate(np.ones([1, 3], "float32"), np.ones([1, 2], "float32"), verbose=0)


def _functional(layer, *calls):
    """The config of a functional model with one input, x, and a layer, which is called so."""
    entry = {"class_name": "InputLayer", "config": {"name": "x", "batch_input_shape": [None, 3]}}
    return {
        "name": "m",
        "layers": [
            {**entry, "name": "x", "inbound_nodes": []},
            {**layer, "name": "y", "inbound_nodes": list(calls)},
        ],
        "input_layers": [["x", 0, 0]],
        "output_layers": [["y", 0, 0]],
    }


@contextlib.contextmanager
def _without_effects(effects, *allowed):
    """A block that touches nothing but these files, and must raise."""
    with effects() as found, pytest.raises((ValueError, TypeError)):
        yield
    assert [event for event in found if not any(str(path) in event[1] for path in allowed)] == []


# What is in the namespaces that deserializers look into, and is none of what they may return.
_MODULES = [
    "layers", "activations", "constraints", "initializers", "losses", "metrics", "optimizers", "optimizers.schedules",
    "regularizers", "saving.serialization", "registry", "saving", "utils", "models",
]  # fmt: skip


def _wrong_names():
    kinds = (
        keras.layers.Layer, keras.initializers.Initializer, keras.losses.Loss, keras.metrics.Metric,
        keras.optimizers.Optimizer, keras.optimizers.schedules.LearningRateSchedule, keras.regularizers.Regularizer,
        keras.constraints.Constraint, keras.Model,
    )  # fmt: skip
    known = {*keras.activations._NAMES, *keras.losses._NAMES, *keras.metrics._NAMES}
    known |= {*keras.initializers._NAMES, *keras.regularizers._NAMES, *keras.constraints._NAMES}
    found = {
        "os", "os.system", "system", "eval", "exec", "open", "print", "import", "__import__", "__builtins__",
        "__loader__", "__class__", "__init__", "__dict__", "__getattr__", "__spec__", "builtins.open", "tapeflow", "tf",
        "keras", "numpy.load", "np", "Dense.__init__", "layers.Dense", "get_file", "load_model", "", ".",
    }  # fmt: skip
    for name in _MODULES:
        module = importlib.import_module(f"tapeflow.keras.{name}")
        for key, value in vars(module).items():
            if not (isinstance(value, type) and issubclass(value, kinds)) and key not in known:
                found.add(key)
    return sorted(found)


WRONG_NAMES = _wrong_names()


def test_there_are_wrong_names_to_try():
    assert {"inspect", "find", "deserialize", "get", "annotations", "InputSpec", "__loader__"} <= {*WRONG_NAMES}


@pytest.mark.parametrize("entry", [*CONFIGS, *OTHERS])
@pytest.mark.parametrize(
    "config_of",
    [
        lambda name, path: {"class_name": name, "config": {"name": path, "path": path}},
        lambda name, path: {"class_name": name, "config": path},
        lambda name, path: {"class_name": name, "config": {}},
        lambda name, path: {"class_name": "function", "config": name},
        lambda name, path: {"module": "builtins", "class_name": "function", "config": name, "registered_name": name},
        lambda name, path: {"module": "os", "class_name": name, "config": {}, "registered_name": None},
        lambda name, path: {"module": "keras", "class_name": name, "config": {}, "registered_name": None},
        lambda name, path: {"module": "tapeflow.keras", "class_name": name, "config": {}, "registered_name": "x"},
    ],
    ids=["arguments", "text", "plain", "function", "builtin", "os", "keras", "tapeflow"],
)
def test_deserializers_find_only_what_configs_may_name(effects, folder, entry, config_of):
    read = {**CONFIGS, **OTHERS}[entry]
    secret = str(folder / "secret.txt")
    for name in WRONG_NAMES:
        try:
            with _without_effects(effects):
                read(config_of(name, secret))
        except pytest.fail.Exception:
            pytest.fail(f"{entry} takes {config_of(name, secret)}")


@pytest.mark.parametrize(
    "module", ["layers", "initializers", "losses", "metrics", "optimizers", "keras", "activations"]
)
def test_names_in_a_module_are_those_of_its_kind(module):
    name = "keras" if module == "keras" else f"keras.{module}"
    for wrong in WRONG_NAMES:
        with pytest.raises(TypeError, match="Could not locate"):
            keras.saving.deserialize_keras_object(
                {"module": name, "class_name": wrong or "?", "config": {}, "registered_name": None}
            )


# Files.


def _column(folder, **config):
    kind = {
        "class_name": "VocabularyFileCategoricalColumn",
        "config": {"key": "k", "vocabulary_file": str(folder / "secret.txt"), "vocabulary_size": 2,
                   "num_oov_buckets": 0, "dtype": "string", "default_value": -1, "file_format": None},
    }  # fmt: skip
    if config:
        kind = {
            "class_name": "IdentityCategoricalColumn",
            "config": {"key": "k", "number_buckets": 3, "default_value": None},
        }
        return {
            "class_name": "EmbeddingColumn",
            "config": {"categorical_column": kind, "dimension": 2, "combiner": "mean", "initializer": None,
                       "tensor_name_in_ckpt": "w", "max_norm": None, "trainable": True, **config},
        }  # fmt: skip
    return {"class_name": "IndicatorColumn", "config": {"categorical_column": kind}}


READING = {
    "StringLookup": lambda f: {"vocabulary": str(f / "secret.txt")},
    "IntegerLookup": lambda f: {"vocabulary": str(f / "secret.txt")},
    "TextVectorization": lambda f: {"vocabulary": str(f / "secret.txt")},
    "TFSMLayer": lambda f: {"filepath": str(f / "saved"), "call_endpoint": "serving_default"},
    "DenseFeatures": lambda f: {"feature_columns": [_column(f)]},
    "DenseFeatures of a checkpoint": lambda f: {"feature_columns": [_column(f, ckpt_to_load_from=str(f / "secret"))]},
}


def _layer(kind, folder):
    return {"class_name": kind.partition(" ")[0], "config": READING[kind](folder)}


@pytest.mark.parametrize("kind", READING)
@pytest.mark.parametrize("entry", [*CONFIGS, "class"])
def test_configs_name_no_files(effects, folder, kind, entry):
    layer = _layer(kind, folder)
    own = getattr(keras.layers, layer["class_name"]).from_config
    with _without_effects(effects):
        own(layer["config"]) if entry == "class" else CONFIGS[entry](layer)


@pytest.mark.parametrize("kind", READING)
@pytest.mark.parametrize("entry", FILES)
def test_files_of_models_name_no_other_files(effects, folder, tmp_path, kind, entry):
    path = FILES[entry](folder, tmp_path, _sequential(_layer(kind, folder)))
    with _without_effects(effects, tmp_path):
        if entry != "saved_model":
            keras.models.load_model(path)
        else:
            # Without its layers, a SavedModel still has its functions.
            with pytest.warns(UserWarning, match="safe_mode=False") as warned:
                keras.models.load_model(path)
            raise ValueError(warned[0].message)


@pytest.mark.parametrize("kind", READING)
def test_the_message_says_how_to_trust(folder, kind):
    with pytest.raises(ValueError, match=r"safe_mode=False.*enable_unsafe_deserialization\(\)"):
        keras.layers.deserialize(_layer(kind, folder))


@pytest.mark.parametrize("kind", ["StringLookup", "TextVectorization", "TFSMLayer", "DenseFeatures"])
def test_trusted_configs_name_files(folder, kind, monkeypatch):
    layer = _layer(kind, folder)
    with deserialization.safe_mode_scope(False):
        assert type(keras.layers.deserialize(layer)).__name__ == kind
    monkeypatch.setattr(deserialization, "_all_trusted", False)
    keras.config.enable_unsafe_deserialization()
    assert type(keras.layers.deserialize(layer)).__name__ == kind


@pytest.mark.parametrize("entry", FILES)
def test_trusted_files_name_functions_with_effects(folder, tmp_path, entry):
    dense = {"class_name": "Dense", "config": {"name": "a", "units": 2}}
    dense |= {"name": "a", "inbound_nodes": [[["x", 0, 0, {}]]]}
    config = _functional(_op_layer("print"), [["x", 0, 0, {}]])
    config = {**config, "layers": [*config["layers"], dense], "output_layers": [["a", 0, 0]]}
    path = FILES[entry](folder, tmp_path, {"class_name": "Functional", "module": "keras", "config": config})
    model = keras.models.load_model(path, safe_mode=False)
    assert [type(layer).__name__ for layer in model.layers] == ["InputLayer", "Dense"]


def test_programs_name_files(folder):
    layer = keras.layers.StringLookup(vocabulary=str(folder / "secret.txt"))
    assert layer.get_vocabulary() == ["[UNK]", "a", "b"]
    column = tf.feature_column.categorical_column_with_vocabulary_file("k", str(folder / "secret.txt"))
    layer = keras.layers.DenseFeatures([tf.feature_column.indicator_column(column)])
    copy = keras.models.clone_model(keras.Sequential([layer]))
    np.testing.assert_array_equal(copy.layers[0]({"k": tf.constant([["b"]])}).numpy(), [[0, 1]])


def test_an_outer_block_decides(folder):
    """Code that a config leads to cannot be talked into trust by the config."""
    path = {"vocabulary": str(folder / "secret.txt")}

    class Outer(keras.layers.Layer):
        @classmethod
        def from_config(cls, config):
            keras.saving.deserialize_keras_object({"class_name": "StringLookup", "config": path}, safe_mode=False)
            return cls()

    described = {"class_name": "Outer", "config": {}}
    with pytest.raises(ValueError, match="safe_mode=False"):
        keras.layers.deserialize(described, {"Outer": Outer})
    assert not deserialization.in_safe_mode()


# Functions.


def _op_layer(function):
    return {"class_name": "TFOpLambda", "config": {"name": "y", "function": function}}


EFFECTS = {
    "write": ("compat.v1.write_file", ["_CONSTANT_VALUE", -1, "{}/pwned", {"contents": "x"}]),
    "write what comes": ("compat.v1.write_file",
                         ["_CONSTANT_VALUE", -1, "{}/pwned", {"contents": ["_KERAS_TENSOR", "x", 0, 0]}]),
    "write where it comes": ("compat.v1.write_file", ["x", 0, 0, {"contents": "x"}]),
    "read": ("compat.v1.read_file", ["_CONSTANT_VALUE", -1, "{}/secret.txt", {}]),
    "list": ("compat.v1.matching_files", ["_CONSTANT_VALUE", -1, "{}/*", {}]),
    "print": ("print", ["_CONSTANT_VALUE", -1, "x", {"output_stream": "file://{}/pwned"}]),
    "print what comes": ("print", ["x", 0, 0, {"output_stream": "file://{}/pwned"}]),
    "import": ("import_graph_def", ["_CONSTANT_VALUE", -1, "", {}]),
    "candidates": ("nn.fixed_unigram_candidate_sampler",
                   ["x", 0, 0, {"num_true": 1, "num_sampled": 1, "unique": True, "range_max": 2,
                                "vocab_file": "{}/secret.txt"}]),
    "seed": ("compat.v1.set_random_seed", ["_CONSTANT_VALUE", -1, 3, {}]),
    "settings": ("keras.backend.set_floatx", ["_CONSTANT_VALUE", -1, "float16", {}]),
    "clear": ("keras.backend.clear_session", ["x", 0, 0, {}]),
}  # fmt: skip


def _filled(value, folder):
    return json.loads(json.dumps(value).replace("{}/", f"{folder}/"))


@pytest.mark.parametrize("form", ["list", "arguments"])
@pytest.mark.parametrize("kind", EFFECTS)
def test_op_layers_have_no_effects(effects, folder, tmp_path, kind, form):
    function, call = _filled(EFFECTS[kind], folder)
    if form == "arguments":
        constant = call[0] == "_CONSTANT_VALUE"
        first = call[2] if constant else {"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}}
        call = {"args": [first], "kwargs": call[3]}
    config = _functional(_op_layer(function), [call] if form == "list" else call)
    described = {"class_name": "Functional", "config": config}
    for read in (keras.Model.from_config, lambda c: keras.models.model_from_json(json.dumps(described))):
        with _without_effects(effects):
            read(config)
    for make in (_in_keras_file, _in_hdf5_file):
        path = make(folder, tmp_path, described)
        with _without_effects(effects, tmp_path):
            keras.models.load_model(path)
    assert not (folder / "pwned").exists()


@pytest.mark.parametrize("function", ["square", "compat.v1.random_normal", "strings.length", "__operators__.neg"])
@pytest.mark.parametrize("call", [[["_CONSTANT_VALUE", -1, [3], {}]], {"args": [[3]], "kwargs": {}}])
def test_nodes_without_symbolic_inputs_are_refused(function, call):
    with pytest.raises(ValueError, match="without any output of another layer"):
        keras.Model.from_config(_functional(_op_layer(function), call))


@pytest.mark.parametrize("name", ["Print", "print", "py_function", "PyFunction", "WriteFile", "map_fn", "Function"])
def test_operations_of_keras_3_are_functions_of_tensors(name):
    layer = {"module": "keras.src.ops.core", "class_name": name, "config": {"name": "y"}}
    with pytest.raises(ValueError, match=r"Unknown function|safe_mode=False"):
        keras.Model.from_config(_functional(layer, [["x", 0, 0, {}]]))


def test_loading_imports_no_module_that_a_config_names(tmp_path, monkeypatch):
    (tmp_path / "hostile_module.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    config = {"module": "hostile_module", "class_name": "Layer2", "config": {}, "registered_name": "Layer2"}
    for read in CONFIGS.values():
        with pytest.raises((TypeError, ValueError)):
            read(config)
    assert "hostile_module" not in sys.modules
