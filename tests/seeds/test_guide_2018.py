"""The first programs of the guide to eager execution (1.x), written as there: basics, models, training.

What NumPy or later releases print differently is expected as they print it now.
"""

from __future__ import absolute_import, division, print_function  # noqa: UP010 (as written there)

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

tf.enable_eager_execution()

tfe = tf.contrib.eager


def numbers(shown, heads):
    """The numbers that stand behind the heads, line by line."""
    for line, head in zip(shown, heads):
        assert line.startswith(head), line
    return [float(line.removeprefix(head)) for line, head in zip(shown, heads)]


def test_basic_usage(capsys):
    assert tf.executing_eagerly() is True

    x = [[2.0]]
    m = tf.matmul(x, x)
    print("hello, {}".format(m))  # noqa: UP032
    assert capsys.readouterr().out == "hello, [[4.]]\n"


def test_working_with_numpy(capsys):
    a = tf.constant([[1, 2],
                     [3, 4]])  # fmt: skip
    print(a)

    # Broadcasting support
    b = tf.add(a, 1)
    print(b)

    # Operator overloading is supported
    print(a * b)

    # Use NumPy values
    c = np.multiply(a, b)
    print(c)

    # Obtain numpy value from a tensor:
    print(a.numpy())

    assert capsys.readouterr().out.splitlines() == [
        "tf.Tensor(",
        "[[1 2]",
        " [3 4]], shape=(2, 2), dtype=int32)",
        "tf.Tensor(",
        "[[2 3]",
        " [4 5]], shape=(2, 2), dtype=int32)",
        "tf.Tensor(",
        "[[ 2  6]",
        " [12 20]], shape=(2, 2), dtype=int32)",
        "[[ 2  6]",
        " [12 20]]",
        "[[1 2]",
        " [3 4]]",
    ]


def test_fizzbuzz(capsys):
    def fizzbuzz(max_num):
        counter = tf.constant(0)
        max_num = tf.convert_to_tensor(max_num)
        for num in range(max_num.numpy()):
            num = tf.constant(num)
            if int(num % 3) == 0 and int(num % 5) == 0:
                print("FizzBuzz")
            elif int(num % 3) == 0:
                print("Fizz")
            elif int(num % 5) == 0:
                print("Buzz")
            else:
                print(num)
            counter += 1
        return counter

    assert fizzbuzz(16).numpy() == 16

    def word(n):
        plain = f"tf.Tensor({n}, shape=(), dtype=int32)"
        return ("Fizz" * (n % 3 == 0) + "Buzz" * (n % 5 == 0)) or plain

    assert capsys.readouterr().out.splitlines() == [word(n) for n in range(16)]


def test_own_layer():
    class MySimpleLayer(tf.keras.layers.Layer):
        def __init__(self, output_units):
            super(MySimpleLayer, self).__init__()  # noqa: UP008
            self.output_units = output_units

        def build(self, input_shape):
            # The build method gets called the first time your layer is used.
            self.kernel = self.add_variable("kernel", [input_shape[-1], self.output_units])

        def call(self, input):
            # Override call() instead of __call__ so we can perform some bookkeeping.
            return tf.matmul(input, self.kernel)

    layer = MySimpleLayer(3)
    x = tf.random_normal([2, 5])
    result = layer(x)
    assert layer.kernel.shape == (5, 3)
    assert [v.name for v in layer.variables] == [layer.kernel.name]
    assert "kernel" in layer.kernel.name
    np.testing.assert_allclose(
        result.numpy(), x.numpy() @ layer.kernel.numpy(), rtol=1e-5, atol=1e-6
    )


def test_sequential_and_a_blank_image(capsys):
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(10, input_shape=(784,)),  # must declare input shape
        tf.keras.layers.Dense(10),
    ])  # fmt: skip
    assert [tuple(v.shape) for v in model.variables] == [(784, 10), (10,), (10, 10), (10,)]

    # Create a tensor representing a blank image
    batch = tf.zeros([1, 1, 784])
    print(batch.shape)  # => (1, 1, 784)
    assert capsys.readouterr().out == "(1, 1, 784)\n"

    result = model(batch)
    zeros = " ".join(["0."] * 10)
    assert str(result) == f"tf.Tensor([[[{zeros}]]], shape=(1, 1, 10), dtype=float32)"


