"""The eager programs of the recap of the 2019 summit, in the names of 2.x, written as there."""

import numpy as np

import tapeflow as tf


def test_eager_execution(capsys):
    v1 = tf.constant(1)
    v2 = tf.constant(2)
    v3 = v1 + v2
    print(v3)
    print(v3.numpy())
    assert capsys.readouterr().out == "tf.Tensor(3, shape=(), dtype=int32)\n3\n"


def test_gradient_of_what_the_tape_saw(capsys):
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        w = v * v
        x = w * w
    print(tape.gradient(x, v))
    assert capsys.readouterr().out == "tf.Tensor(4.0, shape=(), dtype=float32)\n"


def test_gradient_of_what_the_tape_did_not_see(capsys):
    v = tf.Variable(1.0)
    w = v * v
    with tf.GradientTape() as tape:
        x = w * w
    print(tape.gradient(x, v))
    assert capsys.readouterr().out == "None\n"


def test_optimizer_in_custom_training():
    x = tf.random.normal([64, 4])
    labels = tf.cast(x[:, 0] + x[:, 1] > 0, tf.int32)
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(2)]
    )
    # Without momentum, as on the slide, Nesterov's step is the plain one.
    optim = tf.keras.optimizers.SGD(learning_rate=0.5, momentum=0.0, nesterov=True)
    losses = []
    for _ in range(60):
        with tf.GradientTape() as tape:
            logits = model(x)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        grads = tape.gradient(loss, model.trainable_variables)
        optim.apply_gradients(zip(grads, model.trainable_variables))
        losses.append(loss.numpy())
    assert losses[-1] < 0.3 * losses[0]


def test_optimizer_as_it_is_made_there():
    optim = tf.keras.optimizers.SGD(nesterov=True)
    v = tf.Variable([1.0, 2.0])
    optim.apply_gradients([(tf.constant([1.0, -1.0]), v)])
    np.testing.assert_allclose(v.numpy(), [0.99, 2.01], rtol=1e-6)


def test_loop_over_a_range():
    def fn_eager(x):
        for i in tf.range(1000):
            x += i
        return x

    result = fn_eager(0)
    assert result.dtype == tf.int32
    assert result.numpy() == 499500


def test_eager_outside_functions(capfd):
    def fn_eager():
        tf.print(tf.executing_eagerly())

    fn_eager()  # True
    assert capfd.readouterr().err == "True\n"


def test_branch_on_a_tensor():
    # `abs` of the slide, as it runs without tf.function.
    def abs(x):
        if x >= 0:
            return x
        else:
            return -x

    assert abs(tf.constant(-2)).numpy() == 2
    assert abs(tf.constant(3.5)).numpy() == 3.5
