"""The eager programs of the talks that introduced eager execution (Fall Symposium, "Research at Scale").

Written as there. What later releases print differently is expected as they print it: tensors show their
shape, lists their elements' repr, and `/` between integers is the true quotient.
"""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

tfe = tf.contrib.eager
tfe.enable()


def lines(capsys):
    return capsys.readouterr().out.splitlines()


def test_enabling_keeps_eager():
    tfe.enable()
    tfe.enable_eager_execution()
    tf.enable_eager_execution()
    assert tf.executing_eagerly()


def test_boilerplate(capsys):
    x = [[2.0]]
    m = tf.matmul(x, x)

    print(m)
    assert lines(capsys) == ["tf.Tensor([[4.]], shape=(1, 1), dtype=float32)"]


def test_instant_errors():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.gather([0, 1, 2], 7)
    shown = f"{type(caught.value).__name__}: {caught.value}"
    assert shown == "InvalidArgumentError: indices = 7 is not in [0, 3) [Op:Gather]"


def test_metaprogramming(capsys):
    x = tf.random_uniform([2, 2])

    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            print(x[i, j])

    expected = [f"tf.Tensor({value!s}, shape=(), dtype=float32)" for value in x.numpy().ravel()]
    assert lines(capsys) == expected


COLLATZ = (3, 10, 5, 16, 8, 4, 2, 1)


def test_python_control_flow(capsys):
    # The talks show int32 results; since Python 3's division, `a / 2` is float64.
    a = tf.constant(6)
    while a != 1:
        if a % 2 == 0:
            a = a / 2
        else:
            a = 3 * a + 1
        print(a)
    assert lines(capsys) == [f"tf.Tensor({float(n)}, shape=(), dtype=float64)" for n in COLLATZ]


def test_python_control_flow_with_equal(capsys):
    a = tf.constant(6)
    while not tf.equal(a, 1):
        if tf.equal(a % 2, 0):
            a = a / 2
        else:
            a = 3 * a + 1
        print(a)
    assert lines(capsys) == [f"tf.Tensor({float(n)}, shape=(), dtype=float64)" for n in COLLATZ]


def test_python_control_flow_of_integers(capsys):
    # With the division that the talks had: the printed numbers are theirs.
    a = tf.constant(6)
    while not tf.equal(a, 1):
        if tf.equal(a % 2, 0):
            a = a // 2
        else:
            a = 3 * a + 1
        print(a)
    assert lines(capsys) == [f"tf.Tensor({n}, shape=(), dtype=int32)" for n in COLLATZ]


def test_gradients(capsys):
    def square(x):
        return tf.multiply(x, x)  # Or x * x

    grad = tfe.gradients_function(square)
    gradgrad = tfe.gradients_function(lambda x: grad(x)[0])

    print(square(3.0))
    print(grad(3.0))
    print(gradgrad(3.0))
    assert lines(capsys) == [
        "tf.Tensor(9.0, shape=(), dtype=float32)",
        "[<tf.Tensor: shape=(), dtype=float32, numpy=6.0>]",
        "[<tf.Tensor: shape=(), dtype=float32, numpy=2.0>]",
    ]


def test_gradient_before_customizing():
    def f(x):
        y = tf.square(x)
        return y  # noqa: RET504 (as written there)

    grad = tfe.gradients_function(f)
    assert f(3.0).numpy() == 9.0
    assert [g.numpy() for g in grad(3.0)] == [6.0]


def test_customized_gradient():
    # The slide returns `prod` where it means `y`.
    @tfe.custom_gradient
    def f(x):
        y = tf.square(x)

        def grad_fn(dresult):
            return [x + y]

        return y, grad_fn

    grad = tfe.gradients_function(f)
    assert f(3.0).numpy() == 9.0
    assert [g.numpy() for g in grad(3.0)] == [12.0]


def test_log1pexp():
    def log1pexp(x):
        return tf.log(1 + tf.exp(x))

    grad_log1pexp = tfe.gradients_function(log1pexp)
    assert [g.numpy() for g in grad_log1pexp(0.0)] == [0.5]
    assert [str(g.numpy()) for g in grad_log1pexp(100.0)] == ["nan"]


def test_log1pexp_with_its_own_gradient():
    @tfe.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(dy):
            return dy * (1 - 1 / (1 + e))

        return tf.log(1 + e), grad

    grad_log1pexp = tfe.gradients_function(log1pexp)
    assert [g.numpy() for g in grad_log1pexp(0.0)] == [0.5]
    assert [g.numpy() for g in grad_log1pexp(100.0)] == [1.0]


