"""Metrics that `compile` was given, and what results of several outputs are made of, in Keras 3 and Keras 2."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

keras, layers = tf.keras, tf.keras.layers


@pytest.fixture
def keras_2():
    release.use_keras_2(True)
    yield
    release.use_keras_2(False)


def _one_output(metrics=None):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("sgd", "mse", metrics=metrics)
    return model


def _two_outputs():
    x = keras.Input((3,))
    return keras.Model(x, [layers.Dense(1, name="a")(x), layers.Dense(2, name="b")(x)])


X = np.linspace(-1, 1, 30).reshape(10, 3).astype("float32")
Y = np.linspace(0, 2, 10).reshape(10, 1).astype("float32")


def test_compiled_metrics_are_one_metric():
    model = _one_output(["mae", "AUC"])
    assert model.metrics_names == ["loss", "compile_metrics"]
    assert [metric.name for metric in _one_output().metrics] == ["loss"]
    compiled = model.metrics[1]
    compiled.update_state(Y, Y + 1.0)
    assert sorted(compiled.result()) == ["AUC", "mae"]
    np.testing.assert_allclose(compiled.result()["mae"], 1.0, rtol=1e-5)
    assert len(compiled.variables) == 6
    compiled.reset_state()
    assert compiled.result()["mae"] == 0.0


def test_results_have_the_names_that_were_given():
    logs = _one_output(["MSE", "RootMeanSquaredError"]).evaluate(X, Y, verbose=0, return_dict=True)
    assert list(logs) == ["MSE", "RootMeanSquaredError", "loss"]


def test_metrics_are_listed_in_keras_2(keras_2):
    assert _one_output(["mae"]).metrics_names == ["loss", "mae"]


def test_a_program_updates_what_it_finds_among_the_metrics():
    class Own(keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                predicted = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=predicted)
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, predicted)
            return {metric.name: metric.result() for metric in self.metrics}

    x = keras.Input((3,))
    model = Own(x, layers.Dense(1)(x))
    model.compile("sgd", "mse", metrics=["mae"])
    assert sorted(model.fit(X, Y, verbose=0).history) == ["loss", "mae"]


@pytest.mark.parametrize("eagerly", [False, True])
def test_losses_of_outputs_are_means_over_steps_where_they_are_compiled(eagerly):
    model = _two_outputs()
    model.compile(keras.optimizers.SGD(0.0), "mse", run_eagerly=eagerly)
    a, b = model.predict(X, verbose=0)
    logs = model.evaluate(X, [Y, np.zeros((10, 2))], batch_size=8, verbose=0, return_dict=True)
    parts = [((a - Y)[part] ** 2).mean() for part in (slice(8), slice(8, 10))]
    np.testing.assert_allclose(logs["a_loss"], np.average(parts, weights=[8, 2] if eagerly else None), rtol=1e-5)
    np.testing.assert_allclose(logs["loss"], ((a - Y) ** 2).mean() + (b**2).mean(), rtol=1e-5)


def test_targets_may_be_those_of_outputs_with_a_loss():
    model = _two_outputs()
    model.compile("sgd", [None, "mse"])
    logs = model.evaluate(X, np.zeros((10, 2)), verbose=0, return_dict=True)
    np.testing.assert_allclose(logs["loss"], (model.predict(X, verbose=0)[1] ** 2).mean(), rtol=1e-5)
    with pytest.raises(ValueError, match="2 outputs"):
        model.evaluate(X, [Y] * 3, verbose=0)


def test_a_single_loss_is_reported_as_the_loss_alone():
    model = _two_outputs()
    model.compile("sgd", {"a": "mse"})
    assert list(model.evaluate(X, Y, verbose=0, return_dict=True)) == ["loss"]


def test_what_weights_add_comes_after_what_layers_add():
    class Adding(layers.Dense):
        def call(self, x):
            self.add_loss(7.0)
            return super().call(x)

    model = keras.Sequential([Adding(1, kernel_regularizer="l2"), Adding(1, kernel_regularizer="l2")])
    model(X)
    assert [float(loss) == 7.0 for loss in model.losses] == [True, True, False, False]


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_goes_on_in_rows_without_a_gradient(nesterov):
    rows, dense = (tf.Variable(tf.ones([3, 2])) for _ in range(2))
    by_rows, by_all = (keras.optimizers.SGD(0.1, momentum=0.9, nesterov=nesterov) for _ in range(2))
    for row in (0, 2, 2):
        slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([row]), tf.constant([3, 2]))
        by_rows.apply_gradients([(slices, rows)])
        by_all.apply_gradients([(tf.convert_to_tensor(slices), dense)])
    np.testing.assert_allclose(rows, dense, rtol=1e-6)
