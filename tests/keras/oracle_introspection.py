"""What programs see of Keras 3's tensors, variables and masks: text that tapeflow and TensorFlow are compared by.

    python oracle_introspection.py tensorflow|tapeflow FILE

writes {name: text} to a file, as JSON.
"""

import importlib
import json
import sys

import numpy as np


def seen(call):
    """The text of a result, or the class of the error."""
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__


def symbolic_tensors(keras, layers):
    """Each line shows the tensors of one call, numbered on through all of them."""
    x = keras.Input((3,))
    y = layers.Dense(4)(x)
    steps = layers.Reshape((2, 2))(y)
    yield "input", x
    yield "attributes", (x.name, repr(x.dtype), repr(x.shape), x.ndim, x.sparse, x.ragged)
    yield "named", keras.Input((3,), name="xx", sparse=True)
    yield "ragged", keras.Input((3,), ragged=True)
    yield "integers", keras.Input((4,), batch_size=2, dtype="int32")
    yield "free", keras.KerasTensor((2,), name="ab", dtype="int32")
    yield "operator", y + 1
    yield "function", keras.ops.relu(y)
    yield "slice", y[:, :2]
    yield "functions", keras.ops.split(y, 2, axis=-1)
    yield "states", layers.LSTM(3, return_state=True)(steps)
    yield "both directions", layers.Bidirectional(layers.GRU(2, return_state=True))(steps)
    yield "unmerged", layers.Bidirectional(layers.GRU(2), merge_mode=None)(steps)
    yield "mask", layers.Embedding(5, 3, mask_zero=True)(x)
    model = keras.Model(x, steps)
    yield "ends", (model.inputs, model.outputs, model.input, model.output)
    yield "model", model(x)
    chain = keras.Sequential([keras.Input((3,)), layers.Dense(2), layers.Dropout(0.5)])
    yield "chain", (chain.inputs, chain.outputs, chain(x))
    yield "history", y._keras_history
    for name in ("BatchNormalization", "Flatten", "Dropout", "Activation"):
        yield name, getattr(layers, name)(*{"Dropout": [0.1], "Activation": ["relu"]}.get(name, []))(y)
    for function in (bool, len, float, int, list, np.array):
        yield function.__name__, seen(lambda function=function: function(y))
    yield "attribute", seen(lambda: y.numpy())


def variables(tf, keras, layers):
    """Weights, and what assignments give."""
    dense = layers.Dense(2, kernel_initializer="ones")
    dense.build((None, 3))
    yield "weight", dense.kernel
    yield "dtype", (repr(dense.kernel.dtype), dense.kernel.dtype == "float32", dense.kernel.dtype == tf.float32)
    yield "shape", repr(dense.kernel.shape)
    yield "plain", repr(tf.Variable([1.0]).dtype)
    variable = keras.Variable([1.0, 2.0], name="v")
    yield "added", repr(variable.assign_add([1.0, 1.0]))
    yield "assigned", repr(variable.assign([5.0, 6.0]))
    yield "subtracted", repr(variable.assign_sub([1.0, 1.0]))
    yield "after", variable
    yield "facts", (variable.regularizer, variable.constraint, variable.overwrite_with_gradient, variable.trainable)
    half = layers.Dense(2, dtype="mixed_float16", kernel_initializer="zeros")
    half.build((None, 1))
    yield "mixed", (half.kernel, half.kernel.dtype)

    class Own(layers.Layer):
        def __init__(self):
            super().__init__()
            self.first = layers.BatchNormalization()
            self.noise = layers.Dropout(0.5)
            self.second = layers.BatchNormalization()
            self.late = self.add_weight(shape=(2,), name="late", trainable=False)
            self.early = self.add_weight(shape=(2,), name="early")
            self.seed = keras.random.SeedGenerator(3)

        def build(self, shape):
            self.first.build(shape)
            self.second.build(shape)
            self.scale = self.add_weight(shape=(shape[-1],), name="scale")

        def call(self, x):
            return self.second(self.noise(self.first(x))) * self.scale

    class Whole(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2)
            self.bias = self.add_weight(shape=(1,), name="bias")

        def call(self, x):
            return self.dense(x) + self.bias

    made = {
        "own": Own(), "whole": Whole(), "spectral": layers.SpectralNormalization(layers.Dense(3)),
        "distributed": layers.TimeDistributed(layers.Dense(3)), "bidirectional": layers.Bidirectional(layers.LSTM(3)),
        "chain": keras.Sequential([layers.Dense(2), layers.Dropout(0.1), layers.BatchNormalization()]),
    }  # fmt: skip
    for name, layer in made.items():
        layer.build((None, 4, 2) if name in ("distributed", "bidirectional") else (None, 3))
        yield f"{name}: built", layer.built
        if name == "whole":
            layer(np.ones((1, 3), "float32"))
        for kind in ("weights", "variables", "trainable_variables", "non_trainable_variables", "trainable_weights",
                     "non_trainable_weights"):  # fmt: skip
            yield f"{name}: {kind}", [weight.path for weight in getattr(layer, kind)]


