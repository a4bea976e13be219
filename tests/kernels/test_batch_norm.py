"""Batch normalization of more rows than are summed at once, by formulas in double precision."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.mark.parametrize("channels", [3, 64, 70, 130])
@pytest.mark.parametrize("shape", [(3, 20, 25), (1, 2, 256), (2, 16, 48), (1, 1, 2)])
def test_moments_and_gradient(shape, channels):
    rng = np.random.default_rng(1)
    x = rng.normal(100, 3, (*shape, channels)).astype(np.float32).astype(np.float64)
    dy, scale, offset = rng.normal(size=x.shape), rng.normal(size=channels), rng.normal(size=channels)
    inputs = [tf.constant(v, tf.float32) for v in (x, scale, offset)]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y, mean, variance = tf.compat.v1.nn.fused_batch_norm(*inputs, epsilon=1e-3, is_training=True)
        loss = tf.reduce_sum(y * tf.constant(dy, tf.float32))
    of_x, of_scale, of_offset = tape.gradient(loss, inputs)

    axes, rows = (0, 1, 2), x[..., 0].size
    centred = x - x.mean(axes)
    spread = x.var(axes) + 1e-3
    unit = centred / np.sqrt(spread)
    np.testing.assert_allclose(mean, x.mean(axes), rtol=1e-5)
    np.testing.assert_allclose(variance, x.var(axes) * rows / (rows - 1), rtol=1e-3)
    np.testing.assert_allclose(y, unit * scale + offset, atol=3e-3)
    np.testing.assert_allclose(of_offset, dy.sum(axes), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(of_scale, (dy * unit).sum(axes), rtol=1e-3, atol=3e-2)
    want = scale / np.sqrt(spread) * (dy - dy.mean(axes) - unit * (dy * unit).mean(axes))
    np.testing.assert_allclose(of_x, want, atol=3e-3 * np.abs(want).max() + 1e-3)
