"""BatchNormalization: statistics, renormalization, virtual batches, and the moving of averages in graphs."""

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
v1 = tf.compat.v1


def batch(*shape):
    return np.random.default_rng(0).normal(2.0, 3.0, size=shape).astype("float32")


@pytest.mark.parametrize("shape", [(8, 3), (4, 5, 3), (4, 6, 5, 3)])
def test_training_uses_the_batch_and_moves_the_averages(shape):
    layer, x = keras.layers.BatchNormalization(momentum=0.5, epsilon=1e-5), batch(*shape)
    y = layer(x, training=True).numpy()
    axes = tuple(range(len(shape) - 1))
    np.testing.assert_allclose(y.mean(axes), 0.0, atol=1e-5)
    np.testing.assert_allclose(y.std(axes), 1.0, rtol=1e-4)
    np.testing.assert_allclose(layer.moving_mean.numpy(), x.mean(axes) / 2, rtol=1e-4)
    layer.trainable = False
    rest = layer(x, training=True).numpy()
    np.testing.assert_allclose(rest, layer(x, training=False).numpy())


def test_masked_steps_do_not_count():
    layer, x = keras.layers.BatchNormalization(momentum=0.0), batch(2, 3, 4)
    mask = np.array([[True, True, False], [True, False, False]])
    layer(x, training=True, mask=mask)
    np.testing.assert_allclose(layer.moving_mean.numpy(), x[mask].mean(0), rtol=1e-5)
    np.testing.assert_allclose(layer.moving_variance.numpy(), x[mask].var(0), rtol=1e-4)


def test_renormalization():
    clipping = {"rmax": 1.5, "rmin": 0.5, "dmax": 0.3}
    layer = keras.layers.BatchNormalization(
        renorm=True, renorm_clipping=clipping, renorm_momentum=0.9
    )
    x = batch(16, 2)
    y = layer(x, training=True).numpy()
    mean, stddev = x.mean(0), np.sqrt(x.var(0) + 1e-3)
    r, d = np.clip(stddev, 0.5, 1.5), np.clip(mean, -0.3, 0.3)  # the averages are 0 and 1 so far
    np.testing.assert_allclose(y, (x - mean) / stddev * r + d, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(layer.renorm_mean.numpy(), 0.1 * mean, rtol=1e-4)
    assert (
        keras.layers.BatchNormalization.from_config(layer.get_config()).renorm_clipping == clipping
    )
    with pytest.raises(ValueError, match="renorm_clipping"):
        keras.layers.BatchNormalization(renorm=True, renorm_clipping={"max": 1})


def test_virtual_batches():
    x = batch(8, 3)
    layer = keras.layers.BatchNormalization(virtual_batch_size=4, epsilon=1e-5)
    y = layer(x, training=True).numpy().reshape(4, 2, 3)
    np.testing.assert_allclose(y.mean(0), 0.0, atol=1e-5)
    with pytest.raises(ValueError, match="positive integer"):
        keras.layers.BatchNormalization(virtual_batch_size=-1)(x)


def test_updates_wait_in_graphs():
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, (None, 3))
        training = v1.placeholder(tf.bool, ())
        y = v1.layers.batch_normalization(x, training=training, momentum=0.5)
        updates = graph.get_collection("update_ops")
        assert len(updates) == 2
        mean = next(v for v in v1.global_variables() if "moving_mean" in v.name)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            data = batch(8, 3)
            session.run([y, updates], {x: data, training: False})
            np.testing.assert_array_equal(session.run(mean), np.zeros(3))
            session.run(y, {x: data, training: True})
            np.testing.assert_array_equal(session.run(mean), np.zeros(3))
            session.run([y, updates], {x: data, training: True})
            np.testing.assert_allclose(session.run(mean), data.mean(0) / 2, rtol=1e-5)


def test_updates_run_by_themselves_in_functions():
    layer = keras.layers.BatchNormalization(momentum=0.5)
    x = batch(8, 3)

    @tf.function
    def step(inputs):
        return layer(inputs, training=True)

    step(x)
    np.testing.assert_allclose(layer.moving_mean.numpy(), x.mean(0) / 2, rtol=1e-5)


def test_what_updates_depend_on():
    with tf.Graph().as_default():
        layer = keras.layers.BatchNormalization()
        a, b = v1.placeholder(tf.float32, (4, 3)), v1.placeholder(tf.float32, (4, 3))
        layer(a, training=True)
        layer(b, training=True)
        assert len(layer.updates) == 4
        assert len(layer.get_updates_for(a)) == len(layer.get_updates_for(b)) == 2
        assert layer.get_updates_for(None) == []


@pytest.mark.parametrize("shape", [(2, 2, 2, 3), (3, 2, 3), (4, 3), (2, 1, 1, 3)])
@pytest.mark.parametrize("known", [True, False])
def test_the_moving_variance_is_that_of_all_there_is(shape, known):
    layer = tf.keras.layers.BatchNormalization(momentum=0.0)
    layer.build([None, *shape[1:]])
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    function = tf.function(
        lambda x: layer(x, training=True),
        input_signature=[tf.TensorSpec(shape if known else [None] * (len(shape) - 1) + [3])],
    )
    for call in (function, lambda x: layer(x, training=True)):
        layer.moving_variance.assign(np.ones(3))
        call(x)
        np.testing.assert_allclose(layer.moving_variance, x.var(tuple(range(len(shape) - 1))), rtol=1e-4, atol=1e-6)


def test_sizes_may_be_those_of_1_x():
    """`shape[-1]` is a `Dimension` where a program asks for them; the variance of a fused layer reckons with sizes."""
    v1.disable_v2_tensorshape()
    try:
        with tf.Graph().as_default():
            layer = v1.layers.BatchNormalization(fused=True)
            layer._bessels_correction_test_only = False
            layer(v1.placeholder(tf.float32, [2, 3, 3, 4]), training=True)
            assert len(layer.updates) == 2
    finally:
        v1.enable_v2_tensorshape()