@pytest.mark.skipif(tfe.num_gpus() > 0, reason="there is a GPU")
def test_using_gpus_where_there_is_none():
    # Later releases let the CPU stand in; TensorFlow of that time raised, as it still does on request.
    with tf.device("/gpu:0"):
        assert tf.random_uniform([10, 10]).device.endswith("CPU:0")
    tf.config.set_soft_device_placement(False)
    absent = pytest.raises(tf.errors.InvalidArgumentError, match=r"GPU:0.*devices \[.*CPU:0\]")
    try:
        with absent, tf.device("/gpu:0"):
            tf.random_uniform([10, 10])
    finally:
        tf.config.set_soft_device_placement(True)


@pytest.mark.gpu
@pytest.mark.skipif(tfe.num_gpus() == 0, reason="there is no GPU")
def test_using_gpus():
    with tf.device("/gpu:0"):
        x = tf.random_uniform([10, 10])
        y = tf.matmul(x, x)
    assert x.device.endswith("GPU:0")
    assert y.device.endswith("GPU:0")


def test_building_and_training_models():
    inputs = tf.random_normal([64, 2])
    outputs = inputs @ [[2.0], [-3.0]] + 1.0

    def get_next_batch():
        return [(inputs, outputs)] * 200

    model = tf.layers.Dense(units=1, use_bias=True)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)

    # Define a loss function
    def loss(x, y):
        return tf.reduce_mean(tf.square(y - model(x)))

    grad_fn = tfe.implicit_gradients(loss)

    for x, y in get_next_batch():
        optimizer.apply_gradients(grad_fn(x, y))

    assert loss(inputs, outputs).numpy() < 1e-6
    np.testing.assert_allclose(model.kernel.numpy(), [[2.0], [-3.0]], atol=1e-3)
    np.testing.assert_allclose(model.bias.numpy(), [1.0], atol=1e-3)


def test_lstm_cell(capsys):
    def lstm_cell(x, w, h, c):
        xhw = tf.matmul(tf.concat([x, h], axis=1), w)
        y = tf.split(xhw, 4, axis=1)
        in_value = tf.tanh(y[0])
        in_gate, forget_gate, out_gate = [tf.sigmoid(x) for x in y[1:]]
        c = (forget_gate * c) + (in_gate * in_value)
        h = out_gate * tf.tanh(c)
        return h, c

    x, w = tf.random_normal([2, 3]), tf.random_normal([7, 16])
    h = c = tf.zeros([2, 4])
    h, c = lstm_cell(x, w, h, c)
    print(h)
    (*_, last) = lines(capsys)
    assert last.endswith("shape=(2, 4), dtype=float32)")

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    parts = np.split(x.numpy() @ w.numpy()[:3], 4, axis=1)
    cell = sigmoid(parts[1]) * np.tanh(parts[0])
    np.testing.assert_allclose(c.numpy(), cell, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(h.numpy(), sigmoid(parts[3]) * np.tanh(cell), rtol=1e-5, atol=1e-6)


def test_line_search(capsys):
    # A layer stands for the image network. The slide takes grad_fn's list for its only gradient, and
    # would ask the same of a halved rate.
    inception = tf.layers.Dense(1001, activation=tf.nn.softmax)

    def objective(x):
        # Label 283 is that of a tabby cat
        log_p = tf.log(inception(x)[0, 283])
        return -tf.reshape(log_p, [])  # scalar

    # Gradient with respect to input
    grad_fn = tfe.gradients_function(objective)

    image = tf.random_normal([1, 32])
    for _ in range(10):
        val, (grad,) = objective(image), grad_fn(image)
        print(f"-log(tabby cat-iness): {val}")
        g_norm = tf.reduce_sum(grad * grad)

        (init_val, init_image, rate) = (val, image, 1.0)
        while val > init_val - rate * g_norm:
            image, rate = init_image - rate * grad, rate / 2.0
            val = objective(image)

    values = [float(line.removeprefix("-log(tabby cat-iness): ")) for line in lines(capsys)]
    assert len(values) == 10
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]


def test_start_with_eager():
    features = tf.random_normal([40, 4])
    classes = tf.cast(features[:, 0] > 0, tf.int32)
    dataset = tf.data.Dataset.from_tensor_slices((features, classes)).repeat().batch(20)
    iterator = tfe.Iterator(dataset)
    model = tf.layers.Dense(2)
    num_iters = 100

    def model_loss():
        return tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=model(images))

    # The slide's 0.01 learns too slowly to be seen in a test.
    optimizer = tf.train.AdagradOptimizer(0.1)
    values = []
    for _ in range(num_iters):
        (images, labels) = iterator.next()
        optimizer.minimize(model_loss)
        values.append(model_loss().numpy())

    assert values[-1] < 0.5 * values[0]
