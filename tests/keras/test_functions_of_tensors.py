"""`keras.Operation`, `keras.Function`, `keras.remat` and `keras.RematScope`."""

import numpy as np
import pytest

import tapeflow as tf

keras, layers = tf.keras, tf.keras.layers


class Scale(keras.Operation):
    def __init__(self, factor, name=None):
        super().__init__(name)
        self.factor = factor

    def call(self, x):
        return x * self.factor


def test_a_function_computes_what_its_tensors_describe():
    a, b = keras.KerasTensor((None, 3)), keras.KerasTensor((None, 3))
    y = keras.ops.exp(a + b)
    function = keras.Function(inputs=[a, b], outputs={"y": y, "z": y * 2})
    one, two = np.ones((2, 3), "float32"), np.full((2, 3), 2.0, "float32")
    found = function([one, two])
    np.testing.assert_allclose(found["y"], np.exp(one + two), rtol=1e-6)
    np.testing.assert_allclose(found["z"], 2 * np.exp(one + two), rtol=1e-6)
    assert function.compute_output_shape([(5, 3), (5, 3)]) == {"y": (5, 3), "z": (5, 3)}
    assert [x.name for x in function.inputs] == [a.name, b.name]


def test_a_function_of_layers_is_differentiable_and_a_step_of_models():
    x = keras.Input((3,))
    dense = layers.Dense(2)
    function = keras.Function(x, dense(x))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(function(np.ones((1, 3), "float32")))
    assert tape.gradient(y, dense.kernel).shape == (3, 2)
    other = keras.Input((3,))
    model = keras.Model(other, function(other))
    np.testing.assert_allclose(model(np.ones((1, 3))), dense(np.ones((1, 3), "float32")))


@pytest.mark.parametrize(
    ("inputs", "error"),
    [(lambda: np.ones((1, 2)), "expected shape"), (lambda: [np.ones((1, 3))] * 2, "invalid input structure")],
    ids=["shape", "structure"],
)
def test_a_function_refuses(inputs, error):
    x = keras.Input((3,))
    with pytest.raises(ValueError, match=error):
        keras.Function(x, x + 1)(inputs())


def test_functions_need_connected_ends():
    x = keras.Input((3,))
    with pytest.raises(ValueError, match="`inputs` argument cannot be empty"):
        keras.Function([], x)
    with pytest.raises(ValueError):
        keras.Function(keras.Input((2,)), x + 1)


def test_operations_are_steps_of_models():
    x = keras.Input((3,))
    model = keras.Model(x, Scale(3.0)(x))
    assert model(np.ones((1, 3))).numpy().tolist() == [[3.0] * 3]
    assert Scale(2.0)(tf.constant([1.0])).numpy() == [2.0]
    assert repr(Scale(2.0, name="own")) == "<Operation name=own>"


def test_layers_are_operations():
    assert isinstance(layers.Dense(1), keras.Operation)
    assert issubclass(layers.Dense, keras.Operation)
    assert not isinstance(layers.Dense(1), keras.Function)
    assert not isinstance(layers.Dense(1), Scale)
    assert not isinstance("text", keras.Operation)


def _counting(calls):
    class Counting(layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1],), initializer="ones", name="w")

        def call(self, x):
            calls.append(1)
            return tf.exp(x * self.w)

    return Counting


def _gradient(layer, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x)
    return tape.gradient(y, [x, layer.w])


@pytest.mark.parametrize(
    ("scope", "again"),
    [({}, True), ({"mode": None}, False), ({"mode": "list_of_layers", "layer_names": ["there"]}, True),
     ({"mode": "list_of_layers", "layer_names": ["elsewhere"]}, False),
     ({"mode": "larger_than", "output_size_threshold": 2}, True),
     ({"mode": "larger_than", "output_size_threshold": 200}, False)],
    ids=["full", "none", "listed", "not listed", "larger", "smaller"],
)  # fmt: skip
def test_layers_of_a_scope_are_computed_again_for_gradients(scope, again):
    calls, plain_calls = [], []
    x = tf.constant([[1.0, 2.0, 3.0]])
    with keras.RematScope(**scope):
        layer = _counting(calls)(name="there")
    plain = _counting(plain_calls)()
    layer(x)
    calls.clear()
    found, expected = _gradient(layer, x), _gradient(plain, x)
    assert len(calls) == (2 if again else 1)
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_activations_of_a_scope_are_computed_again_for_gradients():
    calls = []

    def activation(x):
        calls.append(1)
        return tf.exp(x)

    with keras.RematScope("activations"):
        layer = layers.Dense(2, activation=activation)
    layer(tf.ones([1, 2]))
    calls.clear()
    with tf.GradientTape() as tape:
        y = layer(tf.ones([1, 2]))
    tape.gradient(y, layer.kernel)
    assert len(calls) == 2


def test_unknown_modes_are_refused():
    with pytest.raises(ValueError, match="Invalid mode 'all'"):
        keras.RematScope("all")


def test_remat_computes_a_function_again():
    calls = []

    @keras.remat
    def cubed(x):
        calls.append(1)
        return x * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cubed(x)
    assert (tape.gradient(y, x).numpy(), len(calls)) == (12.0, 2)
