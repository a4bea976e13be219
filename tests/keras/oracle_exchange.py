"""Models of many kinds that tapeflow and TensorFlow save, and load from each other.

    python oracle_exchange.py PACKAGE save FOLDER
    python oracle_exchange.py PACKAGE load FOLDER OTHER

The first saves each model to FOLDER as a `.keras` file, with its config and its outputs; the second loads the files of
FOLDER and writes to OTHER the outputs, the configs and what was refused.
"""

import importlib
import json
import pathlib
import pickle
import sys
import warnings

import numpy as np

package = importlib.import_module(sys.argv[1])
keras = package.keras
layers = keras.layers
RNG = np.random.RandomState(0)


def floats(*shape):
    return RNG.normal(size=shape).astype("float32")


@keras.utils.register_keras_serializable("exchange")
class Scale(layers.Layer):
    """A registered layer with a weight and an initializer in its config."""

    def __init__(self, initializer="ones", **kwargs):
        super().__init__(**kwargs)
        self.initializer = keras.initializers.get(initializer)

    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer=self.initializer)
        self.built = True

    def call(self, inputs):
        return inputs * self.scale

    def get_config(self):
        return {**super().get_config(), "initializer": keras.initializers.serialize(self.initializer)}


@keras.utils.register_keras_serializable("exchange")
class Subclassed(keras.Model):
    """A registered model with layers as attributes and in a list."""

    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.first = layers.Dense(units, activation="tanh")
        self.rest = [layers.Dense(units), layers.Dense(2)]

    def call(self, inputs):
        x = self.first(inputs)
        for layer in self.rest:
            x = layer(x)
        return x

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@keras.utils.register_keras_serializable("exchange")
def halved(x):
    """A registered function."""
    return x * 0.5


def cnn():
    """Convolutions, pooling and batch normalization."""
    return keras.Sequential([
        keras.Input((8, 8, 3)), layers.Conv2D(4, 3, padding="same", use_bias=False), layers.BatchNormalization(),
        layers.ReLU(6.0), layers.MaxPooling2D(), layers.SeparableConv2D(5, 3, activation="relu"),
        layers.Conv2DTranspose(3, 2, strides=2), layers.GlobalAveragePooling2D(), layers.Dropout(0.3),
        layers.Dense(2, activation="softmax", kernel_regularizer=keras.regularizers.L1L2(0.1, 0.2),
                     bias_constraint="non_neg", kernel_initializer=keras.initializers.HeNormal(seed=3)),
    ]), floats(2, 8, 8, 3)  # fmt: skip


def masked_lstm():
    """Masks through recurrent layers and wrappers."""
    return keras.Sequential([
        keras.Input((6,), dtype="int32"), layers.Embedding(9, 4, mask_zero=True),
        layers.Bidirectional(layers.LSTM(3, return_sequences=True)), layers.GRU(4, return_sequences=True),
        layers.RNN([layers.LSTMCell(3), layers.GRUCell(2, reset_after=False)]),
        layers.Dense(1),
    ]), RNG.randint(0, 9, (3, 6))  # fmt: skip


def transformer():
    """Attention, layer normalization and residual connections."""
    tokens = keras.Input((5,), dtype="int32", name="tokens")
    x = layers.Embedding(11, 8)(tokens)
    y = layers.MultiHeadAttention(2, 4, dropout=0.1)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization(epsilon=1e-6)(x + y)
    y = layers.Dense(8)(layers.Dense(16, activation="gelu")(x))
    x = layers.LayerNormalization()(layers.Add()([x, y]))
    x = layers.GroupQueryAttention(4, 4, 2)(x, x)
    return keras.Model(tokens, layers.Dense(3)(layers.GlobalMaxPooling1D()(x))), RNG.randint(0, 11, (2, 5))


def text():
    """A vocabulary, and strings as inputs."""
    vectorize = layers.TextVectorization(max_tokens=10, output_sequence_length=4, ngrams=2)
    vectorize.adapt(["a cat sat", "a dog ran", "the cat ran"])
    inputs = keras.Input((), dtype="string")
    outputs = layers.Dense(2)(layers.Embedding(10, 3)(vectorize(inputs)))
    return keras.Model(inputs, outputs), np.array(["a cat ran", "the bird sat"])


def several():
    """Several inputs and outputs, as dicts and lists."""
    a, b = keras.Input((3,), name="a"), keras.Input((4,), name="b")
    x = layers.Concatenate(name="both")([layers.Dense(2)(a), b])
    outputs = {"sum": layers.Dense(1, name="sum")(x), "parts": [layers.Dense(2)(x), layers.Multiply()([a, a])]}
    return keras.Model({"a": a, "b": b}, outputs), {"a": floats(2, 3), "b": floats(2, 4)}


def nested():
    """Models in models, and wrappers."""
    inner = keras.Sequential([keras.Input((3,)), layers.Dense(4), layers.LeakyReLU()], name="inner")
    x = keras.Input((5, 3))
    y = layers.TimeDistributed(inner)(x)
    z = keras.Model(x, layers.Flatten()(y), name="outer")
    again = keras.Input((5, 3))
    return keras.Model(again, layers.Dense(2)(z(again))), floats(2, 5, 3)


