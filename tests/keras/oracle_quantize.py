"""Models quantized to 8 and 4 bits, for tapeflow and TensorFlow.

    python oracle_quantize.py tensorflow|tapeflow FILE

saves to a JSON file for each model its outputs before and after, its weights and gradients of its inputs.
"""

import importlib
import json
import sys
import warnings

import numpy as np


def models(keras):
    """(name, model, inputs)."""
    layers = keras.layers
    rng = np.random.RandomState(0)
    floats = rng.normal(size=(4, 6)).astype("float32")
    steps = rng.normal(size=(2, 3, 6)).astype("float32")
    yield "dense", [keras.Input((6,)), layers.Dense(5, activation="relu"), layers.Dense(3)], floats
    yield "dense of steps", [keras.Input((3, 6)), layers.Dense(5, use_bias=False, kernel_regularizer="l2")], steps
    yield "embedding", [keras.Input((4,), dtype="int32"), layers.Embedding(7, 3)], rng.randint(0, 7, (2, 4))
    for equation, shape in (("ab,bc->ac", 5), ("abc,cd->abd", (None, 5)), ("abc,cde->abde", (None, 2, 5)),
                            ("abc,bcd->ad", 4)):  # fmt: skip
        x = floats if equation.startswith("ab,") else steps
        yield equation, [keras.Input(x.shape[1:]), layers.EinsumDense(equation, shape)], x


def ways(keras):
    """(name, mode, config) of what models are quantized to."""
    config, quantizer = keras.quantizers.Int4QuantizationConfig, keras.quantizers.AbsMaxQuantizer
    yield "int8", "int8", None
    yield "int4", "int4", None
    yield "int4 of one group", None, config(block_size=None)
    yield "int4 of small groups", "int4", config(block_size=4)
    yield "int4 of inputs too", None, config(activation_quantizer=quantizer(axis=-1), block_size=-1)


def main(package, file):
    """Quantize all models and write the answers."""
    tf = importlib.import_module(package)
    warnings.simplefilter("ignore")
    answers = {}
    cases = [(way, name) for way in ways(tf.keras) for name, _, _ in models(tf.keras)]
    for (way, mode, config), name in cases:
        _, parts, x = next(each for each in models(tf.keras) if each[0] == name)
        if way == "int4 of inputs too" and "embedding" in name:
            continue
        name = f"{name}, {way}"
        model = tf.keras.Sequential(parts)
        rng = np.random.RandomState(1)
        model.set_weights([rng.normal(size=w.shape).astype("float32") for w in model.weights])
        before = model.predict(x, verbose=0)
        model.quantize(mode, config=config)
        inputs = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = tf.reduce_sum(tf.sin(model(inputs)))
        gradient = None if x.dtype.kind == "i" else np.asarray(tape.gradient(y, inputs)).tolist()
        values = {w.name.partition(":")[0].split("/")[-1]: np.asarray(w) for w in model.layers[0].weights}
        weights = [[name, value.dtype.name, value.tolist()] for name, value in values.items()]
        answers[name] = {"before": before.tolist(), "after": model.predict(x, verbose=0).tolist(),
                         "weights": sorted(weights, key=str), "gradient": gradient,
                         "policies": [layer.dtype_policy.name for layer in model.layers]}  # fmt: skip
    with open(file, "w") as f:
        json.dump(answers, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