class MNISTModel(tf.keras.Model):
    def __init__(self):
        super(MNISTModel, self).__init__()  # noqa: UP008
        self.dense1 = tf.keras.layers.Dense(units=10)
        self.dense2 = tf.keras.layers.Dense(units=10)

    def call(self, input):
        """Run the model."""
        result = self.dense1(input)
        result = self.dense2(result)
        result = self.dense2(result)  # reuse variables from dense2 layer
        return result  # noqa: RET504 (as written there)


def test_model(capsys):
    model = MNISTModel()

    # Create a tensor representing a blank image
    batch = tf.zeros([1, 1, 784])
    print(batch.shape)  # => (1, 1, 784)

    result = model(batch)
    print(result)
    assert len(model.variables) == 4
    assert capsys.readouterr().out.splitlines() == [
        "(1, 1, 784)",
        "tf.Tensor([[[0. 0. 0. 0. 0. 0. 0. 0. 0. 0.]]], shape=(1, 1, 10), dtype=float32)",
    ]


def test_computing_gradients(capsys):
    w = tfe.Variable([[1.0]])
    with tf.GradientTape() as tape:
        loss = w * w

    grad = tape.gradient(loss, w)
    print(grad)
    assert capsys.readouterr().out == "tf.Tensor([[2.]], shape=(1, 1), dtype=float32)\n"
    # A particular tape computes one gradient only.
    with pytest.raises(RuntimeError):
        tape.gradient(loss, w)


def test_training_a_simple_model(capsys):
    # A toy dataset of points around 3 * x + 2
    NUM_EXAMPLES = 1000
    training_inputs = tf.random_normal([NUM_EXAMPLES])
    noise = tf.random_normal([NUM_EXAMPLES])
    training_outputs = training_inputs * 3 + 2 + noise

    def prediction(input, weight, bias):
        return input * weight + bias

    # A loss function using mean-squared error
    def loss(weights, biases):
        error = prediction(training_inputs, weights, biases) - training_outputs
        return tf.reduce_mean(tf.square(error))

    # Return the derivative of loss with respect to weight and bias
    def grad(weights, biases):
        with tf.GradientTape() as tape:
            loss_value = loss(weights, biases)
        return tape.gradient(loss_value, [weights, biases])

    train_steps = 200
    learning_rate = 0.01
    # Start with arbitrary values for W and B on the same batch of data
    W = tfe.Variable(5.0)
    B = tfe.Variable(10.0)

    print("Initial loss: {:.3f}".format(loss(W, B)))  # noqa: UP032

    for i in range(train_steps):
        dW, dB = grad(W, B)
        W.assign_sub(dW * learning_rate)
        B.assign_sub(dB * learning_rate)
        if i % 20 == 0:
            print("Loss at step {:03d}: {:.3f}".format(i, loss(W, B)))  # noqa: UP032

    print("Final loss: {:.3f}".format(loss(W, B)))  # noqa: UP032
    print("W = {}, B = {}".format(W.numpy(), B.numpy()))  # noqa: UP032

    shown = capsys.readouterr().out.splitlines()
    steps = [f"Loss at step {i:03d}: " for i in range(0, 200, 20)]
    values = numbers(shown, ["Initial loss: ", *steps, "Final loss: "])
    assert len(shown) == len(values) + 1
    assert values == sorted(values, reverse=True)
    assert 55 < values[0] < 85
    assert 0.8 < values[-1] < 1.3
    w, b = shown[-1].split(", ")
    assert float(w.removeprefix("W = ")) == pytest.approx(3, abs=0.25)
    assert float(b.removeprefix("B = ")) == pytest.approx(2, abs=0.4)


