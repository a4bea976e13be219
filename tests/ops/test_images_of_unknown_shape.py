"""Functions of images whose shapes are known only when a graph runs, and shapes that cannot be."""

import numpy as np
import pytest

import tapeflow as tf

images = tf.image
ANY = tf.TensorSpec(None, tf.float32)


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return [rng.random((2, 1, 24, 24, 3), np.float32) for _ in range(2)]


def test_likeness(pair):
    ssim = tf.function(lambda a, b: images.ssim(a, b, 1.0), input_signature=[ANY, ANY])
    np.testing.assert_allclose(ssim(*pair), images.ssim(*pair, 1.0), rtol=1e-5)
    factors = (0.5, 0.5)
    scales = tf.function(
        lambda a, b: images.ssim_multiscale(a, b, 1.0, factors, filter_size=5), input_signature=[ANY, ANY]
    )
    np.testing.assert_allclose(
        scales(*pair), images.ssim_multiscale(*pair, 1.0, factors, filter_size=5), rtol=1e-5
    )


def test_colors():
    gray = np.ones((2, 3, 1), np.float32)
    assert tf.function(images.grayscale_to_rgb, input_signature=[ANY])(gray).shape == [2, 3, 3]


def test_gamma_that_is_a_tensor():
    image = tf.ones([2, 2, 3])
    with pytest.raises(ValueError, match="Gamma should be"):
        images.adjust_gamma(image, -1)
    for adjust in (images.adjust_gamma, tf.function(images.adjust_gamma)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Gamma should be"):
            adjust(image, tf.constant(-1.0))
    np.testing.assert_array_equal(images.adjust_gamma(image, tf.constant(2.0)), image)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([0.0, 0.0, 1.0, 1.0], [0.9], 3), "Shape must be rank 2 but is rank 1"),
        (([[0.0, 0.0, 1.0]], [0.9], 3), "Dimension must be 4 but is 3"),
        (([[0.0, 0.0, 1.0, 1.0]], [0.9, 0.7], 3), "Dimensions must be equal, but are 1 and 2"),
        (([[0.0, 0.0, 1.0, 1.0]], [0.9], [3]), "Shape must be rank 0 but is rank 1"),
    ],
)
def test_boxes_of_other_shapes_are_refused_while_the_graph_is_built(arguments, text):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        images.non_max_suppression(*arguments)


def test_contrast_takes_one_factor():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        images.adjust_contrast(np.ones((1, 2, 2, 3), np.uint8), [2.0])


def test_specs_of_tensors_of_a_graph_have_their_names():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.int64, name="unknown")
        assert tf.TensorSpec.from_tensor(x).name == "unknown"
        assert tf.TensorSpec.from_tensor(x, "other").name == "other"
    assert tf.TensorSpec.from_tensor(tf.constant(1)).name is None
