"""The cases in TensorFlow's API, for tapeflow and TensorFlow alike."""

import importlib
import os

import inputs

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def package(name, mode="eager"):
    return name


def cases(name, mode="eager"):
    tf = importlib.import_module(name)
    if mode == "function":
        return compiled(tf)
    a, b = tf.constant(1.5), tf.constant(2.5)
    small = {"a": tf.constant(inputs.array(1, 10, 10)), "b": tf.constant(inputs.array(2, 10, 10))}
    million = {"tf": tf, "x": tf.constant(inputs.array(1, 1_000_000))}
    million["y"] = tf.constant(inputs.array(2, 1_000_000))
    matrix = tf.constant(inputs.array(3, 1000, 1000))
    square = "with tf.GradientTape() as tape:\n    y = w * w\ntape.gradient(y, w)"
    return {
        "add_scalar": ("a + b", {"a": a, "b": b}),
        "add_10x10": ("a + b", small),
        "add_function": ("add(a, b)", {"add": tf.add, "a": a, "b": b}),
        "matmul_10x10": ("matmul(a, b)", {"matmul": tf.matmul, **small}),
        "tape_square": (square, {"tf": tf, "w": tf.Variable([[3.0]])}),
        "mlp_step": ("step()", {"step": mlp_step(tf, lambda f: f)}),
        "add_1m": ("x + y", million),
        "tanh_1m": ("tf.tanh(x)", million),
        "matmul_1000": ("tf.matmul(x, x)", {"tf": tf, "x": matrix}),
        "conv": ("step()", {"step": conv(tf)}),
        "conv_grad": ("step()", {"step": conv_grad(tf, lambda f: f)}),
    }


def compiled(tf):
    w = tf.Variable([[3.0]])

    @tf.function
    def square():
        with tf.GradientTape() as tape:
            y = w * w
        return tape.gradient(y, w)

    return {
        "tape_square": ("step()", {"step": square}),
        "mlp_step": ("step()", {"step": mlp_step(tf, tf.function)}),
        "conv_grad": ("step()", {"step": conv_grad(tf, tf.function)}),
    }


def mlp_step(tf, wrap):
    x, y, layers = inputs.mlp()
    x, y = tf.constant(x), tf.constant(y)
    layers = [(tf.Variable(w), tf.Variable(b)) for w, b in layers]
    variables = [v for layer in layers for v in layer]

    @wrap
    def step():
        with tf.GradientTape() as tape:
            h = x
            for w, b in layers:
                h = tf.tanh(tf.matmul(h, w) + b)
            loss = tf.reduce_mean(tf.square(h - y))
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.01 * g)
        return loss

    return step


def conv(tf):
    x, k = (tf.constant(a) for a in inputs.conv())
    return lambda: tf.nn.conv2d(x, k, 1, "SAME")


def conv_grad(tf, wrap):
    x, k = (tf.constant(a) for a in inputs.conv())

    @wrap
    def step(x, k):
        with tf.GradientTape() as tape:
            tape.watch([x, k])
            loss = tf.reduce_mean(tf.square(tf.nn.conv2d(x, k, 1, "SAME")))
        return tape.gradient(loss, [x, k])

    return lambda: step(x, k)
