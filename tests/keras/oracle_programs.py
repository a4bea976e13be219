"""Programs whose printed text tapeflow and TensorFlow are compared by.

    python oracle_programs.py tensorflow|tapeflow FILE

runs all of them, and saves what each has printed, by its name, to a file. `KERAS_2` says which Keras it is.
"""

import contextlib
import io
import json
import os
import sys

import numpy as np

KERAS_2 = os.environ.get("TF_USE_LEGACY_KERAS") == "1"


def set_weights(model):
    for i, weight in enumerate(model.weights):
        size = int(np.prod(weight.shape))
        weight.assign((np.sin(np.arange(size) * 0.7 + i) * 0.3).reshape(tuple(weight.shape)).astype("float32"))


def numbers(*shape):
    return np.sin(np.arange(np.prod(shape)) * 1.3).reshape(shape).astype("float32")


def show(value):
    if isinstance(value, dict):
        for name in sorted(value):
            print(name, end=" ")
            show(value[name])
    elif isinstance(value, (list, tuple)):
        for each in value:
            show(each)
    else:
        array = np.asarray(value)
        print(array.dtype, array.shape, [f"{x + 0.0:.2f}" for x in array.astype("float64").ravel()[:8]])


def operators(tf, keras):
    x, y = keras.Input((3,)), keras.Input((3,))
    for result in (
        x + 1, 1 + x, x * 2 - 1, -x, abs(x), x / 2, x // 2, x % 2, x**2, 2 - x, 2 / x, 2**x, x[:, 1:], x[..., None],
        (x + 1) * (y + 2), x @ np.ones((3, 2), "float32"), x + y, x - y,
    ):  # fmt: skip
        model = keras.Model([x, y], result)
        print([layer.name for layer in model.layers], [type(layer).__name__ for layer in model.layers])
        show(model.predict([numbers(2, 3), numbers(2, 3) + 1], verbose=0))
        model.summary(line_length=100)