_ARGUMENTS = {
    "Dense": [2], "EinsumDense": ["abc,cd->abd", (None, 2)], "Dropout": [0.1], "Activation": ["relu"],
    "GroupNormalization": [3], "Permute": [(1, 2)], "Reshape": [(4, 3)], "GaussianNoise": [0.1], "Conv1D": [2, 1],
    "GaussianDropout": [0.1], "AlphaDropout": [0.1], "SpatialDropout1D": [0.1], "LSTM": [2], "Rescaling": [2.0],
    "Lambda": [lambda x: x * 2], "Dot": [1],
}  # fmt: skip
_ONE = (
    "Dense", "EinsumDense", "Dropout", "Activation", "ReLU", "LeakyReLU", "PReLU", "ELU", "BatchNormalization",
    "LayerNormalization", "GroupNormalization", "RMSNormalization", "UnitNormalization", "Permute", "Reshape",
    "Flatten", "GaussianNoise", "GaussianDropout", "AlphaDropout", "SpatialDropout1D", "ActivityRegularization",
    "Conv1D", "MaxPooling1D", "GlobalAveragePooling1D", "Lambda", "LSTM", "Masking", "Identity", "Rescaling",
    "ZeroPadding1D", "Cropping1D", "UpSampling1D",
)  # fmt: skip
_TWO = (
    "Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate", "Dot", "Attention",
    "AdditiveAttention",
)  # fmt: skip


def _masks(tf, outputs):
    masks = [getattr(x, "_keras_mask", None) for x in tf.nest.flatten(outputs)]
    return [None if mask is None else np.array(mask).tolist() for mask in masks]


def masks(tf, keras, layers):
    """The masks that layers give their outputs."""
    ids = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])

    def masked(of):
        return layers.Embedding(5, 3, mask_zero=True)(of)

    for name in _ONE:
        layer = getattr(layers, name)(*_ARGUMENTS.get(name, []))
        yield name, (layer.supports_masking, _masks(tf, layer(masked(ids))))
    whole = {"return_sequences": True, "return_state": True}
    yield "states", _masks(tf, layers.LSTM(2, **whole)(masked(ids)))
    yield "kind of states", type(layers.GRU(2, **whole)(masked(ids))).__name__
    for name in _TWO:
        made = getattr(layers, name)
        arguments = _ARGUMENTS.get(name, [])
        yield name, _masks(tf, made(*arguments)([masked(ids), masked(ids[:, ::-1])]))
        plain = tf.zeros([2, 4, 3])
        yield f"{name}: one", _masks(tf, made(*arguments)([masked(ids), plain]))
    yield "Concatenate: steps", _masks(tf, layers.Concatenate(axis=1)([masked(ids), masked(ids[:, ::-1])]))

    class Own(layers.Layer):
        def call(self, x):
            return x * 2

    yield "own", _masks(tf, Own()(masked(ids)))
    yield "compute_mask", np.array(Own().compute_mask(None, tf.ones([1, 2], tf.bool))).tolist()


def empty_data(tf, keras, layers):
    """Training and evaluation on no samples, and other refusals."""
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    model.compile("sgd", "mse", metrics=["mae"])
    x, y = np.zeros((0, 3), "float32"), np.zeros((0, 2), "float32")
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(2)
    yield "fit", seen(lambda: model.fit(x, y, verbose=0).history)
    yield "evaluate", seen(lambda: model.evaluate(x, y, verbose=0))
    yield "dataset: fit", seen(lambda: model.fit(data, verbose=0).history)
    yield "dataset: evaluate", seen(lambda: model.evaluate(data, verbose=0))
    yield "on_batch", np.array(model.predict_on_batch(x)).shape
    four = np.zeros((4, 3)), np.zeros((4, 2))
    yield "validation", seen(lambda: sorted(model.fit(*four, validation_data=(x, y), verbose=0).history))
    for name, arguments in {"cardinality": (four[0], four[1][:3]), "text": ("a", "b")}.items():
        yield name, seen(lambda arguments=arguments: model.fit(*arguments, verbose=0))


def main(package, file):
    tf = importlib.import_module(package)
    keras = tf.keras
    found = {}
    for group in (symbolic_tensors, variables, masks, empty_data):
        arguments = (keras, keras.layers) if group is symbolic_tensors else (tf, keras, keras.layers)
        keras.backend.clear_session()
        for name, value in group(*arguments):
            found[f"{group.__name__}: {name}"] = str(value)
    with open(file, "w") as out:
        json.dump(found, out, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
