"""Layers that equalize histograms, against loops over pixels, and in SavedModels."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

layers = tf.keras.layers
PICTURES = np.random.RandomState(0).uniform(0, 255, (2, 7, 10, 2)).astype("float32")


def mapped(values, clip_limit):
    """What each value from 0 to 255 becomes by the clipped frequencies of `values`."""
    counts = np.bincount(values.astype(int).reshape(-1), minlength=256).astype(float)
    if clip_limit > 0:
        limit = clip_limit * values.size / 256
        counts = np.minimum(counts, limit) + np.maximum(counts - limit, 0).sum() / 256
    total = counts.cumsum()
    return np.clip((total - total[0]) * 255 / (values.size - total[0]), 0, 255)


def pixel(tables, value, y, x):
    """The value of a pixel between the parts of a grid, at y and x in parts."""
    y, x = (np.clip(at - 0.5, 0, n - 1) for at, n in zip((y, x), (len(tables), len(tables[0])), strict=True))
    found = 0.0
    for r in range(len(tables)):
        for c in range(len(tables[0])):
            found += max(0.0, 1 - abs(y - r)) * max(0.0, 1 - abs(x - c)) * tables[r][c][int(value)]
    return found


@pytest.mark.parametrize("clip_limit", [0, 2.0])
@pytest.mark.parametrize("grid", [(1, 1), (2, 3), (7, 5)])
def test_parts(grid, clip_limit):
    layer = layers.ContrastLimitedAdaptiveHistogramEqualization(clip_limit=clip_limit, tile_grid_size=grid)
    found = layer(PICTURES).numpy()
    tall, wide = -(-7 // grid[0]), -(-10 // grid[1])
    for image, result in zip(np.moveaxis(PICTURES, -1, 1).reshape(-1, 7, 10),
                             np.moveaxis(found, -1, 1).reshape(-1, 7, 10), strict=True):  # fmt: skip
        padded = np.pad(image, ((0, tall * grid[0] - 7), (0, wide * grid[1] - 10)), "symmetric")
        tables = [[mapped(padded[r * tall : (r + 1) * tall, c * wide : (c + 1) * wide], clip_limit)
                   for c in range(grid[1])] for r in range(grid[0])]  # fmt: skip
        expected = [[pixel(tables, image[y, x], y / tall, x / wide) for x in range(10)] for y in range(7)]
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-3)


def test_whole_channels():
    values = np.array([[0, 0], [100, 200]], "float32")[None, :, :, None]
    found = layers.Equalization()(tf.constant(values), training=True).numpy()
    np.testing.assert_allclose(found[0, :, :, 0], [[0, 0], [128, 255]], atol=1e-4)  # 1 / 2 of 255, rounded


def test_a_channel_of_one_value_stays():
    image = tf.fill([1, 3, 3, 2], 7.0)
    np.testing.assert_array_equal(layers.Equalization()(image, training=True), image)


@pytest.mark.parametrize("kind", ["Equalization", "ContrastLimitedAdaptiveHistogramEqualization"])
def test_saved_without_python(kind, tmp_path):
    layer = getattr(layers, kind)()
    module = tf.Module()
    spec = tf.TensorSpec([None, None, None, 2])
    module.change = tf.function(lambda x: layer(x, training=True), input_signature=[spec])
    tf.saved_model.save(module, str(tmp_path))
    saved = protos.SavedModel.FromString((tmp_path / "saved_model.pb").read_bytes())
    kinds = {node.op for function in saved.meta_graphs[0].graph_def.library.function for node in function.node_def}
    assert kinds
    assert not {kind for kind in kinds if "PyFunc" in kind}
    found = tf.saved_model.load(str(tmp_path)).change(tf.constant(PICTURES))
    np.testing.assert_allclose(found, layer(PICTURES, training=True), atol=1e-3)
