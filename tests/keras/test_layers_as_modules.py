"""Layers are `tf.Module`s: a module that holds them finds their variables."""

import numpy as np
import pytest

import tapeflow as tf


class Holder(tf.Module):
    def __init__(self, *layers):
        super().__init__()
        self.scale = tf.Variable(1.0)
        self.layers = list(layers)


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)


def sequential():
    return tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,))])


def functional():
    x = tf.keras.Input([2])
    return tf.keras.Model(x, tf.keras.layers.Dense(3)(x))


@pytest.mark.parametrize(
    "make", [lambda: tf.keras.layers.Dense(3), Model, sequential, functional]
)
def test_a_module_finds_the_variables_of_layers(make):
    layer = make()
    layer(tf.zeros([1, 2]))
    assert isinstance(layer, tf.Module)
    holder = Holder(layer)
    assert [v.shape.rank for v in holder.trainable_variables] == [0, 2, 1] or [
        v.shape.rank for v in holder.trainable_variables
    ] == [2, 1, 0]
    assert layer in holder.submodules


def test_variables_that_are_not_trained_are_told_apart():
    layer = tf.keras.layers.BatchNormalization()
    layer(tf.zeros([1, 2]))
    holder = Holder(layer)
    assert len(holder.trainable_variables) == 3
    assert len(holder.non_trainable_variables) == 2


def test_a_module_of_layers_is_trained():
    holder = Holder(tf.keras.layers.Dense(1))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(holder.layers[0](tf.ones([1, 2]))) * holder.scale
    gradients = tape.gradient(loss, holder.trainable_variables)
    assert all(g is not None for g in gradients)
    shapes = [tuple(g.shape) for g in gradients]
    assert sorted(shapes) == [(), (1,), (2, 1)]


def test_variables_cast_for_the_computation_are_found_once():
    layer = tf.keras.layers.Dense(3, dtype=tf.keras.mixed_precision.Policy("mixed_float16"))
    layer(tf.zeros([1, 2]))
    found = Holder(layer).variables
    assert [v.dtype for v in found] == [tf.float32] * 3


def test_name_scope_of_a_layer():
    layer = tf.keras.layers.Dense(3, name="dense")
    with tf.Graph().as_default(), layer.name_scope:
        assert tf.zeros([1]).name.startswith("dense/")


def test_a_module_of_layers_is_saved(tmp_path):
    def make(start):
        holder = Holder(tf.keras.layers.Dense(2, kernel_initializer=start))
        holder.layers[0](tf.zeros([1, 2]))
        return holder

    one, other = make("ones"), make("zeros")
    path = tf.train.Checkpoint(model=one).save(str(tmp_path / "m"))
    tf.train.Checkpoint(model=other).restore(path)
    np.testing.assert_array_equal(other.layers[0].kernel, np.ones([2, 2]))
