"""The models of keras.applications: the numbers of their parameters are TensorFlow's, and they train."""

import numpy as np
import pytest

import tapeflow as tf

applications = tf.keras.applications
# From TensorFlow 2.21: (layers, parameters) of the models for 1000 classes.
SIZES = {
    "VGG16": (23, 138357544),
    "ResNet50": (177, 25636712),
    "ResNet101": (347, 44707176),
    "ResNet50V2": (192, 25613800),
    "InceptionResNetV2": (782, 55873736),
    "InceptionV3": (313, 23851784),
    "MobileNet": (91, 4253864),
    "MobileNetV2": (156, 3538984),
    "Xception": (134, 22910480),
    "DenseNet121": (429, 8062504),
    "EfficientNetB0": (240, 5330571),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name):
    model = getattr(applications, name)(weights=None)
    assert (len(model.layers), model.count_params()) == SIZES[name]


def test_a_model_trains_and_its_weights_come_back(tmp_path, rng):
    pytest.importorskip("h5py")
    build = applications.mobilenet_v2.MobileNetV2
    model = build(weights=None, input_shape=(32, 32, 3), alpha=0.35, classes=3)
    model.compile("sgd", "sparse_categorical_crossentropy")
    x = applications.mobilenet_v2.preprocess_input(rng.random((4, 32, 32, 3)).astype("f4") * 255)
    assert np.isfinite(model.fit(x, np.arange(4) % 3, verbose=0).history["loss"]).all()
    for name in ("w.h5", "w.weights.h5"):
        model.save_weights(tmp_path / name)
        again = build(weights=str(tmp_path / name), input_shape=(32, 32, 3), alpha=0.35, classes=3)
        np.testing.assert_array_equal(again.predict(x, verbose=0), model.predict(x, verbose=0))


def test_images_and_predictions():
    x = np.full((1, 2, 2, 3), 255.0, np.float32)
    np.testing.assert_allclose(applications.mobilenet.preprocess_input(x), 1.0)
    caffe = applications.resnet50.preprocess_input(x)
    np.testing.assert_allclose(caffe[0, 0, 0], [151.061, 138.221, 131.32], rtol=1e-5)
    torch = applications.densenet.preprocess_input(x)
    np.testing.assert_allclose(torch[0, 0, 0], [2.2489083, 2.4285715, 2.64], rtol=1e-5)
    assert applications.efficientnet.preprocess_input(x) is x
    with pytest.raises(ValueError, match="decode_predictions"):
        applications.imagenet_utils.decode_predictions(np.ones((1, 3)))
    with pytest.raises(ValueError, match="weights"):
        applications.VGG16(weights="nowhere.h5")
    with pytest.raises(ValueError, match="at least 32x32"):
        applications.ResNet50(weights=None, include_top=False, input_shape=(8, 8, 3))


def test_convnext_is_saved_with_its_own_layers(tmp_path):
    model = tf.keras.applications.ConvNeXtTiny(weights=None, input_shape=(32, 32, 3), classes=3)
    model.save(tmp_path / "model.keras")
    x = np.random.default_rng(0).uniform(0, 255, (1, 32, 32, 3)).astype("float32")
    np.testing.assert_allclose(tf.keras.models.load_model(tmp_path / "model.keras")(x), model(x), rtol=1e-5)


def test_stochastic_depth_leaves_out_whole_samples():
    from tapeflow.keras.applications.convnext_blocks import StochasticDepth

    x = np.ones((200, 2, 3), "float32")
    y = np.asarray(StochasticDepth(0.25)(x, training=True))
    assert set(np.unique(y).tolist()) == {0.0, np.float32(1 / 0.75)}
    assert (y == y[:, :1, :1]).all()
    assert 0.6 < (y[:, 0, 0] > 0).mean() < 0.9
    np.testing.assert_array_equal(StochasticDepth(0.25)(x), x)
