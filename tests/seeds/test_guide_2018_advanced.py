"""The later programs of the guide to eager execution (1.x): dynamic models, gradients, devices.

What later releases print differently is expected as they print it now.
"""

import time

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

tf.enable_eager_execution()

tfe = tf.contrib.eager


def test_line_search_step():
    def line_search_step(fn, init_x, rate=1.0):
        with tf.GradientTape() as tape:
            # Variables are automatically recorded, but manually watch a tensor
            tape.watch(init_x)
            value = fn(init_x)
        grad = tape.gradient(value, init_x)
        grad_norm = tf.reduce_sum(grad * grad)
        init_value = value
        while value > init_value - rate * grad_norm:
            x = init_x - rate * grad
            value = fn(x)
            rate /= 2.0
        return x, value

    def fn(x):
        return tf.reduce_sum(x * x)

    # From (1, 2) with gradient (2, 4): to (-1, -2) at 5, then by the half step to the minimum.
    x, value = line_search_step(fn, tf.constant([1.0, 2.0]))
    assert x.numpy().tolist() == [0.0, 0.0]
    assert value.numpy() == 0.0


def test_gradients_functions():
    def square(x):
        return tf.multiply(x, x)

    grad = tfe.gradients_function(square)

    assert square(3.0).numpy() == 9.0
    assert [g.numpy() for g in grad(3.0)] == [6.0]

    # The second-order derivative of square:
    gradgrad = tfe.gradients_function(lambda x: grad(x)[0])
    assert [g.numpy() for g in gradgrad(3.0)] == [2.0]

    # The third-order derivative is None:
    gradgradgrad = tfe.gradients_function(lambda x: gradgrad(x)[0])
    assert gradgradgrad(3.0) == [None]


def test_gradient_with_flow_control():
    def abs(x):
        return x if x > 0.0 else -x

    grad = tfe.gradients_function(abs)

    assert [g.numpy() for g in grad(3.0)] == [1.0]
    assert [g.numpy() for g in grad(-3.0)] == [-1.0]


def test_clipping_gradients():
    @tf.custom_gradient
    def clip_gradient_by_norm(x, norm):
        y = tf.identity(x)

        def grad_fn(dresult):
            return [tf.clip_by_norm(dresult, norm), None]

        return y, grad_fn

    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = clip_gradient_by_norm(x, 1.0)
        loss = tf.reduce_sum(y * y) / 2.0
    assert y.numpy().tolist() == [3.0, 4.0]
    np.testing.assert_allclose(tape.gradient(loss, x).numpy(), [0.6, 0.8], rtol=1e-6)


def test_log1pexp():
    def log1pexp(x):
        return tf.log(1 + tf.exp(x))

    grad_log1pexp = tfe.gradients_function(log1pexp)

    # The gradient computation works fine at x = 0.
    assert [g.numpy() for g in grad_log1pexp(0.0)] == [0.5]

    # However, x = 100 fails because of numerical instability.
    assert [str(g.numpy()) for g in grad_log1pexp(100.0)] == ["nan"]


def test_log1pexp_with_its_own_gradient():
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(dy):
            return dy * (1 - 1 / (1 + e))

        return tf.log(1 + e), grad

    grad_log1pexp = tfe.gradients_function(log1pexp)

    # As before, the gradient computation works fine at x = 0.
    assert [g.numpy() for g in grad_log1pexp(0.0)] == [0.5]

    # And the gradient computation also works at x = 100.
    assert [g.numpy() for g in grad_log1pexp(100.0)] == [1.0]


def test_performance(capsys):
    def measure(x, steps):
        # TensorFlow initializes a GPU the first time it's used, exclude from timing.
        tf.matmul(x, x)
        start = time.time()
        for _ in range(steps):
            x = tf.matmul(x, x)
            _ = x.numpy()  # Make sure to execute op and not just enqueue it
        end = time.time()
        return end - start

    # The guide has (1000, 1000) and 200.
    shape = (100, 100)
    steps = 20
    print("Time to multiply a {} matrix by itself {} times:".format(shape, steps))  # noqa: UP032

    # Run on CPU:
    with tf.device("/cpu:0"):
        print("CPU: {} secs".format(measure(tf.random_normal(shape), steps)))  # noqa: UP032

    # Run on GPU, if available:
    if tfe.num_gpus() > 0:
        with tf.device("/gpu:0"):
            print("GPU: {} secs".format(measure(tf.random_normal(shape), steps)))  # noqa: UP032
    else:
        print("GPU: not found")

    first, cpu, gpu = capsys.readouterr().out.splitlines()
    assert first == "Time to multiply a (100, 100) matrix by itself 20 times:"
    assert float(cpu.removeprefix("CPU: ").removesuffix(" secs")) > 0
    assert gpu == "GPU: not found" or tfe.num_gpus() > 0


def test_copying_to_the_host():
    x = tf.random_normal([10, 10])

    x_cpu = x.cpu()

    y = tf.matmul(x_cpu, x_cpu)  # Runs on CPU
    assert x_cpu.device == y.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert x_cpu.numpy().tolist() == x.numpy().tolist()


@pytest.mark.skipif(tfe.num_gpus() > 0, reason="there is a GPU")
def test_copying_to_a_gpu_where_there_is_none():
    x = tf.random_normal([10, 10])
    with pytest.raises(RuntimeError, match=r"GPU:0 unknown device.*CPU:0"):
        x.gpu()
    with pytest.raises(RuntimeError, match=r"GPU:1 unknown device.*CPU:0"):
        x.gpu(1)


@pytest.mark.skipif(tfe.num_gpus() > 0, reason="there is a GPU")
def test_variable_on_a_gpu_where_there_is_none():
    # Later releases let the CPU stand in; TensorFlow of that time raised, as it still does on request.
    tf.config.set_soft_device_placement(False)
    absent = pytest.raises(tf.errors.InvalidArgumentError, match=r"GPU:0.*devices \[.*CPU:0\]")
    try:
        with absent, tf.device("gpu:0"):
            tfe.Variable(tf.random_normal([1000, 1000]))
    finally:
        tf.config.set_soft_device_placement(True)
