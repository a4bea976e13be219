"""fit, evaluate and predict: steps compiled once, run eagerly, or in the session of a graph; states without state."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

keras, layers = tf.keras, tf.keras.layers
v1 = tf.compat.v1


@pytest.fixture
def data(rng):
    x = rng.normal(size=(20, 4)).astype(np.float32)
    return x, rng.normal(size=(20, 2)).astype(np.float32)


class Counting(layers.Layer):
    """Counts how often its Python runs."""

    runs = 0

    def call(self, x):
        type(self).runs += 1
        return x * 2


def small(**how):
    model = keras.Sequential(
        [keras.Input((4,)), Counting(), layers.Dense(2, kernel_initializer="ones")]
    )
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"], **how)
    return model


def test_a_step_is_compiled_once(data):
    model = small()
    Counting.runs = 0
    model.fit(*data, batch_size=8, epochs=3, verbose=0)  # the last batch is smaller
    assert Counting.runs == 1
    model.fit(*data, batch_size=5, epochs=2, verbose=0)
    assert Counting.runs == 1
    eager = small(run_eagerly=True)
    Counting.runs = 0
    eager.fit(*data, batch_size=10, epochs=2, verbose=0)
    assert Counting.runs == 4


def test_eager_and_compiled_steps_agree(data):
    histories = [
        small(**how).fit(*data, batch_size=6, epochs=3, shuffle=False, verbose=0).history
        for how in ({}, {"run_eagerly": True}, {"steps_per_execution": 2})
    ]
    for history in histories[1:]:
        assert list(history) == ["loss", "mae"]
        np.testing.assert_allclose(history["loss"], histories[0]["loss"], rtol=1e-5)


def test_steps_per_execution_hides_steps_from_callbacks(data):
    seen = []
    model = small(steps_per_execution=3)
    watch = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: seen.append(batch)
    )
    model.fit(*data, batch_size=4, verbose=0, callbacks=[watch])
    assert seen == [2, 5]  # the steps that were to be, as in Keras 3
    assert int(model.optimizer.iterations) == 5


def test_the_rate_can_change_between_epochs(data):
    model = small()
    before = model.layers[-1].get_weights()
    stop = keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.0)
    model.fit(*data, verbose=0, callbacks=[stop])
    np.testing.assert_array_equal(model.layers[-1].get_weights()[0], before[0])
    model.optimizer.learning_rate = 0.1
    model.fit(*data, verbose=0)
    assert (model.layers[-1].get_weights()[0] != before[0]).all()


def test_a_custom_loss_and_custom_metrics_are_used(data):
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2, kernel_initializer="zeros")
            self.seen = keras.metrics.Sum(name="seen")

        def call(self, x):
            return self.dense(x)

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            self.seen.update_state(tf.cast(tf.shape(x)[0], tf.float32))
            return tf.reduce_mean(tf.abs(y - y_pred)) * 3.0

    model = Own()
    model.compile(keras.optimizers.SGD(0.0))
    logs = model.fit(*data, batch_size=20, verbose=0).history
    assert logs["seen"] == [20.0]
    np.testing.assert_allclose(logs["loss"], 3 * np.abs(data[1]).mean(), rtol=1e-5)


def test_fit_in_a_graph(data):
    with v1.Graph().as_default():
        model = keras.Sequential([layers.Dense(2, kernel_initializer="ones", input_shape=(4,))])
        model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
        graph = model.fit(*data, batch_size=6, epochs=2, shuffle=False, verbose=0,
                          validation_data=data).history  # fmt: skip
        predicted = model.predict(data[0], verbose=0)
        loss = model.evaluate(*data, verbose=0)
        dataset = tf.data.Dataset.from_tensor_slices(data).batch(5)
        from_dataset = model.evaluate(dataset, verbose=0)
    model = keras.Sequential([layers.Dense(2, kernel_initializer="ones", input_shape=(4,))])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    eager = model.fit(*data, batch_size=6, epochs=2, shuffle=False, verbose=0,
                      validation_data=data).history  # fmt: skip
    for name, values in eager.items():
        np.testing.assert_allclose(graph[name], values, rtol=1e-5)
    np.testing.assert_allclose(predicted, model.predict(data[0], verbose=0), rtol=1e-5)
    np.testing.assert_allclose(loss, model.evaluate(*data, verbose=0), rtol=1e-5)
    np.testing.assert_allclose(from_dataset, loss, rtol=1e-5)


def test_data_that_ends_too_soon_is_said(data):
    model = small()
    batches = iter([(data[0][:5], data[1][:5])] * 3)
    with pytest.warns(UserWarning, match="ran out of data"):
        history = model.fit(batches, steps_per_epoch=2, epochs=5, verbose=0)
    assert history.epoch == [0, 1]


def test_arguments_that_compile_does_not_know():
    with pytest.raises(TypeError, match="Invalid keyword"):
        keras.Sequential([layers.Dense(1)]).compile("sgd", "mse", nothing=1)
    model = small()
    model.compile("sgd", "mse", ["mae"])  # metrics third, as before Keras 3
    assert model.metrics_names == ["loss", "compile_metrics"]


def test_compile_config_comes_back(data):
    model = small()
    again = keras.Sequential([keras.Input((4,)), Counting(), layers.Dense(2)])
    again.compile_from_config(model.get_compile_config())
    assert isinstance(again.optimizer, keras.optimizers.SGD)
    assert [metric.name for metric in again.compiled_metrics.metrics] == ["mae"]
    tree = model.get_state_tree()
    assert set(tree["metrics_variables"]) == {"loss/total", "loss/count", "mae/total", "mae/count"}
    model.set_state_tree(tree)
    with pytest.raises(ValueError, match="Unknown variable"):
        model.set_state_tree({"nothing": {}})


def test_losses_are_scaled_under_mixed_precision(data):
    policy = keras.mixed_precision.global_policy()
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = keras.Sequential([layers.Dense(2, input_shape=(4,), kernel_initializer="ones")])
        model.compile("sgd", "mse")
        assert isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
        losses = model.fit(*data, epochs=4, batch_size=20, verbose=0).history["loss"]
        assert losses[-1] < losses[0]
    finally:
        keras.mixed_precision.set_global_policy(policy)


def test_a_callback_may_compile_the_model_anew():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    seen = []

    class Anew(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(sorted(logs))
            if batch == 1:
                self.model.compile("sgd", "mae", metrics=["mse"])

    x = np.ones([10, 3], np.float32)
    model.fit(x, x[:, :1], batch_size=3, verbose=0, callbacks=[Anew()])
    assert seen == [["loss", "mae"]] * 2 + [["loss", "mse"]] * 2


def test_steps_keep_the_structure_of_batches():
    taken = []

    class Model(keras.Model):
        def train_step(self, data):
            taken.append(tf.nest.map_structure(lambda part: None, data))
            return {"sum": sum(tf.reduce_sum(part) for part in tf.nest.flatten(data))}

    model = Model()
    model.compile()
    a, b = np.full([2, 1], 1.0, np.float32), np.full([2, 1], 10.0, np.float32)
    structures = [(a,), (a, b), (a, b, b), ((a, b), b), {"a": a, "b": b}, (a, {"b": b}), a]
    sums = []
    for structure in structures:
        dataset = tf.data.Dataset.from_tensor_slices(structure).batch(2)
        sums += model.fit(dataset, verbose=0).history["sum"]
    assert sums == [2.0, 22.0, 42.0, 42.0, 22.0, 22.0, 2.0]
    assert taken == [tf.nest.map_structure(lambda part: None, each) for each in structures]


class Frame:
    """Rows of columns of several dtypes, as pandas has them."""

    def __init__(self, *rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype=object)


@pytest.mark.parametrize("row", [(True, 1.5, 2), (1.5, True, 2), (2, 1.5, True), (np.True_, np.int64(2), 1.5)])
def test_frames_of_bools_and_numbers(row):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    frame = Frame(row, (0, 0, 0), (False, 2.5, 1))
    np.testing.assert_allclose(model.predict(frame, verbose=0), [[4.5], [0.0], [3.5]])
    assert np.isfinite(model.fit(frame, np.ones(3), verbose=0).history["loss"][0])
    with pytest.raises(ValueError, match="mixed types"):
        model.predict(Frame((1.5, "2", 3)), verbose=0)


@pytest.mark.parametrize("dictionary", [True, False])
def test_keys_of_targets_are_those_of_the_outputs(dictionary):
    x, y = np.ones((4, 2), "float32"), np.ones((4, 1), "float32")
    inputs = keras.Input((2,))
    heads = {name: layers.Dense(1, name=name)(inputs) for name in ("a", "b")}
    model = keras.Model(inputs, heads if dictionary else list(heads.values()))
    model.compile("sgd", {"a": "mse", "b": "mse"})
    assert "b_loss" in model.fit(x, {"a": y, "b": y}, verbose=0).history
    with pytest.raises(ValueError, match=r"\['c'\] of the targets are no outputs"):
        model.fit(x, {"a": y, "b": y, "c": y}, verbose=0)
    with pytest.raises(ValueError, match=r"lack the outputs \['b'\]"):
        model.fit(x, {"a": y}, verbose=0)
    with pytest.raises(ValueError, match=r"\['z'\] of the sample_weight are no outputs"):
        model.evaluate(x, {"a": y, "b": y}, sample_weight={"z": np.ones(4)}, verbose=0)
    model.compile("sgd", {"a": "mse"})
    model.fit(x, {"a": y}, verbose=0)
    release.use_keras_2(True)
    try:
        model.compile("sgd", {"a": "mse", "b": "mse"})
        model.fit(x, {"a": y}, verbose=0)
        with pytest.raises(ValueError, match=r"\['c'\] of the targets are no outputs"):
            model.fit(x, {"a": y, "c": y}, verbose=0)
    finally:
        release.use_keras_2(False)
