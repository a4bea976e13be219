"""Updates by optimizers in TensorFlow's API, for tapeflow and TensorFlow alike."""

import importlib
import os

import inputs

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def package(name, mode=None):
    return name


def cases(name, mode="eager"):
    tf = importlib.import_module(name)
    compiled = tf.function if mode == "function" else lambda f: f
    found = {}
    for size, (start, gradient) in inputs.many().items():
        for key, make in DENSE.items():
            variables = [tf.Variable(start) for _ in range(inputs.MANY)]
            gradients = [tf.constant(gradient) for _ in variables]
            step = compiled(update(make(tf.keras.optimizers), variables, gradients))
            found[f"{key}_{size}"] = ("step()\nlast", {"step": step, "last": variables[-1]})
    table, rows = inputs.rows()
    for key, make in SPARSE.items():
        variable, optimizer = tf.Variable(table), make(tf.keras.optimizers)
        step = compiled(train(tf, optimizer, variable, tf.constant(rows)))
        found[key] = ("step()", {"step": step})
    return found


def update(optimizer, variables, gradients):
    optimizer.build(variables)

    def step():
        optimizer.apply_gradients(zip(gradients, variables))

    return step


def train(tf, optimizer, table, rows):
    optimizer.build([table])

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.gather(table, rows)))
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])
        return loss

    return step


DENSE = {
    "sgd": lambda o: o.SGD(1e-3),
    "momentum": lambda o: o.SGD(1e-3, momentum=0.9),
    "adam": lambda o: o.Adam(1e-3),
    "rmsprop": lambda o: o.RMSprop(1e-3),
}
SPARSE = {
    "sparse_sgd": lambda o: o.SGD(1e-3),
    "sparse_adagrad": lambda o: o.Adagrad(1e-3),
    "sparse_adam": lambda o: o.Adam(1e-3),
}
