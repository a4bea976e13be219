"""Models, layers, optimizers and functions copied and pickled: with their weights and state, on their own."""

import copy
import pickle

import numpy as np
import pytest

import tapeflow as tf

X, Y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")


class Subclassed(tf.keras.Model):
    """A model whose class only this module has."""

    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)


def sequential():
    return tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(1)])


def functional():
    x = tf.keras.Input((3,))
    return tf.keras.Model(x, tf.keras.layers.Dense(1)(x))


@tf.function
def plus_one(x):
    return x + 1


WAYS = {"deepcopy": copy.deepcopy, "copy": copy.copy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@ways
@pytest.mark.parametrize("make", [sequential, functional, Subclassed])
@pytest.mark.parametrize("optimizer", ["adam", "nadam", "sgd", "adafactor"])
def test_a_trained_model_goes_on_training_in_its_copy(way, make, optimizer):
    model = make()
    model.compile(optimizer, "mse", metrics=["mae"])
    model.fit(X, Y, epochs=2, verbose=0)
    made = way(model)
    before = [np.array(w) for w in model.get_weights()]
    np.testing.assert_array_equal(made.predict(X, verbose=0), model.predict(X, verbose=0))
    assert int(made.optimizer.iterations.numpy()) == 2
    made.fit(X, Y, verbose=0)
    for old, now in zip(before, model.get_weights()):
        np.testing.assert_array_equal(old, now)
    model.fit(X, Y, verbose=0)
    for mine, theirs in zip(model.get_weights(), made.get_weights()):
        np.testing.assert_allclose(mine, theirs, 1e-6)


@ways
def test_a_traced_function_of_a_module_is_pickled_by_name(way):
    plus_one(tf.constant(1))
    assert int(way(plus_one)(tf.constant(1))) == 2
    assert pickle.loads(pickle.dumps(plus_one)) is plus_one


def test_a_local_function_is_not_pickled():
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        pickle.dumps(tf.function(lambda x: x))


@ways
def test_an_optimizer_keeps_its_steps(way):
    v = tf.Variable([1.0])
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.apply_gradients([(tf.constant([1.0]), v)])
    made = way(optimizer)
    assert int(made.iterations.numpy()) == 1
    np.testing.assert_allclose(float(made.learning_rate.numpy()), 0.01)
    w = tf.Variable([1.0])
    tf.keras.optimizers.Adam.from_config(made.get_config()).apply_gradients([(tf.constant([1.0]), w)])
    np.testing.assert_allclose(w.numpy(), v.numpy())
