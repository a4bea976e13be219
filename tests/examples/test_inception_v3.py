"""`examples/inception_v3.py`: the network of the paper, with the variables of slim's."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf2
import tapeflow.compat.v1 as tf
from tapeflow.contrib import slim

PROGRAM = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "inception_v3.py"))


def built(images, classes, **options):
    with slim.arg_scope(PROGRAM["arguments"]()):
        return PROGRAM["inception_v3"](images, classes, **options)


def numbers(variables):
    return sum(int(np.prod(v.shape.as_list())) for v in variables)


def test_variables_are_slims():
    with tf.Graph().as_default() as graph:
        logits, aside = built(tf.placeholder(tf.float32, [None, 299, 299, 3]), 1001)
        assert logits.shape.as_list() == aside.shape.as_list() == [None, 1001]
        sizes = {v.op.name: v.shape.as_list() for v in slim.get_model_variables()}
    assert len(sizes) == 388
    assert set(sizes) == {v.op.name for v in graph.get_collection("variables")}
    assert numbers(slim.get_model_variables()) == 0  # of another graph
    kinds = {name.rpartition("/")[2] for name in sizes}
    assert kinds == {"weights", "biases", "beta", "moving_mean", "moving_variance"}
    inside = "InceptionV3/"
    assert sizes[inside + "Conv2d_1a_3x3/weights"] == [3, 3, 3, 32]
    assert sizes[inside + "Mixed_5c/Branch_1/Conv_1_0c_5x5/weights"] == [5, 5, 48, 64]
    assert sizes[inside + "Mixed_6a/Branch_0/Conv2d_1a_1x1/BatchNorm/beta"] == [384]
    assert sizes[inside + "Mixed_6e/Branch_2/Conv2d_0e_1x7/weights"] == [1, 7, 192, 192]
    assert sizes[inside + "Mixed_7c/Branch_1/Conv2d_0c_3x1/weights"] == [3, 1, 384, 384]
    assert sizes[inside + "AuxLogits/Conv2d_2a_5x5/weights"] == [5, 5, 128, 768]
    assert sizes[inside + "Logits/Conv2d_1c_1x1/biases"] == [1001]


@pytest.mark.slow
def test_it_is_the_network_that_keras_has():
    """As many numbers, and with the same weights the same logits."""
    keras = tf2.keras.applications.InceptionV3(weights=None, classifier_activation=None)
    images = np.random.default_rng(1).uniform(-1, 1, [2, 299, 299, 3]).astype(np.float32)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 299, 299, 3])
        logits, _ = built(x, 1000, auxiliary_logits=False)
        made = slim.get_model_variables()
        assert numbers(made) == keras.count_params() == 23_851_784
        assert numbers(tf.trainable_variables()) == 23_817_352
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for v in made:  # so that no layer is as good as another
                if "moving" in v.op.name or "beta" in v.op.name:
                    v.load(np.random.default_rng(len(v.op.name)).uniform(0.5, 1, v.shape), session)
            values, ours = session.run([made, logits], {x: images})
    ordered = sorted(keras.layers, key=lambda layer: creation(layer.name))
    weights = iter(values)
    for layer in ordered:
        taken = [next(weights) for _ in layer.weights]
        layer.set_weights([w.reshape(v.shape) for w, v in zip(taken, layer.weights, strict=True)])
    np.testing.assert_allclose(keras(images).numpy(), ours, rtol=1e-3, atol=1e-4)


def creation(name):
    """Layers of one kind are numbered as they were made; each convolution comes before its normalization."""
    kind, _, number = name.rpartition("_")
    if not number.isdigit():
        kind, number = name, "0"
    order = {"conv2d": 0, "batch_normalization": 1}
    return (int(number), order[kind]) if kind in order else (10_000, 0)


@pytest.mark.slow
def test_called_eagerly_it_takes_a_checkpoint_and_has_a_gradient(tmp_path):
    path = str(tmp_path / "inception.ckpt")
    images = np.random.default_rng(0).uniform(-1, 1, [1, 80, 80, 3]).astype(np.float32)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 80, 80, 3])
        logits, _ = built(x, 7)  # with the auxiliary classifier, which is not restored
        slope = tf.gradients(logits[0, 3], x)[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, path)
            wanted = session.run([logits, slope], {x: images})

    @tf.nn.graph_callable
    def eager(images):
        return built(images, 7, auxiliary_logits=False)[0]

    eager.restore(path)
    compiled = tf.contrib.eager.defun(lambda images: eager(images)[0, 3])
    np.testing.assert_allclose(eager(tf.constant(images)), wanted[0], rtol=1e-3, atol=1e-5)
    assert len(eager.variables) == 378
    (gradient,) = tf.contrib.eager.gradients_function(compiled)(tf.constant(images))
    np.testing.assert_allclose(gradient, wanted[1], rtol=1e-2, atol=1e-4 * np.abs(wanted[1]).max())
