"""compile, fit, evaluate and predict: losses and metrics by output, weights, validation, callbacks, configs."""

import csv
import json

import numpy as np
import pytest

import tapeflow as tf

layers, keras = tf.keras.layers, tf.keras


@pytest.fixture
def data(rng):
    x = rng.normal(size=(20, 4)).astype(np.float32)
    return x, rng.integers(0, 3, (20, 1)), rng.normal(size=(20, 2)).astype(np.float32)


def two_outputs():
    inputs = keras.Input((4,))
    a = layers.Dense(3, activation="softmax", name="a")(inputs)
    return keras.Model(inputs, [a, layers.Dense(2, name="b")(inputs)])


def one_output():
    return keras.Sequential([layers.Dense(2, input_shape=(4,))])


def test_losses_and_metrics_by_output(data):
    x, y, z = data
    model = two_outputs()
    model.compile(
        "sgd",
        ["sparse_categorical_crossentropy", "mse"],
        metrics={"a": "accuracy", "b": ["mae"]},
        loss_weights=[1.0, 0.5],
        weighted_metrics=[[], ["mae"]],
    )
    logs = model.evaluate(x, {"a": y, "b": z}, verbose=0, return_dict=True)
    names = ["loss", "a_loss", "b_loss", "a_accuracy", "b_mae", "b_weighted_mae"]
    assert model.metrics_names == ["loss", "compile_metrics", "a_loss", "b_loss"]
    assert list(logs) == sorted(names)
    a, b = model.predict(x, verbose=0)
    cross = -np.log(a[np.arange(20), y[:, 0]]).mean()
    np.testing.assert_allclose(logs["loss"], cross + 0.5 * ((b - z) ** 2).mean(), rtol=1e-5)
    np.testing.assert_allclose(logs["b_mae"], abs(b - z).mean(), rtol=1e-5)
    np.testing.assert_allclose(logs["a_accuracy"], (a.argmax(1) == y[:, 0]).mean())
    assert len(model.train_on_batch(x, [y, z])) == 6


def test_class_and_sample_weights(data):
    x, y, _ = data
    model = keras.Sequential([layers.Dense(3, activation="softmax", input_shape=(4,))])
    model.compile(keras.optimizers.SGD(0.0), "sparse_categorical_crossentropy")
    each = -np.log(model.predict(x, verbose=0)[np.arange(20), y[:, 0]])
    table = np.array([1.0, 2.0, 0.5])
    logs = model.fit(x, y, class_weight=dict(enumerate(table)), batch_size=20, verbose=0).history
    np.testing.assert_allclose(logs["loss"][0], (each * table[y[:, 0]]).mean(), rtol=1e-5)
    weights = np.linspace(0, 1, 20)
    loss = model.evaluate(x, y, sample_weight=weights, batch_size=20, verbose=0)
    np.testing.assert_allclose(loss, (each * weights).mean(), rtol=1e-5)
    # Classes without a weight have 1, as in Keras 3.
    some = np.array([3.0, 1.0, 0.5])
    for given in ({0: 3.0, 2: 0.5}, {0: 3.0, 2: 0.5, 7: 1.0}):
        logs = model.fit(x, y, class_weight=given, batch_size=20, verbose=0).history
        np.testing.assert_allclose(logs["loss"][0], (each * some[y[:, 0]]).mean(), rtol=1e-5)
        batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(20)
        logs = model.fit(batches, class_weight=given, verbose=0).history
        np.testing.assert_allclose(logs["loss"][0], (each * some[y[:, 0]]).mean(), rtol=1e-5)
    logs = model.fit(x, y, class_weight={0: 3.0}, batch_size=20, verbose=0).history
    np.testing.assert_allclose(logs["loss"][0], (each * np.where(y[:, 0] == 0, 3.0, 1.0)).mean(), rtol=1e-5)
    with pytest.raises(ValueError, match="You cannot `class_weight` and `sample_weight`"):
        model.fit(x, y, class_weight={0: 1.0}, sample_weight=weights, verbose=0)
    with pytest.raises(ValueError, match="integer keys"):
        model.fit(x, y, class_weight={"a": 1.0}, verbose=0)