def summaries(tf, keras):
    layers = keras.layers
    model = keras.Sequential(name="net")
    for layer in (
        keras.Input((28, 28, 1)), layers.Conv2D(8, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
        layers.Dense(10),
    ):  # fmt: skip
        model.add(layer)
    model.summary(line_length=78)
    model.summary(line_length=78, show_trainable=True)
    x = keras.Input((28, 28, 1))
    inner = model(x)
    model.layers[0].trainable = False
    outer = keras.Model(x, [inner, layers.Dense(2, name="a_rather_long_name_of_a_layer_for_one_column")(inner)])
    outer.summary(line_length=78, expand_nested=True)
    outer.compile("sgd", ["mse", "mse"])
    outer.fit(np.zeros((2, 28, 28, 1)), [np.ones((2, 10)), np.ones((2, 2))], verbose=0)
    outer.summary(line_length=78)


def losses_of_outputs(tf, keras):
    layers = keras.layers
    x = keras.Input((4,), name="x")
    first, second = layers.Dense(1, name="price")(x), layers.Dense(3, activation="softmax", name="kind")(x)
    model = keras.Model(x, [first, second])
    set_weights(model)
    model.compile(
        "sgd", {"price": "mse", "kind": "sparse_categorical_crossentropy"}, loss_weights={"price": 0.5, "kind": 2.0},
        metrics={"price": ["mae"], "kind": ["accuracy"]},
    )  # fmt: skip
    data = numbers(24, 4), {"price": numbers(24, 1), "kind": np.arange(24) % 3}
    history = model.fit(*data, epochs=2, batch_size=8, shuffle=False, verbose=0, validation_data=data)
    print(list(history.history))
    show(history.history)
    show(model.evaluate(*data, verbose=0))
    show(model.evaluate(*data, verbose=0, return_dict=True))


def own_training(tf, keras):
    class Model(keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return self.compute_metrics(x, y, y_pred, None)

    x = keras.Input((4,))
    model = Model(x, keras.layers.Dense(2, kernel_regularizer="l2")(x))
    set_weights(model)
    model.compile("sgd", "mse", metrics=["mae"])
    show(model.fit(numbers(32, 4), numbers(32, 2), epochs=2, batch_size=8, shuffle=False, verbose=0).history)
    show(model.evaluate(numbers(32, 4), numbers(32, 2), verbose=0))


def low_rank(tf, keras):
    layers = keras.layers
    for layer, shape in () if KERAS_2 else (
        (layers.Conv1D(3, 2, lora_rank=2, name="l"), (2, 4, 5)),
        (layers.Conv2D(4, 2, groups=2, lora_rank=2, lora_alpha=3, name="l"), (2, 4, 4, 6)),
        (layers.Dense(3, lora_rank=2, name="l"), (2, 4)),
    ):  # fmt: skip
        layer.build(shape)
        print([(w.name, tuple(w.shape), w.trainable) for w in layer.weights], layer.count_params())
        set_weights(layer)
        show([layer(numbers(*shape)), layer.kernel])


def without_state(tf, keras):
    if KERAS_2:
        return
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.BatchNormalization()])
    set_weights(model)
    values = [tf.constant(v.numpy() * 2) for v in model.trainable_variables]
    others = [v.numpy() + 1 for v in model.non_trainable_variables]
    show(model.stateless_call(values, others, numbers(4, 3), training=True))
    with tf.GradientTape() as tape:
        tape.watch(values)
        outputs, _ = model.stateless_call(values, others, numbers(4, 3), training=False)
        loss = tf.reduce_sum(outputs**2)
    show(tape.gradient(loss, values))
    show(model.weights)
    variable = keras.Variable([1.0, 2.0], name="v")
    with keras.StatelessScope(state_mapping=[(variable, tf.constant([5.0, 6.0]))]) as scope:
        show(variable + 0.0)
        variable.assign([7.0, 8.0])
        show(variable.value)
    show([variable, scope.get_current_value(variable)])


def feature_space(tf, keras):
    if KERAS_2:
        return
    space = keras.utils.FeatureSpace
    table = {
        "f": np.array([1.0, 2.0, 3.0, 4.0], "float32"), "n": np.array([0.0, 1.0, 2.0, 5.0], "float32"),
        "b": np.array([0.1, 0.2, 0.3, 0.9], "float32"), "i": np.array([10, 20, 10, 30]),
        "s": np.array(["a", "b", "a", "c"]), "h": np.array(["x", "y", "z", "x"]),
    }  # fmt: skip
    for mode in ("concat", "dict"):
        features = space(
            {"f": space.float_rescaled(2.0, 1.0), "n": "float_normalized", "b": space.float_discretized(num_bins=3),
             "i": "integer_categorical", "s": space.string_categorical(num_oov_indices=2), "h": "string_hashed"},
            crosses=[("i", "s"), space.cross(("s", "h"), 5)], output_mode=mode, hashing_dim=6,
        )  # fmt: skip
        rows = tf.data.Dataset.from_tensor_slices(table)
        features.adapt(rows)
        show(features(table))
        show(features({name: column[0] for name, column in table.items()}))
        for batch in rows.batch(2).map(features):
            show(batch)


PROGRAMS = (
    operators, summaries, losses_of_outputs, own_training, low_rank, without_state, feature_space,
)  # fmt: skip


def main(package, file):
    if package == "tapeflow":
        import tapeflow as tf
    else:
        import tensorflow as tf
    printed = {}
    for program in PROGRAMS:
        tf.keras.backend.clear_session()
        tf.random.set_seed(0)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            program(tf, tf.keras)
        printed[program.__name__] = [line.rstrip() for line in out.getvalue().splitlines()]
    with open(file, "w") as saved:
        json.dump(printed, saved)


if __name__ == "__main__":
    main(*sys.argv[1:])