def subclassed():
    """A registered model."""
    model, x = Subclassed(3), floats(2, 4)
    model(x)
    return model, x


def shared():
    """One layer at several places, and operators on symbolic tensors."""
    dense = layers.Dense(3, name="shared")
    a, b = keras.Input((4,)), keras.Input((4,))
    x, y = dense(a), dense(b)
    z = keras.ops.concatenate([x - y, keras.ops.sin(x) * 2.0, x[:, :1]], axis=-1)
    return keras.Model([a, b], layers.Dense(1)(keras.ops.reshape(z, (-1, 7)))), [floats(2, 4), floats(2, 4)]


def custom():
    """A registered layer and function."""
    return keras.Sequential([
        keras.Input((3,)), Scale(keras.initializers.RandomUniform(0.5, 2.0)), layers.Activation(halved),
        layers.Dense(2),
    ]), floats(2, 3)  # fmt: skip


def mixed():
    """Half precision, and other dtypes of some layers."""
    return keras.Sequential([
        keras.Input((3,)), layers.Dense(4, dtype="mixed_float16"), layers.Rescaling(0.5),
        layers.Dense(2, dtype="float64"),
    ]), floats(2, 3)  # fmt: skip


def preprocessing():
    """Tables and statistics."""
    normalize = layers.Normalization()
    normalize.adapt(floats(20, 2))
    number, word = keras.Input((2,)), keras.Input((1,), dtype="string")
    lookup = layers.StringLookup(vocabulary=["x", "y", "z"], output_mode="one_hot")
    buckets = layers.Discretization(bin_boundaries=[-0.5, 0.5], output_mode="multi_hot")
    x = layers.Concatenate()([normalize(number), lookup(word), buckets(number)])
    return keras.Model([number, word], layers.Dense(2)(x)), [floats(2, 2), np.array([["x"], ["w"]])]


def compiled():
    """An optimizer with slots, losses and metrics."""
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="relu"), layers.Dense(1)])
    model.compile(keras.optimizers.AdamW(keras.optimizers.schedules.CosineDecay(0.1, 10)),
                  keras.losses.Huber(0.5), metrics=[keras.metrics.MeanAbsoluteError(), "mse"])  # fmt: skip
    x = floats(8, 3)
    model.fit(x, x[:, :1], epochs=2, verbose=0)
    return model, x


MODELS = (cnn, masked_lstm, transformer, text, several, nested, subclassed, shared, custom, mixed, preprocessing,
          compiled)  # fmt: skip


def outputs(model, x):
    """The outputs of a model as lists of numbers."""
    x = package.nest.map_structure(package.constant, x)
    return [np.asarray(y, "float64").tolist() for y in package.nest.flatten(model(x))]


def lambdas(folder):
    """A model with a lambda, which is saved where the package saves such."""
    model = keras.Sequential([keras.Input((3,)), layers.Lambda(lambda x: x * 2)])
    model.save(folder / "lambdas.keras")


def save(folder):
    """Save all models."""
    found = {}
    for make in MODELS:
        keras.utils.set_random_seed(1)
        keras.backend.clear_session()
        model, x = make()
        if model.weights:
            model.set_weights([w if w.dtype.kind in "OSU" else w + RNG.normal(size=w.shape) * 0.1
                               for w in model.get_weights()] if make not in (compiled, preprocessing)
                              else model.get_weights())  # fmt: skip
        model.save(folder / f"{make.__name__}.keras")
        (folder / f"{make.__name__}.pickle").write_bytes(pickle.dumps(x))
        found[make.__name__] = {"outputs": outputs(model, x), "config": plain(model.get_config()),
                                "json": json.loads(model.to_json())}  # fmt: skip
    (folder / "answers.json").write_text(json.dumps(found))
    try:
        lambdas(folder)
    except Exception as error:
        print("lambdas:", type(error).__name__)


def plain(value):
    """A config without tuples."""
    return json.loads(json.dumps(value, default=str))


def load(folder, other):
    """Load all models of a folder."""
    found = {}
    for make in MODELS:
        name = make.__name__
        try:
            model = keras.models.load_model(folder / f"{name}.keras")
            x = pickle.loads((folder / f"{name}.pickle").read_bytes())
            found[name] = {"outputs": outputs(model, x), "config": plain(model.get_config())}
            if name == "compiled":
                found[name]["loss"] = model.evaluate(x, x[:, :1], verbose=0, return_dict=True)
                model.fit(x, x[:, :1], verbose=0, shuffle=False)
                found[name]["after"] = outputs(model, x)
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"[:2000]
    try:
        keras.models.load_model(folder / "lambdas.keras")
        found["lambdas"] = "loaded"
    except Exception as error:
        found["lambdas"] = type(error).__name__
    other.write_text(json.dumps(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[2] == "save":
        save(pathlib.Path(sys.argv[3]))
    else:
        load(pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4]))
