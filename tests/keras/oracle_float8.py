"""Models trained with floats of 8 bits, for tapeflow and TensorFlow.

    python oracle_float8.py tensorflow|tapeflow FOLDER OTHER

writes losses, weights and predictions to FOLDER/answers.json, models to FOLDER, and reads those that are in OTHER.
"""

import importlib
import json
import pathlib
import sys
import warnings

import numpy as np


def models(keras):
    """(name, layers, inputs, whether they are of floats of 8 bits already)."""
    layers = keras.layers
    x = np.random.RandomState(0).normal(size=(16, 6)).astype("float32")
    yield "dense", [keras.Input((6,)), layers.Dense(5, activation="relu"), layers.Dense(3)], x, False
    einsum = layers.EinsumDense("abc,cd->abd", (2, 4), bias_axes="d", activation="tanh")
    yield ("einsum", [keras.Input((2, 3)), einsum, layers.Flatten(), layers.Dense(3, use_bias=False)],
           x.reshape(16, 2, 3), False)  # fmt: skip
    short = keras.dtype_policies.QuantizedFloat8DTypePolicy("float8", "float32", amax_history_length=5)
    yield ("policy", [keras.Input((6,)), layers.Dense(5, dtype="float8_from_float32"), layers.Dense(3, dtype=short)],
           x, True)  # fmt: skip


def optimizers(keras):
    """(name, optimizer) of all ways to train."""
    sgd = keras.optimizers.SGD
    yield "sgd", sgd(0.1)
    yield "adam", keras.optimizers.Adam(0.01)
    yield "sums", sgd(0.1, gradient_accumulation_steps=2)
    yield "scaled", keras.optimizers.LossScaleOptimizer(sgd(0.1), initial_scale=64.0)


def first_weights(model):
    """The weights of a model: random ones, scales of 1, histories of 0."""
    rng = np.random.RandomState(1)
    for w in model.weights:
        if w.name in ("kernel", "bias"):
            yield rng.normal(size=w.shape).astype("float32")
        else:
            yield np.full(w.shape, float("scale" in w.name), "float32")


def trained(keras, model, optimizer, x, y):
    """The answers for a model after steps of training."""
    model.set_weights(list(first_weights(model)))
    model.compile(optimizer, "mse")
    return {
        "losses": [float(model.train_on_batch(x, y)) for _ in range(5)],
        "names": [w.name for w in model.weights],
        "kinds": [layer.dtype_policy.name for layer in model.layers],
        "weights": [np.asarray(w.numpy()).ravel()[:12].tolist() for w in model.weights],
        "prediction": model.predict(x, verbose=0).tolist(),
        "variables": [v.name for v in model.optimizer.variables],
    }


def main(package, folder, other):
    """Train all models and write the answers."""
    keras = importlib.import_module(package).keras
    warnings.simplefilter("ignore")
    folder, other = pathlib.Path(folder), pathlib.Path(other)
    y = np.random.RandomState(2).normal(size=(16, 3)).astype("float32")
    answers = {}
    for name, parts, x, quantized in models(keras):
        model = keras.Sequential(parts)
        if not quantized:
            model.quantize("float8")
        for way, optimizer in optimizers(keras):
            answers[f"{name}, {way}"] = trained(keras, keras.models.clone_model(model), optimizer, x, y)
        answers[name] = trained(keras, model, keras.optimizers.SGD(0.1), x, y)
        model.save(folder / f"{name}.keras")
        for place in (folder, other):
            if (place / f"{name}.keras").exists():
                loaded = keras.models.load_model(place / f"{name}.keras")
                answers[name][f"loaded from {place.name}"] = loaded.predict(x, verbose=0).tolist()
                answers[name][f"trained from {place.name}"] = float(loaded.train_on_batch(x, y))
    (folder / "answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