@pytest.mark.parametrize(("method", "ends"), [("evaluate", "stop_evaluating"), ("predict", "stop_predicting")])
def test_callbacks_stop_evaluation_and_prediction(data, method, ends):
    x = data[0]
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3)])
    model.compile("sgd", "mse")
    seen = []

    class Stopper(keras.callbacks.Callback):
        def on_test_batch_end(self, batch, logs=None):
            seen.append(batch)
            setattr(self.model, ends, len(seen) == 3)

        on_predict_batch_end = on_test_batch_end

    def endless():
        while True:
            yield (x[:2],) if method == "predict" else (x[:2], x[:2, :3])

    result = getattr(model, method)(endless(), callbacks=[Stopper()], verbose=0)
    assert seen == [0, 1, 2]
    assert method == "evaluate" or result.shape == (6, 3)


class Parts(keras.utils.Sequence):
    def __init__(self, x, y):
        self.x, self.y, self.ends = x, y, 0

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return self.x[i * 5 : i * 5 + 5], self.y[i * 5 : i * 5 + 5]

    def on_epoch_end(self):
        self.ends += 1


def test_kinds_of_data(data):
    x, _, z = data
    model = one_output()
    model.compile("sgd", "mse")
    parts = Parts(x, z)
    model.fit(parts, epochs=2, verbose=0)
    assert parts.ends == 3  # Keras 3 sets data back before the first epoch, too

    def forever():
        while True:
            yield x[:5], z[:5]

    history = model.fit(forever(), steps_per_epoch=3, epochs=2, verbose=0)
    assert history.epoch == [0, 1]
    model.fit(
        tf.data.Dataset.from_tensor_slices((x, z)).batch(4), verbose=0, validation_data=(x, z)
    )
    assert list(model.history.history) == ["loss", "val_loss"]
    assert model.fit(x, z, validation_split=0.25, verbose=0).history["val_loss"]
    with pytest.raises(ValueError, match="cardinality"):
        model.fit(x, z[:5], verbose=0)
    with pytest.raises(ValueError, match="not supported when using a dataset"):
        model.fit(tf.data.Dataset.from_tensor_slices((x, z)), z)
    with pytest.raises(ValueError, match="must yield at least one batch"):
        model.fit(iter([]), verbose=0)


def test_custom_train_step(data):
    x, _, z = data

    class Doubling(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2)
            self.mean = keras.metrics.Mean(name="mine")

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            self.compiled_metrics.update_state(y, y_pred)
            self.mean.update_state(2 * loss)
            return {m.name: m.result() for m in self.metrics}

    model = Doubling()
    model.compile("adam", "mse", metrics=["mae"])
    logs = model.fit(x, z, verbose=0).history
    np.testing.assert_allclose(logs["mine"], 2 * np.array(logs["loss"]), rtol=1e-5)
    assert set(logs) == {"loss", "mae", "mine"}


