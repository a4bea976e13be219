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


def test_losses_of_regularizers_are_named_after_their_variables():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2, 3])
        v1.layers.dense(x, 4, name="d", kernel_regularizer=tf.nn.l2_loss, bias_regularizer=lambda b: 0.5 * b[0])
        losses = v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
        assert [loss.op.name for loss in losses] == ["d/kernel/Regularizer/L2Loss", "d/bias/Regularizer/mul"]


class Late(v1.nn.rnn_cell.RNNCell):
    """As cells of 2016: attributes before `__init__` of the base class, which may not run at all."""

    def __init__(self, init):
        self.inner = v1.layers.Dense(2)
        self.trainable = False
        if init:
            super().__init__(trainable=False)
        self.size = 2

    def __call__(self, inputs, state, scope=None):
        self.scale = tf.Variable(2.0)
        return inputs * self.scale, state


@pytest.mark.parametrize("init", [False, True])
def test_attributes_may_come_before_the_base_class(init):
    with tf.Graph().as_default():
        cell = Late(init)
        outputs, _ = cell(tf.ones([1, 2]), None)
        assert outputs.shape == [1, 2]
        assert cell._tracked_objects()["inner"] is cell.inner
        assert not cell.trainable
