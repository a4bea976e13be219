"""The eager programs of the blog post on `tf.contrib.eager`, written as there."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
import tapeflow.contrib.eager as tfe

tfe.enable_eager_execution()


def test_boilerplate(capsys):
    x = [[2.0]]  # No need for placeholders!
    m = tf.matmul(x, x)
    print(m)  # No sessions!
    assert capsys.readouterr().out == "tf.Tensor([[4.]], shape=(1, 1), dtype=float32)\n"


def test_lazy_loading(capsys):
    x = tf.random_uniform([2, 2])
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            print(x[i, j])
    shown = capsys.readouterr().out.splitlines()
    assert shown == [f"tf.Tensor({v!s}, shape=(), dtype=float32)" for v in x.numpy().ravel()]


def test_tensors_act_like_numpy_arrays(capsys):
    x = tf.constant([1.0, 2.0, 3.0])
    # Tensors are backed by NumPy arrays
    assert type(x.numpy()) is np.ndarray
    squared = np.square(x)  # Tensors are compatible with NumPy functions
    # Tensors are iterable!
    for i in x:
        print(i)
    assert squared.tolist() == [1.0, 4.0, 9.0]
    assert capsys.readouterr().out.splitlines() == [
        "tf.Tensor(1.0, shape=(), dtype=float32)",
        "tf.Tensor(2.0, shape=(), dtype=float32)",
        "tf.Tensor(3.0, shape=(), dtype=float32)",
    ]


def test_gradients_function_of_two_arguments():
    def f(x, y):
        return x**2 + y**2

    g = tfe.gradients_function(f)
    # Since 2.x the repr of a tensor does not show an id.
    assert repr(g(2.0, 3.0)) == (
        "[<tf.Tensor: shape=(), dtype=float32, numpy=4.0>, "
        "<tf.Tensor: shape=(), dtype=float32, numpy=6.0>]"
    )


def test_higher_order_derivatives():
    def f(x):
        return tf.multiply(x, x)  # Or x * x

    assert f(3.0).numpy() == 9

    df = tfe.gradients_function(f)
    assert df(3.0)[0].numpy() == 6

    # Second order derivative.
    d2f = tfe.gradients_function(lambda x: df(x)[0])
    assert d2f(3.0)[0].numpy() == 2

    # The post has 0 for the third; the guide, and TensorFlow up to now, None: 2 depends on nothing.
    d3f = tfe.gradients_function(lambda x: d2f(x)[0])
    assert d3f(3.0) == [None]


def test_value_and_gradients_function():
    value, gradients = tfe.value_and_gradients_function(lambda x, y: x**2 + y**2)(2.0, 3.0)
    assert value.numpy() == 13
    assert [g.numpy() for g in gradients] == [4, 6]


def test_implicit_gradients():
    vx = tfe.Variable(initial_value=1.0, name="vx")
    vy = tfe.Variable(initial_value=1.0, name="vy")

    def f(x):
        return 2 * vx * x

    g = tfe.implicit_gradients(f)
    [(gradient, variable)] = g(2.0)
    assert (gradient.numpy(), variable.numpy()) == (4, 1)
    assert variable is vx
    assert variable is not vy


def test_implicit_value_and_gradients():
    w = tfe.Variable(2.0)

    def loss_fn(x):
        return tf.square(w * x - 3.0)

    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)
    value_and_gradients_fn = tfe.implicit_value_and_gradients(loss_fn)
    empirical_loss, gradients_and_variables = value_and_gradients_fn(1.0)
    optimizer.apply_gradients(gradients_and_variables)
    assert empirical_loss.numpy() == 1
    assert w.numpy() == pytest.approx(2.2)


def test_linear_regression(capsys):
    class Model:
        def __init__(self):
            self.W = tfe.Variable(5.0, name="weight")
            self.B = tfe.Variable(10.0, name="bias")

        def predict(self, inputs):
            return inputs * self.W + self.B

    # The loss function to be optimized
    def loss(model, inputs, targets):
        error = model.predict(inputs) - targets
        return tf.reduce_mean(tf.square(error))

    # A toy dataset of points around 3 * x + 2
    NUM_EXAMPLES = 1000
    training_inputs = tf.random_normal([NUM_EXAMPLES])
    noise = tf.random_normal([NUM_EXAMPLES])
    training_outputs = training_inputs * 3 + 2 + noise

    # Define:
    # 1. A model
    # 2. Derivatives of a loss function with respect to model parameters
    # 3. A strategy for updating the variables based on the derivatives
    model = Model()
    grad = tfe.implicit_gradients(loss)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.01)

    # The training loop
    start = loss(model, training_inputs, training_outputs).numpy()
    print("Initial loss: %f" % start)
    for i in range(201):
        optimizer.apply_gradients(grad(model, training_inputs, training_outputs))
        if i % 20 == 0:
            value = loss(model, training_inputs, training_outputs).numpy()
            print("Loss at step %d: %f" % (i, value))
    end = loss(model, training_inputs, training_outputs).numpy()
    print("Final loss: %f" % end)
    print("W, B = %s, %s" % (model.W.numpy(), model.B.numpy()))

    shown = capsys.readouterr().out.splitlines()
    heads = [
        "Initial loss: ",
        *(f"Loss at step {i}: " for i in range(0, 201, 20)),
        "Final loss: ",
    ]
    assert len(shown) == len(heads) + 1
    values = [float(line.removeprefix(head)) for line, head in zip(shown, heads)]
    assert 55 < values[0] < 85
    assert 0.8 < values[-1] < 1.3
    assert values == sorted(values, reverse=True)
    slope, bias = (float(part) for part in shown[-1].removeprefix("W, B = ").split(", "))
    assert slope == pytest.approx(3, abs=0.25)
    assert bias == pytest.approx(2, abs=0.35)
