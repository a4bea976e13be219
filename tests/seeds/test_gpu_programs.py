"""The GPU programs of the slides of 2017 and the guide of 2018, on two CPU devices of XLA's, or what there is."""

import time

import numpy as np
import pytest

pytest.importorskip("jax")

import tapeflow.compat.v1 as tf
import tapeflow.contrib.eager as tfe
from tapeflow.config import experimental as memory

tf.enable_eager_execution()
pytestmark = [
    pytest.mark.xla,
    pytest.mark.skipif(tfe.num_gpus() < 2, reason="needs two GPUs: TAPEFLOW_VIRTUAL_GPUS=2"),
]


def test_manual_placement():
    with tf.device("/gpu:0"):
        x = tf.random_uniform([10, 10])
        y = tf.matmul(x, x)
        # x and y reside in GPU memory
    assert x.device.endswith("GPU:0")
    assert y.device.endswith("GPU:0")
    np.testing.assert_allclose(y.numpy(), x.numpy() @ x.numpy(), rtol=1e-5)


class Model:
    def __init__(self):
        self.W = tfe.Variable(5.0, name="weight")
        self.B = tfe.Variable(10.0, name="bias")

    def predict(self, inputs):
        return inputs * self.W + self.B


def loss(model, x, y):
    return tf.reduce_mean(tf.square(model.predict(x) - y))


def batches():
    inputs = np.random.default_rng(1).normal(size=(100, 20)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((inputs, inputs * 3 + 2))


def test_training_moves_to_a_gpu():
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.05)
    with tf.device("/gpu:0"):
        model = Model()
        for x, y in batches():
            # minimize() is equivalent to the grad() and apply_gradients() calls.
            optimizer.minimize(
                lambda x=x, y=y: loss(model, x, y), global_step=tf.train.get_or_create_global_step()
            )
    assert model.W.device.endswith("GPU:0")
    assert (round(float(model.W), 1), round(float(model.B), 1)) == (3.0, 2.0)
    assert int(tf.train.get_or_create_global_step()) == 100


def test_a_variable_frees_its_memory():
    before = memory.get_memory_info("GPU:0")["current"]
    with tf.device("gpu:0"):
        v = tfe.Variable(tf.random_normal([1000, 1000]))
        held = memory.get_memory_info("GPU:0")["current"] - before
        v = None  # v no longer takes up GPU memory
    assert (v, held) == (None, 4_000_000)
    assert memory.get_memory_info("GPU:0")["current"] == before


def measure(x, steps):
    # TensorFlow initializes a GPU the first time it's used, exclude from timing.
    tf.matmul(x, x)
    start = time.time()
    for _ in range(steps):
        x = tf.matmul(x, x)
        _ = x.numpy()  # Make sure to execute op and not just enqueue it
    end = time.time()
    return end - start


def test_the_measurement(capsys):
    shape = (100, 100)
    steps = 20
    print(f"Time to multiply a {shape} matrix by itself {steps} times:")
    with tf.device("/cpu:0"):
        print(f"CPU: {measure(tf.random_normal(shape), steps)} secs")
    if tfe.num_gpus() > 0:
        with tf.device("/gpu:0"):
            print(f"GPU: {measure(tf.random_normal(shape), steps)} secs")
    else:
        print("GPU: not found")
    _, cpu, gpu = capsys.readouterr().out.splitlines()
    assert cpu.startswith("CPU: ")
    assert gpu.endswith(" secs")


def test_copies():
    x = tf.random_normal([10, 10])
    x_gpu0 = x.gpu()
    x_cpu = x.cpu()
    assert tf.matmul(x_cpu, x_cpu).device.endswith("CPU:0")  # Runs on CPU
    assert tf.matmul(x_gpu0, x_gpu0).device.endswith("GPU:0")  # Runs on GPU:0
    if tfe.num_gpus() > 1:
        x_gpu1 = x.gpu(1)
        assert tf.matmul(x_gpu1, x_gpu1).device.endswith("GPU:1")  # Runs on GPU:1
