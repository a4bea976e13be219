"""Names that were public from TensorFlow 2.1 to 2.12 only, which programs of those years use."""

import numpy as np
import pytest

import tapeflow as tf

NAMES = {
    "layers.experimental.preprocessing": (
        "CategoryEncoding CenterCrop Discretization HashedCrossing Hashing IntegerLookup Normalization "
        "PreprocessingLayer RandomContrast RandomCrop RandomFlip RandomHeight RandomRotation RandomTranslation "
        "RandomWidth RandomZoom Rescaling Resizing StringLookup TextVectorization"
    ),
    "layers.experimental": "EinsumDense RandomFourierFeatures SyncBatchNormalization",
    "callbacks.experimental": "BackupAndRestore",
    "optimizers.experimental": "SGD Adadelta Adagrad Adam AdamW Adamax Ftrl Nadam Optimizer RMSprop",
}


@pytest.mark.parametrize("space", NAMES)
def test_names(space):
    found = tf.keras
    for part in space.split("."):
        found = getattr(found, part)
    now = getattr(tf.keras, space.split(".")[0])
    for name in NAMES[space].split():
        own = getattr(found, name)
        assert isinstance(own, type)
        if hasattr(now, name):
            assert own is getattr(now, name)


def test_arguments_of_those_releases():
    layers = tf.keras.layers.experimental.preprocessing
    encode = layers.CategoryEncoding(max_tokens=4, output_mode="binary")
    np.testing.assert_array_equal(encode([[1, 2]]), [[0, 1, 1, 0]])
    lookup = layers.IntegerLookup(max_values=5, mask_value=None, oov_value=-1)
    lookup.adapt([[7], [7], [3]])
    np.testing.assert_array_equal(lookup([[7], [3], [9]]), [[1], [2], [0]])
    with pytest.raises(TypeError, match="both"):
        layers.CategoryEncoding(num_tokens=3, max_tokens=4)


KERNELS = {
    "gaussian": lambda x, y, scale: np.exp(-((x[:, None] - y) ** 2).sum(-1) / (2 * scale**2)),
    "laplacian": lambda x, y, scale: np.exp(-np.abs(x[:, None] - y).sum(-1) / scale),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_products_of_fourier_features_approximate_the_kernel(kernel):
    tf.random.set_seed(3)
    x = np.random.RandomState(0).rand(6, 5).astype(np.float32)
    layer = tf.keras.layers.experimental.RandomFourierFeatures(20_000, kernel, scale=2.0)
    features = layer(x).numpy()
    assert features.shape == (6, 20_000)
    np.testing.assert_allclose(features @ features.T * 2 / 20_000, KERNELS[kernel](x, x, 2.0), atol=0.05)


def test_fourier_features_in_a_model(tmp_path):
    model = tf.keras.Sequential(
        [
            tf.keras.Input((3,)),
            tf.keras.layers.experimental.RandomFourierFeatures(16, trainable=True),
            tf.keras.layers.Dense(1),
        ]
    )
    assert [w.name for w in model.layers[0].trainable_weights] == ["kernel_scale"]
    np.testing.assert_allclose(model.layers[0].kernel_scale, [np.sqrt(3 / 2)], rtol=1e-6)
    x = np.random.RandomState(1).rand(8, 3)
    model.compile("sgd", "mse")
    model.fit(x, x[:, :1], verbose=0)
    expected = model.predict(x, verbose=0)
    model.save(tmp_path / "m.keras")
    loaded = tf.keras.models.load_model(tmp_path / "m.keras")
    np.testing.assert_allclose(loaded.predict(x, verbose=0), expected, rtol=1e-5)


def test_wrong_arguments_of_fourier_features():
    layer = tf.keras.layers.experimental.RandomFourierFeatures
    for arguments, message in (
        ({"output_dim": 0}, "`output_dim` should be a positive integer"),
        ({"output_dim": 3, "kernel_initializer": "unknown"}, "Unsupported `kernel_initializer`"),
        ({"output_dim": 3, "scale": -1.0}, "`scale` should be a positive float"),
    ):
        with pytest.raises(ValueError, match=message):
            layer(**arguments)
    with pytest.raises(ValueError, match="rank of the input tensor should be 2"):
        layer(3)(tf.ones([2, 3, 4]))