def test_training_a_classifier(capsys):
    # The guide reads MNIST through a file beside it; the pictures here are of one random digit each.
    digits = np.random.default_rng(1).normal(size=(10, 784)).astype(np.float32)
    numbers_shown = np.arange(640, dtype=np.int32) % 10
    images = tf.constant(digits[numbers_shown]) * 0.2
    labels = tf.constant(numbers_shown)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset_train = dataset.shuffle(60000).repeat(4).batch(32)
    model = MNISTModel()

    def loss(model, x, y):
        prediction = model(x)
        return tf.losses.sparse_softmax_cross_entropy(labels=y, logits=prediction)

    def grad(model, inputs, targets):
        with tf.GradientTape() as tape:
            loss_value = loss(model, inputs, targets)
        return tape.gradient(loss_value, model.variables)

    # The guide's 0.001 is for its 7500 steps; there are 80 here.
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.03)

    x, y = iter(dataset_train).next()
    print("Initial loss: {:.3f}".format(loss(model, x, y)))  # noqa: UP032

    step = tf.train.get_or_create_global_step()
    before = step.numpy()
    # Training loop
    for i, (x, y) in enumerate(dataset_train):
        # Calculate derivatives of the input function with respect to its parameters.
        grads = grad(model, x, y)
        # Apply the gradient to the model
        optimizer.apply_gradients(
            zip(grads, model.variables), global_step=tf.train.get_or_create_global_step()
        )
        if i % 20 == 0:
            print("Loss at step {:04d}: {:.3f}".format(i, loss(model, x, y)))  # noqa: UP032

    print("Final loss: {:.3f}".format(loss(model, x, y)))  # noqa: UP032

    shown = capsys.readouterr().out.splitlines()
    steps = [f"Loss at step {i:04d}: " for i in range(0, 80, 20)]
    values = numbers(shown, ["Initial loss: ", *steps, "Final loss: "])
    assert len(shown) == len(values)
    assert values[-1] < 0.5 * values[0]
    assert step.numpy() - before == 80


def test_minimize_on_a_named_device():
    # "For faster training": the guide names a GPU; a test names what every machine has.
    model = tf.keras.layers.Dense(2)
    x, y = tf.random_normal([16, 3]), tf.constant([0, 1] * 8)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)

    def loss(model, x, y):
        return tf.losses.sparse_softmax_cross_entropy(labels=y, logits=model(x))

    first = loss(model, x, y)
    with tf.device("/cpu:0"):
        for _ in range(20):
            # minimize() is equivalent to the grad() and apply_gradients() calls.
            optimizer.minimize(
                lambda: loss(model, x, y), global_step=tf.train.get_or_create_global_step()
            )
    assert loss(model, x, y) < first


def test_variables_and_optimizers(capsys):
    class Model(tf.keras.Model):
        def __init__(self):
            super(Model, self).__init__()  # noqa: UP008
            self.W = tfe.Variable(5.0, name="weight")
            self.B = tfe.Variable(10.0, name="bias")

        def call(self, inputs):
            return inputs * self.W + self.B

    # A toy dataset of points around 3 * x + 2
    NUM_EXAMPLES = 2000
    training_inputs = tf.random_normal([NUM_EXAMPLES])
    noise = tf.random_normal([NUM_EXAMPLES])
    training_outputs = training_inputs * 3 + 2 + noise

    # The loss function to be optimized
    def loss(model, inputs, targets):
        error = model(inputs) - targets
        return tf.reduce_mean(tf.square(error))

    def grad(model, inputs, targets):
        with tf.GradientTape() as tape:
            loss_value = loss(model, inputs, targets)
        return tape.gradient(loss_value, [model.W, model.B])

    model = Model()
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.01)

    print("Initial loss: {:.3f}".format(loss(model, training_inputs, training_outputs)))  # noqa: UP032

    # Training loop
    for i in range(300):
        grads = grad(model, training_inputs, training_outputs)
        optimizer.apply_gradients(
            zip(grads, [model.W, model.B]), global_step=tf.train.get_or_create_global_step()
        )
        if i % 20 == 0:
            value = loss(model, training_inputs, training_outputs)
            print("Loss at step {:03d}: {:.3f}".format(i, value))  # noqa: UP032

    print("Final loss: {:.3f}".format(loss(model, training_inputs, training_outputs)))  # noqa: UP032
    print("W = {}, B = {}".format(model.W.numpy(), model.B.numpy()))  # noqa: UP032

    shown = capsys.readouterr().out.splitlines()
    steps = [f"Loss at step {i:03d}: " for i in range(0, 300, 20)]
    values = numbers(shown, ["Initial loss: ", *steps, "Final loss: "])
    assert len(shown) == len(values) + 1
    assert values == sorted(values, reverse=True)
    assert 60 < values[0] < 80
    assert 0.85 < values[-1] < 1.15
    assert model.W.numpy() == pytest.approx(3, abs=0.1)
    assert model.B.numpy() == pytest.approx(2, abs=0.15)
    assert {v.name for v in model.variables} == {"weight:0", "bias:0"}


def test_object_oriented_metrics():
    m = tfe.metrics.Mean("loss")
    m(0)
    m(5)
    assert m.result().numpy() == 2.5
    m([8, 9])
    assert m.result().numpy() == 5.5
