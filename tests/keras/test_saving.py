"""Models in `.keras` files, weights in `.weights.h5`, models as SavedModels; and files that are hostile."""

import io
import json
import os
import pathlib
import subprocess
import zipfile

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import deserialization

keras, layers = tf.keras, tf.keras.layers
h5py = pytest.importorskip("h5py")


def sequential():
    model = keras.Sequential([
        keras.Input((4,)), layers.Dense(3, activation="relu", kernel_regularizer="l2"),
        layers.BatchNormalization(), layers.Dropout(0.2), layers.Dense(2),
    ])  # fmt: skip
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones((2, 4), np.float32), np.ones((2, 2), np.float32), verbose=0)
    return model, np.ones((2, 4), np.float32)


def functional():
    a, b = keras.Input((5, 3), name="a"), keras.Input((5, 3), name="b")
    shared = layers.LSTM(2, return_sequences=True)
    both = layers.Concatenate()([shared(a), shared(b)])
    seen = layers.MultiHeadAttention(2, 2)(both, both)
    outputs = {
        "x": layers.Bidirectional(layers.GRU(2))(seen),
        "y": layers.TimeDistributed(layers.Dense(2))(both),
    }
    model = keras.Model([a, b], outputs)
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    model.compile(keras.optimizers.SGD(rate, momentum=0.9), {"x": keras.losses.Huber(), "y": "mae"})
    return model, [np.ones((1, 5, 3), np.float32)] * 2


@keras.utils.register_keras_serializable("tests")
class Subclassed(keras.Model):
    def __init__(self, units=2, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.blocks = [layers.Dense(3), layers.Dense(units)]
        self.named = {"last": layers.Dense(2)}
        self.w = self.add_weight(shape=(2,), name="w", initializer="ones")

    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return self.named["last"](x) + self.w

    def get_config(self):
        return {"units": self.units}


def subclassed():
    model, x = Subclassed(), np.ones((2, 4), np.float32)
    model(x)
    return model, x


def recurrent():
    cells = layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)])
    model = keras.Sequential([
        keras.Input((5,)), layers.Embedding(7, 3, mask_zero=True), cells,
        keras.Sequential([layers.Dense(2)]),
    ])  # fmt: skip
    return model, np.ones((2, 5), np.float32)


MODELS = {f.__name__: f for f in (sequential, functional, subclassed, recurrent)}


