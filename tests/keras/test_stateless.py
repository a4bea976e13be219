"""Scopes in which variables have other values, and calls that change none."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras


def test_a_scope_gives_variables_values_and_takes_them_back():
    variable, other = keras.Variable([1.0, 2.0]), keras.Variable(3.0)
    with keras.StatelessScope(state_mapping=[(variable, tf.constant([5.0, 6.0]))]) as scope:
        assert (variable + 0.0).numpy().tolist() == [5.0, 6.0]
        variable.assign_add([1.0, 1.0])
        other.assign(9.0)
        assert scope.get_current_value(other).numpy() == 9.0
    assert variable.numpy().tolist() == [1.0, 2.0]
    assert other.numpy() == 3.0
    assert scope.get_current_value(variable).numpy().tolist() == [6.0, 7.0]
    assert scope.get_current_value(keras.Variable(1.0)) is None


def test_values_come_back_after_an_error():
    variable = keras.Variable(1.0)

    def fail():
        with keras.StatelessScope():
            variable.assign(2.0)
            raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        fail()
    assert variable.numpy() == 1.0


def test_values_must_have_the_shape():
    with pytest.raises(ValueError, match="Invalid variable value in StatelessScope"):
        keras.StatelessScope(state_mapping=[(keras.Variable([1.0, 2.0]), tf.zeros([3]))])


def test_scopes_collect_losses():
    class Adding(keras.layers.Layer):
        def call(self, x):
            self.add_loss(tf.reduce_sum(x))
            return x

    layer = Adding()
    with keras.StatelessScope(collect_losses=True) as scope:
        layer(tf.ones([2]))
    assert [float(loss.numpy()) for loss in scope.losses] == [2.0]
    assert not layer.losses


@pytest.mark.parametrize("traced", [False, True])
def test_gradients_reach_the_values_of_a_stateless_call(traced):
    layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    layer.build((None, 2))

    def gradient(kernel, x):
        with tf.GradientTape() as tape:
            tape.watch(kernel)
            outputs, _ = layer.stateless_call([kernel], [], x)
            loss = tf.reduce_sum(outputs**2)
        return tape.gradient(loss, kernel)

    run = tf.function(gradient) if traced else gradient
    kernel, x = np.array([[2.0], [3.0]], "float32"), np.array([[1.0, 1.0]], "float32")
    np.testing.assert_allclose(run(tf.constant(kernel), tf.constant(x)).numpy(), 2 * (x @ kernel) * x.T)
    np.testing.assert_allclose(layer.kernel.numpy(), [[1.0], [1.0]])
