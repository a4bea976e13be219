"""`tf.layers` of 1.x in graphs: names, reuse, collections."""

import pytest

import tapeflow as tf
from tapeflow import layers

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_operations_are_in_the_scope_of_the_layer():
    layer = layers.Conv2D(4, 3, activation=tf.nn.relu)
    assert layer.apply(tf.zeros([1, 5, 5, 2])).op.name == "conv2d/Relu"
    assert layer.kernel.op.name == "conv2d/kernel"


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (layers.conv1d, [1, 5, 2]),
        (layers.conv2d, [1, 5, 5, 2]),
        (layers.conv3d, [1, 5, 5, 5, 2]),
        (layers.conv2d_transpose, [1, 5, 5, 2]),
        (layers.conv3d_transpose, [1, 5, 5, 5, 2]),
    ],
)
def test_functions_share_variables_where_they_reuse(function, shape):
    x = tf.zeros(shape)
    function(x, 4, 3, name="a")
    function(x, 4, 3, name="a", reuse=True)
    assert len(v1.trainable_variables()) == 2
    function(x, 4, 3)
    assert len(v1.trainable_variables()) == 4


def test_regularization_is_collected_once():
    layers.dense(tf.zeros([1, 2]), 3, kernel_regularizer=tf.reduce_sum, name="a")
    layers.dense(tf.zeros([1, 2]), 3, kernel_regularizer=tf.reduce_sum, name="a", reuse=True)
    assert len(v1.get_collection("regularization_losses")) == 1


def test_sizes_of_zeros_in_graphs_may_be_quotients():
    for made in (tf.zeros((5, 8 / 2)), tf.ones([5.0, 4.0])):
        assert made.shape.as_list() == [5, 4]
    with pytest.raises(TypeError):
        tf.zeros((5, 4.5))
