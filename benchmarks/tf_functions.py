"""The cases of functions and sessions in TensorFlow's API, for tapeflow and TensorFlow alike."""

import functools
import importlib
import os
import time

import inputs
from tf_api import mlp_step

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def package(name, mode="function"):
    return name


def cases(name, mode="function"):
    tf = importlib.import_module(name)
    wrap = wrapper(tf, mode)
    small = {"a": tf.constant(inputs.array(1, 10, 10)), "b": tf.constant(inputs.array(2, 10, 10))}
    x = tf.constant(inputs.array(1, 1_000_000))
    found = {
        "op": ("a + b", small),
        "call": ("f(a, b)", {"f": wrap(lambda a, b: a + b), **small}),
        "range_sum": ("f(n)", {"f": wrap(range_sum(tf)), "n": tf.constant(1000)}),
        "mlp_step": ("step()", {"step": mlp_step(tf, wrap)}),
        "lstm_1": ("step(xs)", lstm(tf, wrap, 1)),
        "lstm_32": ("step(xs)", lstm(tf, wrap, 32)),
        "chain": ("f(x)", {"f": wrap(chain(tf)), "x": x}),
    }
    for kind in ("LSTM", "GRU"):
        for batch in (1, 32):
            found[f"{kind.lower()}_layer_{batch}"] = ("step(xs)", layer(tf, wrap, kind, batch))
    if mode == "function":
        with tf.Graph().as_default():
            fetch = tf.constant(1.0)
            session = tf.compat.v1.Session()
        found["session_run"] = ("session.run(fetch)", {"session": session, "fetch": fetch})
    return found


def measures(name, mode="function"):
    """What is measured once in a process: first calls, tracing, planning, memory."""
    tf = importlib.import_module(name)
    wrap = wrapper(tf, mode)
    wrap(lambda x: x + 1.0)(tf.constant(1.0))  # what the first function of a process costs
    names = lstm(tf, wrap, 32)
    found = {"first_call": seconds(names["step"], names["xs"])}
    if mode == "function":
        found["trace_node"] = min(trace_node(tf) for _ in range(3))
        found["plan"] = planning(tf, 10_000)
    if name == "tapeflow":
        memory = importlib.import_module("memory")
        found["peak"] = memory.peak_of_live_set(names["step"], names["xs"])
    return found


@functools.cache
def wrapper(tf, mode):
    return functools.partial(tf.function, jit_compile=True) if mode == "xla" else tf.function


def seconds(function, *args):
    begin = time.perf_counter()
    function(*args)
    return time.perf_counter() - begin


def range_sum(tf):
    def f(n):
        x = tf.constant(0)
        for i in tf.range(n):
            x += i
        return x

    return f


def chain(tf):
    return lambda x: tf.reduce_sum(tf.tanh(x * 2 + 1) * tf.exp(-x * x))


@functools.cache
def lstm(tf, wrap, batch):
    """The loss and its gradients of a cell unrolled over all steps; made once, for it takes long."""
    xs, w, b = inputs.lstm(batch)
    w, b = tf.Variable(w), tf.Variable(b)

    @wrap
    def step(xs):
        with tf.GradientTape() as tape:
            h = c = tf.zeros([batch, inputs.LSTM_SIZE])
            for x in tf.unstack(xs):
                z = tf.matmul(tf.concat([x, h], 1), w) + b
                i, j, f, o = tf.split(z, 4, axis=1)
                c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(j)
                h = tf.sigmoid(o) * tf.tanh(c)
            loss = tf.reduce_mean(tf.square(h))
        return [loss, *tape.gradient(loss, [w, b])]

    return {"step": step, "xs": tf.constant(xs)}


def layer(tf, wrap, kind, batch):
    """The sum of all outputs of a recurrent layer, and those of the gradients of its weights."""
    xs = tf.constant(inputs.lstm(batch)[0].transpose(1, 0, 2))
    made = getattr(tf.keras.layers, kind)(inputs.LSTM_SIZE, return_sequences=True)
    made(xs)
    made.set_weights([w * 0 + inputs.LAYER_WEIGHT for w in made.get_weights()])

    @wrap
    def step(xs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(made(xs))
        kernel, recurrent, bias = tape.gradient(loss, made.trainable_variables)
        bias = bias if kind == "LSTM" else bias[0]  # of inputs
        return [loss, *map(tf.reduce_sum, (kernel, recurrent, bias))]

    return {"step": step, "xs": xs}


def trace_node(tf):
    """Seconds that tracing takes for each node of the graph, with those of its gradients."""
    names = lstm.__wrapped__(tf, tf.function, 2)
    begin = time.perf_counter()
    concrete = names["step"].get_concrete_function(names["xs"])
    took = time.perf_counter() - begin
    return took / len(concrete.graph.get_operations())


def planning(tf, nodes):
    """How much longer the first call of a traced function of so many nodes takes than the next."""
    x = tf.constant(inputs.array(1, 4, 4))

    @tf.function
    def f(x):
        y = x
        while len(tf.compat.v1.get_default_graph().get_operations()) < nodes:
            y = tf.tanh(tf.matmul(y, x) + 0.5) * y
        return y

    concrete = f.get_concrete_function(x)
    first = seconds(concrete, x)
    return first - min(seconds(concrete, x) for _ in range(3))
