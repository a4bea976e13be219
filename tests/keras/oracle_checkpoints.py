"""Checkpoints of models and optimizers of Keras 3 that tapeflow and TensorFlow write, and read from each other.

    python oracle_checkpoints.py PACKAGE save FOLDER
    python oracle_checkpoints.py PACKAGE load FOLDER OTHER

The first trains each pair of a model and an optimizer for two steps and saves a checkpoint, and to `answers.json` its
keys, the variables and what a further step makes of them; the second restores each checkpoint, into objects that have
variables already and into new ones, and writes the same to OTHER.
"""

import importlib
import json
import pathlib
import sys
import warnings

import numpy as np

tf = importlib.import_module(sys.argv[1])
keras = tf.keras
layers, optimizers = keras.layers, keras.optimizers
warnings.simplefilter("ignore")


class Subclassed(keras.Model):
    """A model with layers as attributes, and a layer with weights of its own."""

    def __init__(self):
        super().__init__()
        self.first = layers.Dense(3, use_bias=False, name="one")
        self.normed = layers.BatchNormalization()
        self.last = Scaled()

    def call(self, x, training=False):
        return self.last(self.normed(self.first(x), training=training))


class Scaled(layers.Layer):
    """A weight whose name is not that of its attribute."""

    def build(self, shape):
        self.w = self.add_weight(name="factors", shape=(shape[-1],), initializer="ones")

    def call(self, x):
        return x * self.w


def sequential():
    """Layers with and without weights."""
    return keras.Sequential([
        keras.Input((4,)), layers.Dense(3, activation="tanh"), layers.Dropout(0.0), layers.Dense(2),
    ])  # fmt: skip


def functional():
    """Branches that meet."""
    x = keras.Input((4,))
    a, b = layers.BatchNormalization()(layers.Dense(3, use_bias=False)(x)), layers.Dense(3, activation="tanh")(x)
    return keras.Model(x, layers.Dense(2)(layers.Add()([a, b])))


def nested():
    """A Sequential in a functional model."""
    x = keras.Input((4,))
    return keras.Model(x, sequential()(layers.Dense(4)(x)))


def recurrent():
    """Layers in layers."""
    return keras.Sequential([
        keras.Input((4,)), layers.Reshape((4, 1)), layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
        layers.TimeDistributed(layers.Dense(4)), layers.GRU(2),
    ])  # fmt: skip


def attention():
    """Attention, convolution and normalization of sequences."""
    x = keras.Input((4,))
    y = layers.Reshape((4, 1))(x)
    y = layers.LayerNormalization()(layers.MultiHeadAttention(2, 3)(y, y))
    return keras.Model(x, layers.Flatten()(layers.SeparableConv1D(3, 2)(layers.Conv1D(2, 2)(y))))


MODELS = {
    "sequential": sequential, "functional": functional, "subclassed": Subclassed, "nested": nested,
    "recurrent": recurrent, "attention": attention,
}  # fmt: skip
OPTIMIZERS = {
    "SGD": lambda: optimizers.SGD(0.1),
    "momentum": lambda: optimizers.SGD(0.1, momentum=0.9),
    "Adam": lambda: optimizers.Adam(0.05),
    "AMSGrad": lambda: optimizers.Adam(0.05, amsgrad=True),
    "average": lambda: optimizers.Adam(0.05, use_ema=True, ema_overwrite_frequency=2),
    "accumulation": lambda: optimizers.Adam(0.05, gradient_accumulation_steps=2, use_ema=True),
    "schedule": lambda: optimizers.Adam(optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)),
    "RMSprop": lambda: optimizers.RMSprop(0.05),
    "centered": lambda: optimizers.RMSprop(0.05, momentum=0.5, centered=True),
    "Adagrad": lambda: optimizers.Adagrad(0.05),
    "AdamW": lambda: optimizers.AdamW(0.05),
    "Adadelta": lambda: optimizers.Adadelta(0.5),
    "Adamax": lambda: optimizers.Adamax(0.05),
    "Nadam": lambda: optimizers.Nadam(0.05),
    "Ftrl": lambda: optimizers.Ftrl(0.05),
    "Lion": lambda: optimizers.Lion(0.05),
    "Lamb": lambda: optimizers.Lamb(0.05),
    "Adafactor": lambda: optimizers.Adafactor(0.05),
    "Muon": lambda: optimizers.Muon(0.05),
    "ScheduleFreeAdamW": lambda: optimizers.ScheduleFreeAdamW(0.05),
    "scaled": lambda: optimizers.LossScaleOptimizer(optimizers.SGD(0.1, momentum=0.9)),
}
PAIRS = [("sequential", name) for name in OPTIMIZERS] + [(name, "Adam") for name in MODELS if name != "sequential"]
X = np.random.RandomState(0).normal(size=(5, 4)).astype("float32")


def made(pair):
    """A new model, which has its weights, and a new optimizer."""
    keras.backend.clear_session()
    model = MODELS[pair[0]]()
    model(X)
    for number, variable in enumerate(model.trainable_variables):
        rng = np.random.RandomState(number)
        variable.assign(rng.normal(size=variable.shape).astype("float32") * 0.3)
    return model, OPTIMIZERS[pair[1]]()


def step(model, optimizer):
    """One step of training."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(X, training=True) - 1.0))
        scaled = optimizer.scale_loss(loss)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(scaled, variables), variables))


def state(model, optimizer):
    """Paths and values of all weights and variables of the optimizer, in order."""
    variables = [*model.weights, *optimizer.variables]
    return [[v.path, np.asarray(v.numpy(), "float64").ravel().tolist()] for v in variables]


def answers(model, optimizer):
    """The state now, and after a further step."""
    before = state(model, optimizer)
    step(model, optimizer)
    return {"state": before, "after": state(model, optimizer)}


def save(folder):
    """Writes all checkpoints, and answers.json."""
    found = {}
    for pair in PAIRS:
        model, optimizer = made(pair)
        step(model, optimizer)
        step(model, optimizer)
        name = "-".join(pair)
        path = tf.train.Checkpoint(model=model, optimizer=optimizer).write(str(folder / name))
        keys = [[key, list(shape)] for key, shape in tf.train.list_variables(path)]
        found[name] = {"keys": sorted(keys), **answers(model, optimizer)}
    (folder / "answers.json").write_text(json.dumps(found))


def load(folder, other):
    """Restores all checkpoints in three ways: into what is built, before the first step, and of compiled models."""
    found = {}
    for pair in PAIRS:
        name = "-".join(pair)
        path = str(folder / name)
        model, optimizer = made(pair)
        optimizer.build(model.trainable_variables)
        tf.train.Checkpoint(model=model, optimizer=optimizer).read(path).assert_consumed()
        found[name] = answers(model, optimizer)
        model, optimizer = made(pair)
        status = tf.train.Checkpoint(model=model, optimizer=optimizer).read(path)
        status.expect_partial()
        step(model, optimizer)
        status.assert_consumed()
        found[name]["new"] = state(model, optimizer)
    pathlib.Path(other).write_text(json.dumps(found))


if sys.argv[2] == "save":
    save(pathlib.Path(sys.argv[3]))
else:
    load(pathlib.Path(sys.argv[3]), sys.argv[4])
