"""`keras.Variable` and the variables that are instances of it, as in Keras 3."""

import copy

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras


class Scaled(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.scale = keras.Variable(2.0, name="scale")
        self.offset = keras.Variable("ones", shape=(2,), dtype="float32", trainable=False)

    def call(self, x):
        return x * self.scale + self.offset


@pytest.mark.parametrize(
    ("arguments", "value", "dtype"),
    [
        (((1.0),), 1.0, "float32"),
        (([1, 2],), [1, 2], "int32"),
        (([1, 2], None, "float16"), [1.0, 2.0], "float16"),
        (("zeros", (2,)), [0.0, 0.0], "float32"),
        ((keras.initializers.Ones(), (1, 2), "int64"), [[1, 1]], "int64"),
        ((lambda shape, dtype: tf.fill(shape, tf.cast(3, dtype)), (2,)), [3.0, 3.0], "float32"),
    ],
)
def test_begins_with_values_and_initializers(arguments, value, dtype):
    variable = keras.Variable(*arguments)
    assert variable.numpy().tolist() == value
    assert variable.dtype == dtype
    assert variable.dtype == tf.as_dtype(dtype)


@pytest.mark.parametrize(
    ("arguments", "named", "error"),
    [
        (("zeros",), {}, "the `shape` argument should be specified"),
        ((1.0,), {"name": "a/b"}, "cannot contain character `/`"),
        ((1.0,), {"aggregation": "most"}, "Invalid value for argument `aggregation`"),
        ((1.0,), {"synchronization": "now"}, "Invalid value for argument `synchronization`. Expected one of `None`"),
    ],
)
def test_refuses(arguments, named, error):
    with pytest.raises(ValueError, match=error):
        keras.Variable(*arguments, **named)


def test_paths_begin_with_scopes():
    with keras.name_scope("around"):
        variable = keras.Variable(1.0, name="inner")
    assert (variable.path, variable.name, variable.ndim) == ("around/inner", "inner", 0)


def test_the_value_is_a_variable():
    variable = keras.Variable([1.0, 2.0])
    variable.value.assign(variable.value * 2.0)
    assert variable.numpy().tolist() == [2.0, 4.0]
    assert copy.deepcopy(variable).numpy().tolist() == [2.0, 4.0]


def test_belongs_to_a_layer():
    layer = Scaled()
    assert layer(np.ones((1, 2), "float32")).numpy().tolist() == [[3.0, 3.0]]
    assert layer.trainable_variables == [layer.scale]
    assert layer.non_trainable_variables == [layer.offset]


def test_weights_and_variables_of_optimizers_are_instances():
    dense = keras.layers.Dense(1)
    dense.build((None, 2))
    optimizer = keras.optimizers.Adam()
    optimizer.build(dense.trainable_variables)
    variables = [*dense.weights, *optimizer.variables, *keras.metrics.Mean().variables]
    assert all(isinstance(variable, keras.Variable) for variable in variables)
    assert not isinstance(tf.Variable(1.0), keras.Variable)