def outputs(model, x):
    return [np.asarray(y) for y in tf.nest.flatten(model(x))]


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_comes_back_from_a_keras_file(kind, tmp_path):
    model, x = MODELS[kind]()
    path = tmp_path / "model.keras"
    model.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["model.keras"]
    again = keras.models.load_model(path)
    for ours, theirs in zip(outputs(again, x), outputs(model, x)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    if kind == "sequential":
        assert int(again.optimizer.iterations) == 1
        for a, b in zip(again.optimizer.get_weights(), model.optimizer.get_weights()):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(
            again.evaluate(x, np.ones((2, 2)), verbose=0),
            model.evaluate(x, np.ones((2, 2)), verbose=0),
        )


@pytest.mark.parametrize("kind", MODELS)
def test_weights_come_back(kind, tmp_path):
    model, x = MODELS[kind]()
    other, _ = MODELS[kind]()
    for variable in other.weights:
        variable.assign(tf.ones_like(variable))
    model.save_weights(tmp_path / "a.weights.h5")
    other.load_weights(tmp_path / "a.weights.h5")
    for ours, theirs in zip(outputs(other, x), outputs(model, x)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    model.save(tmp_path / "b.keras")
    other.load_weights(tmp_path / "b.keras")


def test_the_layout_is_that_of_keras(tmp_path):
    model, _ = sequential()
    model.save(tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras") as archive:
        assert sorted(archive.namelist()) == ["config.json", "metadata.json", "model.weights.h5"]
        config = json.loads(archive.read("config.json"))
        assert (config["module"], config["class_name"]) == ("keras", "Sequential")
        dense = config["config"]["layers"][1]
        assert (dense["module"], dense["class_name"]) == ("keras.layers", "Dense")
        assert dense["config"]["kernel_regularizer"]["module"] == "keras.regularizers"
        assert config["compile_config"]["optimizer"]["class_name"] == "Adam"
        with h5py.File(io.BytesIO(archive.read("model.weights.h5"))) as file:
            assert file["layers/batch_normalization/vars/3"].shape == (3,)
            assert file["optimizer/vars/0"][()] == 1
            assert len(file["optimizer/vars"]) == 14


def test_a_saved_model_is_a_model_again(tmp_path):
    model, x = sequential()
    model.save(tmp_path / "folder")
    again = keras.models.load_model(tmp_path / "folder")
    np.testing.assert_allclose(again(x), model(x), rtol=1e-6)
    model.export(tmp_path / "served", verbose=False)
    served = tf.saved_model.load(str(tmp_path / "served"))
    np.testing.assert_allclose(served.serve(x), model(x), rtol=1e-6)


def changed(path, config=None, weights=None):
    """The `.keras` file with another config or other weights."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if config is not None:
        parts["config.json"] = json.dumps(config(json.loads(parts["config.json"]))).encode()
    if weights is not None:
        parts["model.weights.h5"] = weights
    other = path.with_name("other.keras")
    with zipfile.ZipFile(other, "w") as archive:
        for name, value in parts.items():
            archive.writestr(name, value)
    return other


def test_configs_name_no_code(tmp_path):
    model, _ = sequential()
    model.save(tmp_path / "m.keras")

    def with_activation(value):
        def change(config):
            config["config"]["layers"][1]["config"]["activation"] = value
            return config

        return changed(tmp_path / "m.keras", change)

    code = {"class_name": "__lambda__", "config": {"value": "4wEAAAA="}}
    for bad in (
        code, {"module": "os", "class_name": "function", "config": "system", "registered_name": "system"},
    ):  # fmt: skip
        for safe_mode in (True, False):
            with pytest.raises((ValueError, TypeError), match=r"lambda|Unknown|Could not|system"):
                keras.models.load_model(with_activation(bad), safe_mode=safe_mode)

    def from_os(config):
        config["config"]["layers"][1] |= {"module": "subprocess", "class_name": "Popen"}
        return config

    with pytest.raises((ValueError, TypeError), match="Popen"):
        keras.models.load_model(changed(tmp_path / "m.keras", from_os))
    with pytest.raises(TypeError, match="never imported"):
        keras.saving.deserialize_keras_object(
            {"module": "os", "class_name": "system", "config": {}}
        )


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_lambdas_are_code_of_trusted_files(tmp_path, ending):
    def scaled_by(factor):
        return keras.layers.Lambda(lambda x, more=2: x * factor + more)

    model = keras.Sequential(
        [
            keras.Input((3,)), scaled_by(5.0),
            keras.layers.Dense(2, activation=lambda x: abs(x), kernel_initializer=tf.random.normal),
        ]
    )  # fmt: skip
    path = tmp_path / f"m.{ending}"
    model.save(path)
    with pytest.raises(ValueError, match="safe_mode=False"):
        keras.models.load_model(path)
    again = keras.models.load_model(path, safe_mode=False)
    x = np.array([[-1.0, 2.0, -3.0]], np.float32)
    np.testing.assert_array_equal(again(x), model(x))
    np.testing.assert_allclose(again(x), np.abs((5 * x + 2) @ model.get_weights()[0]), rtol=1e-5)
    copy = keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    np.testing.assert_array_equal(copy(x), model(x))


def test_lambdas_of_configs_are_refused_by_every_way():
    with deserialization.deserializing(safe_mode=False):
        config = keras.layers.serialize(keras.layers.Lambda(lambda x: x))["config"]
    config["function"] = keras.saving.serialize_keras_object(lambda x: x)
    dense = {"class_name": "Dense", "config": {"units": 1, "activation": config["function"]}}
    ways = (
        lambda: keras.layers.Lambda.from_config(config),
        lambda: keras.layers.deserialize({"class_name": "Lambda", "config": config}),
        lambda: keras.layers.Dense.from_config(dense["config"]),
        lambda: keras.layers.deserialize(dense),
        lambda: keras.activations.deserialize(config["function"]),
        lambda: keras.activations.get(config["function"]),
        lambda: keras.losses.deserialize(config["function"]),
        lambda: keras.saving.deserialize_keras_object(config["function"]),
    )
    for way in ways:
        with pytest.raises(ValueError, match="safe_mode=False"):
            way()


def test_weights_lead_to_no_other_file(tmp_path):
    model, _ = sequential()
    model.save(tmp_path / "m.keras")
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["secret"] = np.ones((4, 3), np.float32)
    hostile = io.BytesIO()
    with h5py.File(hostile, "w") as file:
        file.create_group("layers/dense/vars")["0"] = h5py.ExternalLink(
            str(tmp_path / "secret.h5"), "secret"
        )
        file["layers/dense/vars/1"] = np.ones(3, np.float32)
    with pytest.raises(ValueError, match="link out of itself"):
        keras.models.load_model(changed(tmp_path / "m.keras", weights=hostile.getvalue()))
    huge = io.BytesIO()
    with h5py.File(huge, "w") as file:
        file.create_dataset(
            "layers/dense/vars/0", shape=(1 << 40, 1 << 10), dtype="f4", chunks=(1, 1 << 10)
        )
        file["layers/dense/vars/1"] = np.ones(3, np.float32)
    with pytest.raises(ValueError, match="has shape"):
        keras.models.load_model(changed(tmp_path / "m.keras", weights=huge.getvalue()))


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_damage_gives_named_errors(ending, tmp_path, rng):
    model, _ = sequential()
    path = tmp_path / f"m.{ending}"
    model.save(path)
    whole = path.read_bytes()
    loaded = 0
    for trial in range(40):
        data = bytearray(whole)
        if trial % 2:
            del data[int(rng.integers(len(data))) :]
        else:
            for place in rng.integers(0, len(data), 8):
                data[place] = rng.integers(256)
        path.write_bytes(data)
        try:
            keras.models.load_model(path)
            loaded += 1
        except (ValueError, OSError, TypeError):
            pass
    assert loaded < 40
    path.write_bytes(b"")
    with pytest.raises((ValueError, OSError), match=rf"m\.{ending}"):
        keras.models.load_model(path)


def test_what_does_not_fit_is_said(tmp_path, monkeypatch):
    model, _ = sequential()
    model.save_weights(tmp_path / "a.weights.h5")
    other = keras.Sequential(
        [keras.Input((4,)), layers.Dense(5), layers.BatchNormalization(), layers.Dense(2)]
    )
    with pytest.raises(ValueError, match="shape"):
        other.load_weights(tmp_path / "a.weights.h5")
    with pytest.warns(UserWarning, match="not loaded"):
        other.load_weights(tmp_path / "a.weights.h5", skip_mismatch=True)
    with pytest.raises(FileNotFoundError):
        model.load_weights(tmp_path / "none.weights.h5")
    kept = (tmp_path / "a.weights.h5").read_bytes()
    monkeypatch.setattr("builtins.input", lambda question: "n")
    model.save_weights(tmp_path / "a.weights.h5", overwrite=False)
    assert (tmp_path / "a.weights.h5").read_bytes() == kept


def test_objects_as_data():
    for made in (
        keras.losses.Huber(0.5), keras.metrics.AUC(num_thresholds=5), keras.optimizers.Adam(0.1),
        keras.initializers.Constant(2.0), keras.optimizers.schedules.CosineDecay(0.1, 5),
    ):  # fmt: skip
        described = json.loads(json.dumps(keras.saving.serialize_keras_object(made)))
        again = keras.saving.deserialize_keras_object(described)
        assert type(again) is type(made)
        assert again.get_config() == made.get_config()
    value = keras.saving.serialize_keras_object({"a": (1, np.arange(3)), "b": [b"x", ...]})
    again = keras.saving.deserialize_keras_object(json.loads(json.dumps(value)))
    assert again["a"][0] == 1
    assert again["a"][1].tolist() == [0, 1, 2]
    assert again["b"] == [b"x", ...]


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_files_are_exchanged_with_keras(tmp_path):
    """Keras 3 loads what is saved here with the same outputs, and what it saves again is loaded here."""
    models = {}
    for kind in ("sequential", "functional", "recurrent"):
        model, x = MODELS[kind]()
        model.save(tmp_path / f"{kind}.keras")
        models[kind] = (model, x)
    program = pathlib.Path(__file__).with_name("oracle_saving.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("PYTHONPATH", None)
    subprocess.run(
        [os.environ["TF_PYTHON"], str(program), str(tmp_path)],
        check=True,
        env=environment,
        timeout=600,
    )
    for kind, (model, x) in models.items():
        theirs = dict(np.load(tmp_path / f"{kind}.npz"))
        again = keras.models.load_model(tmp_path / f"{kind}_again.keras")
        for i, (ours, reloaded) in enumerate(zip(outputs(model, x), outputs(again, x))):
            np.testing.assert_allclose(theirs[str(i)], ours, rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(reloaded, ours, rtol=1e-4, atol=1e-6)


def test_weights_that_are_not_trained_may_come_first(tmp_path):
    class Scaled(keras.layers.Layer):
        def build(self, input_shape):
            self.count = self.add_weight("count", (), trainable=False, initializer="ones")
            self.scale = self.add_weight("scale", (input_shape[-1],), initializer="ones")
            self.built = True

        def call(self, inputs):
            return inputs * self.scale * self.count

    model = keras.Sequential([keras.Input((3,)), Scaled()])
    model.layers[0].scale.assign([1.0, 2.0, 3.0])
    model.layers[0].count.assign(4.0)
    model.save_weights(tmp_path / "model.weights.h5")
    other = keras.Sequential([keras.Input((3,)), Scaled()])
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other(np.ones((1, 3))), [[4, 8, 12]])


def test_files_hold_vocabularies(tmp_path):
    layer = keras.layers.TextVectorization()
    layer.adapt(["a b c", "c d"])
    lookup = keras.layers.StringLookup()
    lookup.adapt(["x", "y"])
    text, token = keras.Input((), dtype="string"), keras.Input((1,), dtype="string")
    model = keras.Model([text, token], [layer(text), lookup(token)])
    model.save(tmp_path / "model.keras")
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        assets = [name for name in archive.namelist() if name.startswith("assets/")]
    assert len(assets) == 3
    loaded = keras.models.load_model(tmp_path / "model.keras")
    x = [tf.constant(["c a z"]), tf.constant([["y"]])]
    for mine, other in zip(model(x), loaded(x), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_assets_stay_in_their_folder(tmp_path):
    layer = keras.layers.TextVectorization()
    layer.adapt(["a b c"])
    model = keras.Sequential([keras.Input((), dtype="string"), layer])
    model.save(tmp_path / "model.keras")
    with zipfile.ZipFile(tmp_path / "model.keras") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in files if name.startswith("assets/"))
    files[f"{name.rpartition('/')[0]}/../../../../evil.txt"] = b"x"
    with zipfile.ZipFile(tmp_path / "bad.keras", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match="leads out"):
        keras.models.load_model(tmp_path / "bad.keras")


def test_names_in_the_signatures_of_models(tmp_path):
    a, b = keras.Input((2,), name="a"), keras.Input((3,))
    dense = keras.layers.Dense(1)(a)
    for outputs, expected in (
        (dense, ["output_0"]), ([dense, b], ["output_0", "output_1"]), ({"x": dense, "y": b}, ["x", "y"]),
    ):  # fmt: skip
        tf.saved_model.save(keras.Model([a, b], outputs), str(tmp_path / "m"))
        signature = tf.saved_model.load(str(tmp_path / "m")).signatures["serving_default"]
        assert sorted(signature.structured_input_signature[1]) == ["inputs", "inputs_1"]
        found = signature(inputs=tf.ones([4, 2]), inputs_1=tf.zeros([4, 3]))
        assert sorted(found) == expected
        assert found[expected[0]].shape == [4, 1]


# All but the base and those that wrap others.
OPTIMIZERS = [
    name
    for name in dir(keras.optimizers)
    if isinstance(getattr(keras.optimizers, name), type)
    and issubclass(getattr(keras.optimizers, name), keras.optimizers.Optimizer)
    and name not in ("Optimizer", "LossScaleOptimizer", "MultiOptimizer")
]


@pytest.mark.filterwarnings("ignore:Skipping variable loading")
@pytest.mark.parametrize("ending", ["h5", "keras"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_that_were_not_used(tmp_path, name, ending):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])
    model.compile(getattr(keras.optimizers, name)(), "mse")
    model.save(tmp_path / f"model.{ending}")
    loaded = keras.models.load_model(tmp_path / f"model.{ending}")
    assert type(loaded.optimizer) is type(model.optimizer)
    loaded.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)
    assert int(loaded.optimizer.iterations) == 1