class Recorder(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.events = []

    def on_train_begin(self, logs=None):
        self.events.append("begin")

    def on_train_end(self, logs=None):
        self.events.append("end")

    def on_epoch_end(self, epoch, logs=None):
        self.events.append((epoch, sorted(logs)))

    def on_train_batch_end(self, batch, logs=None):
        self.events.append(batch)

    def on_test_begin(self, logs=None):
        self.events.append("test")


def test_callbacks_are_called(data):
    x, _, z = data
    model, recorder = one_output(), Recorder()
    model.compile("sgd", "mse")
    model.fit(x, z, batch_size=10, validation_data=(x, z), callbacks=[recorder], verbose=0)
    assert recorder.events == ["begin", 0, 1, "test", (0, ["loss", "val_loss"]), "end"]
    assert recorder.params == {"verbose": 0, "epochs": 1, "steps": 2}
    assert recorder.model is model


def test_callbacks_of_learning_rates(data, tmp_path):
    x, _, z = data
    model = one_output()
    model.compile(keras.optimizers.SGD(1.0), "mse")
    callbacks = [
        keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.5**epoch * 1e-3),
        keras.callbacks.CSVLogger(tmp_path / "log.csv"),
    ]
    history = model.fit(x, z, epochs=3, callbacks=callbacks, verbose=0).history
    np.testing.assert_allclose(history["learning_rate"], [1e-3, 5e-4, 2.5e-4], rtol=1e-6)
    rows = list(csv.DictReader((tmp_path / "log.csv").read_text().splitlines()))
    assert [row["epoch"] for row in rows] == ["0", "1", "2"]
    np.testing.assert_allclose([float(row["loss"]) for row in rows], history["loss"])
    plateau = keras.callbacks.ReduceLROnPlateau("loss", 0.5, patience=1, min_delta=1e9)
    history = model.fit(x, z, epochs=4, callbacks=[plateau], verbose=0).history
    np.testing.assert_allclose(np.diff(np.log2(history["learning_rate"])), [0, -1, -1], atol=1e-5)
    with pytest.raises(ValueError, match="factor"):
        keras.callbacks.ReduceLROnPlateau(factor=1.5)


def test_stopping_restores_the_best_weights(data):
    x, _, z = data
    model = one_output()
    model.compile(keras.optimizers.SGD(50.0), "mse")
    start = model.evaluate(x, z, verbose=0)
    stop = keras.callbacks.EarlyStopping("loss", patience=1, restore_best_weights=True)
    model.fit(x, z, epochs=9, callbacks=[stop], verbose=0)
    assert stop.stopped_epoch == 1
    model.compile(keras.optimizers.SGD(1e30), "mse")
    nan = keras.callbacks.TerminateOnNaN()
    history = model.fit(x * 1e10, z, epochs=9, callbacks=[nan], verbose=0)
    assert len(history.epoch) < 9
    assert start > 0


def shared_model():
    a, b = keras.Input((4,), name="left"), keras.Input((4,), name="right")
    dense = layers.Dense(3, name="shared")
    inner = keras.Sequential([layers.Input((3,)), layers.Dense(2)], name="inner")
    joined = layers.Concatenate()([inner(dense(a)), inner(dense(b))])
    return keras.Model({"left": a, "right": b}, [joined, layers.Dense(1)(joined)], name="both")


def test_functional_models_from_configs():
    model = shared_model()
    x = {"left": np.ones([2, 4], np.float32), "right": np.full([2, 4], 2, np.float32)}
    for again in (
        keras.Model.from_config(model.get_config()),
        keras.models.model_from_json(model.to_json()),
        keras.models.clone_model(model),
    ):
        again.set_weights(model.get_weights())
        for ours, theirs in zip(again(x), model(x), strict=True):
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
        assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
        assert json.loads(again.to_json()) == json.loads(model.to_json())


def test_a_model_of_its_own_arguments_needs_a_config():
    class Own(keras.Model):
        def __init__(self, thing):
            super().__init__()

    assert json.loads(Own(3).to_json())["config"]["thing"] == 3
    with pytest.raises(NotImplementedError):
        Own(object()).to_json()


def test_configs_of_calls_with_states():
    source, state = keras.Input((None, 3)), keras.Input((2,))
    outputs = layers.LSTM(2, return_sequences=True)(source, initial_state=[state, state])
    model = keras.Model([source, state], outputs)
    again = keras.Model.from_config(json.loads(model.to_json())["config"])
    again.set_weights(model.get_weights())
    x = [np.ones([1, 3, 3], np.float32), np.ones([1, 2], np.float32)]
    np.testing.assert_array_equal(again(x).numpy(), model(x).numpy())


def test_configs_that_do_not_fit():
    config = shared_model().get_config()
    config["output_layers"] = [["nowhere", 0, 0]]
    with pytest.raises(ValueError, match="nowhere"):
        keras.Model.from_config(config)
    config = shared_model().get_config()
    config["layers"][2]["inbound_nodes"] = [[["shared", 7, 0, {}]]]
    with pytest.raises(ValueError, match="never get their inputs"):
        keras.Model.from_config(config)
    with pytest.raises(ValueError, match="Unknown layer"):
        keras.models.model_from_json('{"class_name": "os.system", "config": {}}')


