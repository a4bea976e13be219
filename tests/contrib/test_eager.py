"""tf.contrib.eager and tf.layers: what programs of 1.x use."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import eager as tfe


def test_metrics():
    mean = tfe.metrics.Mean("loss")
    mean(0)
    mean(5)
    assert float(mean.result()) == 2.5
    mean([8, 9])
    assert float(mean.result()) == 5.5
    accuracy = tfe.metrics.Accuracy()
    accuracy(labels=[1, 2, 3, 4], predictions=[1, 0, 3, 4], weights=[1.0, 1.0, 2.0, 0.0])
    assert float(accuracy.result()) == 0.75
    accuracy.init_variables()
    assert float(accuracy.result()) == 0.0


def test_implicit_gradients_train_a_layer():
    model = tf.layers.Dense(units=1, use_bias=True)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)
    x = np.array([[1.0], [2.0], [-1.0]], np.float32)

    def loss(x, y):
        return tf.reduce_mean(tf.square(y - model(x)))

    grad_fn = tfe.implicit_gradients(loss)
    for _ in range(300):
        optimizer.apply_gradients(grad_fn(x, 3 * x + 2))
    np.testing.assert_allclose(model.kernel.numpy(), [[3.0]], atol=1e-2)
    np.testing.assert_allclose(model.bias.numpy(), [2.0], atol=1e-2)


def test_layers_take_the_dtype_of_their_input():
    assert tf.layers.dense(np.ones([2, 3]), 4).dtype == tf.float64
    assert tf.layers.Dense(4, dtype=tf.float32)(np.ones([2, 3])).dtype == tf.float32


def test_layer_functions():
    image = tf.ones([1, 8, 8, 1])
    assert tf.layers.conv2d(image, 3, 3, activation=tf.nn.relu).shape == (1, 6, 6, 3)
    assert tf.layers.max_pooling2d(image, 2, 2).shape == (1, 4, 4, 1)
    assert tf.layers.flatten(image).shape == (1, 64)
    assert (tf.layers.dropout(image).numpy() == 1).all()
    np.testing.assert_allclose(
        tf.layers.batch_normalization(image, training=True).numpy(), 0, atol=1e-3
    )
    with pytest.raises(TypeError, match="units"):
        tf.layers.dense(image)


def test_network_and_sequential():
    model = tfe.Sequential([tf.layers.Dense(3), tf.nn.relu, tf.layers.Dense(1)])
    assert model(tf.ones([2, 2])).shape == (2, 1)
    assert len(model.variables) == 4


def test_modes_and_devices():
    tfe.enable()
    assert tfe.in_eager_mode()
    assert not tfe.in_graph_mode()
    assert tfe.num_gpus() == len([name for name in tfe.list_devices() if "GPU" in name])


def test_evaluator(tmp_path):
    class Model:
        def eval_data(self, value):
            return 2 * value

    class Simple(tfe.Evaluator):
        def __init__(self, model):
            super().__init__(model)
            self.mean = self.track_metric(tfe.metrics.Mean("mean"))

        def call(self, eval_data):
            self.mean(eval_data)

    evaluator = Simple(Model())
    dataset = tf.data.Dataset.from_tensor_slices(tf.range(5.0))
    results = evaluator.evaluate_on_dataset(dataset, summary_logdir=str(tmp_path))
    assert results["mean"].numpy() == 4
    assert len(list(tmp_path.iterdir())) == 1
    evaluator.init_variables()
    assert evaluator.mean.numer.numpy() == 0
    assert evaluator.mean.numer.name == "mean/numer:0"
    with pytest.raises(ValueError, match="two Metrics"):
        evaluator.track_metric(tfe.metrics.Mean("mean"))