def test_summary_shows_connections(capsys):
    shared_model().summary()
    text = capsys.readouterr().out
    assert "Connected to" in text
    assert "left[0][0], " in text
    assert "Total params: 28 (112.00 B)" in text


def test_names_must_differ():
    inputs = keras.Input((2,))
    hidden = layers.Dense(2, name="same")(inputs)
    with pytest.raises(ValueError, match="used 2 times"):
        keras.Model(inputs, layers.Dense(2, name="same")(hidden))
    with pytest.raises(ValueError, match="disconnected"):
        keras.Model(keras.Input((2,)), hidden)


def test_whole_models_in_hdf5(data, tmp_path):
    pytest.importorskip("h5py")
    x, y, z = data
    model = two_outputs()
    model.compile(
        keras.optimizers.Adam(0.05),
        {"a": "sparse_categorical_crossentropy", "b": keras.losses.MeanSquaredError()},
        metrics={"a": ["accuracy"]},
    )
    model.fit(x, [y, z], epochs=2, verbose=0)
    model.save(tmp_path / "model.h5")
    again = keras.models.load_model(tmp_path / "model.h5")
    for ours, theirs in zip(again.predict(x, verbose=0), model.predict(x, verbose=0), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    results = [m.train_on_batch(x, [y, z]) for m in (model, again, model, again)]
    np.testing.assert_allclose(results[2], results[3], rtol=1e-5)
    assert keras.models.load_model(tmp_path / "model.h5", compile=False).optimizer is None
    (tmp_path / "noise.h5").write_bytes(b"noise")
    with pytest.raises(OSError, match=r"noise|signature|open"):
        keras.models.load_model(tmp_path / "noise.h5")
    with pytest.raises(OSError, match="No file"):
        keras.models.load_model(tmp_path / "nothing.h5")
    with pytest.raises(NotImplementedError, match="subclassed"):
        type("Own", (keras.Model,), {})().save(tmp_path / "own.h5")


def test_outputs_in_a_dict_are_known_by_their_keys():
    x = keras.Input((3,))
    outputs = {key: keras.layers.Dense(1, name=f"layer_{key}", kernel_initializer="ones")(x) for key in ("b", "a")}
    model = keras.Model(x, outputs)
    model.compile("sgd", {"a": "mse", "b": "mae"}, metrics={"a": ["mae"], "b": ["mse"]})
    found = model.evaluate(np.ones((4, 3)), {"a": np.zeros((4, 1)), "b": np.ones((4, 1))}, verbose=0, return_dict=True)
    assert found == {"loss": 11.0, "a_loss": 9.0, "b_loss": 2.0, "a_mae": 3.0, "b_mse": 4.0}


@pytest.mark.parametrize(
    ("loss", "wanted"),
    [("mse", ["loss", "z_loss", "a_loss", "b_loss"]),
     ({"b": "mse", "z": "mae", "a": "mse"}, ["loss", "b_loss", "z_loss", "a_loss"])],
)  # fmt: skip
def test_losses_come_in_the_order_of_the_outputs_or_the_losses(loss, wanted):
    inputs = tf.keras.Input((3,))
    hidden = tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs)
    outputs = {name: hidden * (i + 1.0) for i, name in enumerate("zab")}
    model = tf.keras.Model(inputs, outputs)
    model.compile("sgd", loss)
    x, y = np.ones((4, 3), "f"), {name: np.zeros((4, 1), "f") for name in "abz"}
    found = model.evaluate(x, y, verbose=0, return_dict=True)
    assert model.evaluate(x, y, verbose=0) == [found[name] for name in wanted]


def test_no_loss_weights_may_be_an_empty_list():
    for arguments in (([],), ([], []), ((), None)):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", *arguments)
        assert list(model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0).history) == ["loss"]
