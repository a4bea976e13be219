"""Every layer, optimizer, loss and metric in a model of its own, in files of each format.

    python oracle_files.py PACKAGE save FOLDER [NAMES]
    python oracle_files.py PACKAGE load FOLDER OTHER [NAMES]

The first writes the models to FOLDER, and what they compute and how their training goes on; the second reads the files
of FOLDER and writes the same of what was read to OTHER. With TF_USE_LEGACY_KERAS=1 the models are those of Keras 2.
NAMES is a regular expression of the models' names.
"""

import importlib
import inspect
import json
import os
import pathlib
import re
import shutil
import sys
import warnings

import numpy as np
from oracle_layer_arguments import LAYERS, inputs, made
from oracle_losses import ARGUMENTS

tf = importlib.import_module(sys.argv[1])
keras = tf.keras
layers = keras.layers
SLOW_TO_TRACE = sys.argv[1] == "tensorflow"  # it traces and compiles a step for longer than the training takes
KERAS_2 = os.environ.get("TF_USE_LEGACY_KERAS") == "1"
WHOLE = ("keras", "h5", *["tf"] * KERAS_2)  # what also has what training needs; "tf" is a SavedModel of a model
# Files of functions, and of weights; the last two only Keras 2 writes.
PARTS = ("saved_model", "weights.h5", *["checkpoint", "hdf5"] * KERAS_2)
WEIGHTS = ("weights.h5", "checkpoint", "hdf5")
ENDINGS = ("saved_model", *WEIGHTS, "keras", "h5", "tf")

# Arguments and inputs of layers that `oracle_layer_arguments` does not have.
WORDS, NUMBERS = {"vocabulary": ["a", "cat", "dog"]}, {"vocabulary": [3, 1, 7]}
CELLS = {"cell": {"layer": "StackedRNNCells", "args": {"cells": [
    {"layer": "GRUCell", "args": {"units": 3}}, {"layer": "SimpleRNNCell", "args": {"units": 2}}]}}}  # fmt: skip
MORE = {
    "MultiHeadAttention": (LAYERS["MultiHeadAttention"][0], "pair"),
    "GroupQueryAttention": (LAYERS["GroupQueryAttention"][0], "pair"),
    "CategoryEncoding": ({"num_tokens": 9, "output_mode": "count"}, "ids"),
    "Discretization": ({"bin_boundaries": [-0.5, 0.0, 0.7]}, "matrix"),
    "Hashing": ({"num_bins": 5}, "words"),
    "HashedCrossing": ({"num_bins": 5}, "crossed"),
    "StringLookup": (WORDS | {"num_oov_indices": 2}, "words"),
    "IntegerLookup": (NUMBERS | {"output_mode": "multi_hot"}, "ids"),
    "TextVectorization": (WORDS | {"output_sequence_length": 4}, "texts"),
    "Normalization": ({"mean": 0.5, "variance": 2.0}, "matrix"),
    "MelSpectrogram": ({"fft_length": 256, "num_mel_bins": 8}, "sound"),
    "STFTSpectrogram": ({"fft_length": 256, "frame_length": 128, "frame_step": 64, "window": None}, "channels"),
    "ReversibleEmbedding": ({"input_dim": 9, "output_dim": 4}, "ids"),
    "ConvLSTM3D": ({"filters": 2, "kernel_size": 2}, "films"),
    "StackedRNNCells": (CELLS, "steps"),
    "Resizing": ({"height": 4, "width": 7}, "pictures"),
    "CenterCrop": ({"height": 4, "width": 3}, "pictures"),
    "RandomCrop": ({"height": 4, "width": 3}, "pictures"),
    "RandomHeight": ({"factor": 0.2}, "pictures"),
    "RandomWidth": ({"factor": 0.2}, "pictures"),
    "ThresholdedReLU": ({"theta": 0.3}, "matrix"),
    "RandomBrightness": ({"factor": 0.2}, "pictures"),
    "RandomContrast": ({"factor": 0.2}, "pictures"),
    "RandomHue": ({"factor": 0.2}, "pictures"),
    "RandomSaturation": ({"factor": 0.2}, "pictures"),
    "RandomSharpness": ({"factor": 0.2}, "pictures"),
    "RandomColorDegeneration": ({"factor": 0.2}, "pictures"),
    "RandomPosterization": ({"factor": 4}, "pictures"),
    "RandomRotation": ({"factor": 0.2}, "pictures"),
    "RandomTranslation": ({"height_factor": 0.2, "width_factor": 0.2}, "pictures"),
    "RandomZoom": ({"height_factor": 0.2}, "pictures"),
    "Pipeline": ({"layers": [{"layer": "Rescaling", "args": {"scale": 0.5}}, {"layer": "ReLU", "args": {}}]}, "steps"),
}
for _n, _kind in ((1, "steps"), (2, "image"), (3, "volume")):
    MORE |= {f"Adaptive{kind}Pooling{_n}D": ({"output_size": 2}, _kind) for kind in ("Average", "Max")}
_PICTURES = (
    "AutoContrast AugMix ContrastLimitedAdaptiveHistogramEqualization Equalization RandAugment RandomColorJitter "
    "RandomElasticTransform RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomInvert RandomPerspective "
    "RandomShear Solarization"
)
MORE |= {name: ({}, "pictures") for name in _PICTURES.split()}
# Layers whose state is learned: what they are adapted to, and their inputs.
LEARNED = {
    "Normalization": ("matrix", {}), "Discretization": ("matrix", {"num_bins": 3}), "StringLookup": ("words", {}),
    "IntegerLookup": ("ids", {}), "TextVectorization": ("texts", {"output_mode": "tf_idf"}),
}  # fmt: skip
# Classes without a file of their own, and why.
NO_MODEL = {
    "Layer": "the base class", "Wrapper": "the base class of wrappers", "InputSpec": "no layer",
    "InputLayer": "in every model", "Lambda": "code; test_saving.py", "TFSMLayer": "a SavedModel",
    "JaxLayer": "of other packages", "FlaxLayer": "of other packages", "TorchModuleWrapper": "of other packages",
    "MaxNumBoundingBoxes": "takes boxes", "CutMix": "takes labels", "MixUp": "takes labels",
    "Loss": "the base class", "Metric": "the base class", "MeanMetricWrapper": "wraps a function of the program",
    "Optimizer": "the base class", "OptimizerMap": "the base class of LossScaleOptimizer", "CTC": "takes sequences",
    "Reduction": "no loss", "LossFunctionWrapper": "as MeanMetricWrapper", "MetricByShape": "a base class",
    "Mean": "takes no labels", "Sum": "takes no labels", "Circle": "takes rows of unit length",
    "MultiOptimizer": "takes a model's layers",
}  # fmt: skip


# Functions of a layer's output that models are made with; the second half only in Keras 2.
OPERATIONS = {
    "sum": lambda x: x * 2.0 + 1.0, "difference": lambda x: 1.0 - x, "slice": lambda x: x[:, 1:] + x[:, :2],
    "twice": lambda x: x * x - x,
}  # fmt: skip
OF_TENSORFLOW = {
    "concat": lambda x: tf.concat([x, tf.nn.relu(x) - x], 1), "stack": lambda x: tf.stack([x, x], 1)[:, 0],
    "mean": lambda x: tf.reduce_mean(x, axis=1, keepdims=True) ** 2.0,
}  # fmt: skip


def operations(compute):
    """A model that computes something of a layer's output."""
    x = np.random.RandomState(4).normal(size=(5, 4)).astype("float32")
    inputs = keras.Input((4,))
    return keras.Model(inputs, compute(layers.Dense(3)(inputs))), x, None


def samples():
    """Inputs by name."""
    rng = np.random.RandomState(3)
    words = np.array([["a", "cat"], ["dog", "bird"], ["a", "a"]], object)
    return {name: x for name, (x, _) in inputs().items()} | {
        "words": words, "crossed": [words[:, :1], np.array([[1], [2], [3]])],
        "texts": np.array([["a cat a dog"], ["the bird"]], object),
        "pictures": rng.uniform(0, 255, (2, 8, 8, 3)).astype("float32"),
        "sound": rng.normal(size=(2, 1000)).astype("float32"),
        "channels": rng.normal(size=(2, 1000, 1)).astype("float32"),
        "films": rng.normal(size=(1, 2, 4, 4, 4, 2)).astype("float32"),
    }  # fmt: skip


def names(module):
    """The names of the classes of a module, without aliases."""
    found = [n for n in dir(module) if inspect.isclass(getattr(module, n))]
    return [n for n in found if getattr(module, n).__name__ == n]


def layer_model(layer, x):
    """A model of one layer, with weights that are not the first ones."""
    symbols = [
        keras.Input(i.shape[1:], dtype="string" if i.dtype == object else i.dtype.name) for i in tf.nest.flatten(x)
    ]
    given = symbols if isinstance(x, list) else symbols[0]
    apart = type(layer).__name__ in ("MultiHeadAttention", "GroupQueryAttention")
    model = keras.Model(given, layer(*given) if apart else layer(given))
    rng = np.random.RandomState(1)
    if layer.trainable_weights:
        for w in layer.trainable_weights:
            w.assign(np.asarray(w) + 0.1 * rng.normal(size=tuple(w.shape)).astype("float32"))
    return model, x, None


def trained(optimizer="sgd", loss="mse", metrics=None):
    """A compiled model after some steps of training."""
    rng = np.random.RandomState(2)
    x, y = rng.normal(size=(8, 3)).astype("float32"), np.eye(3, dtype="float32")[rng.randint(0, 3, 8)]
    if "Sparse" in type(loss).__name__ or "Generalized" in type(loss).__name__ or "Sparse" in type(metrics).__name__:
        y = y.argmax(-1)
    model = keras.Sequential([
        keras.Input((3,)), layers.Dense(4, activation="tanh"), layers.Dense(3, activation="softmax"),
    ])  # fmt: skip
    loss = "sparse_categorical_crossentropy" if y.ndim == 1 and loss == "mse" else loss
    model.compile(optimizer, loss, metrics=None if metrics is None else [metrics])
    tf.config.run_functions_eagerly(SLOW_TO_TRACE)
    model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    return model, x, y


def cases():
    """(name, function that makes a model, its inputs and its labels or None)."""
    given, known = samples(), LAYERS | MORE
    for name in names(layers):
        if name in known and (name.endswith("Cell") and name != "StackedRNNCells"):
            cell = {"cell": {"layer": name, "args": known[name][0]}}
            yield name, lambda c=cell: layer_model(layers.RNN(made(layers, c["cell"])), given["steps"])
        elif name == "StackedRNNCells":
            yield name, lambda: layer_model(layers.RNN(stacked()), given["steps"])
        elif name in known:
            yield name, lambda n=name: layer_model(one(n, known[n][0]), given[known[n][1].split()[0]])
    for name, (kind, arguments) in LEARNED.items():
        yield f"{name} learned", lambda n=name, k=kind, a=arguments: learned(getattr(layers, n)(**a), given[k])
    for name, compute in (OPERATIONS | (OF_TENSORFLOW if os.environ.get("TF_USE_LEGACY_KERAS") == "1" else {})).items():
        yield f"operations {name}", lambda c=compute: operations(c)
    for module, key in ((keras.optimizers, "optimizer"), (keras.losses, "loss"), (keras.metrics, "metrics")):
        for name in names(module):
            if name in NO_MODEL:
                continue
            arguments = ARGUMENTS.get(name, ()) if key == "metrics" else ()
            if name == "MeanRelativeError":
                arguments = ([1.0, 2.0, 3.0],)
            if name == "LossScaleOptimizer":
                arguments = (keras.optimizers.Adam(0.01),)
            yield f"{key} {name}", lambda m=module, n=name, k=key, a=arguments: trained(**{k: getattr(m, n)(*a)})


def stacked():
    return layers.StackedRNNCells([made(layers, c) for c in CELLS["cell"]["args"]["cells"]])


def one(name, arguments):
    """A layer, with the layers that its arguments describe."""
    found = {k: made(layers, v) for k, v in arguments.items() if k not in ("layers", "vocabulary")}
    if "vocabulary" in arguments:
        found["vocabulary"] = list(arguments["vocabulary"])
    if "layers" in arguments:
        found["layers"] = [made(layers, v) for v in arguments["layers"]]
    return getattr(layers, name)(**found)


def learned(layer, x):
    layer.adapt(x)
    return layer_model(layer, x)


def constants(x):
    return tf.nest.map_structure(lambda i: tf.constant(i.tolist()) if i.dtype == object else tf.constant(i), x)


def numbers(values):
    """Outputs as lists of numbers."""
    flat = [y.to_tensor() if hasattr(y, "to_tensor") else y for y in tf.nest.flatten(values)]
    return [np.asarray(y, "float64").tolist() for y in flat]


def behaviour(model, x, y):
    """What a model computes, and how its training goes on."""
    tf.config.run_functions_eagerly(SLOW_TO_TRACE)
    found = {"outputs": numbers(model(constants(x), training=False))}
    if y is not None:
        def scores():
            got = model.evaluate(x, y, batch_size=4, verbose=0, return_dict=True)
            return [float(np.sum(got[key])) for key in sorted(got)]

        found["scores"] = scores()
        model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
        found["trained"] = [*numbers(model(constants(x), training=False)), scores()]
    return found


def write(model, path, ending):
    """Write a file of a model, or a folder."""
    tf.config.run_functions_eagerly(False)
    if ending == "saved_model":
        model.export(str(path))
    elif ending == "checkpoint":
        model.save_weights(str(path / "weights"))
    elif ending in ("weights.h5", "hdf5"):
        model.save_weights(str(path))
    else:
        model.save(str(path))


def read(make, path, ending):
    """What was read from a file computes."""
    tf.config.run_functions_eagerly(False)
    model, x, y = make()
    if ending == "saved_model":
        loaded = tf.saved_model.load(str(path))  # it holds the variables
        return {"outputs": numbers(loaded.serve(constants(x)))}
    if ending in WEIGHTS:
        model.load_weights(str(path / "weights" if ending == "checkpoint" else path))
    else:
        model = keras.models.load_model(str(path))
    return behaviour(model, x, y)


def save(folder, wanted=""):
    """Write all models; what cannot be written is an error in the answers."""
    answers = {}
    for name, make in cases():
        if not re.search(wanted, name):
            continue
        keras.backend.clear_session()
        keras.utils.set_random_seed(1)
        answers[name] = found = {"errors": {}}
        try:
            model, x, y = make()
            for ending in (*WHOLE, *PARTS) if y is None else WHOLE:
                path = folder / f"{name}.{ending}"
                try:
                    write(model, path, ending)
                except Exception as error:
                    found["errors"][ending] = f"{type(error).__name__}: {error}"[:500]
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            found |= behaviour(model, x, y)
        except Exception as error:
            found["error"] = f"{type(error).__name__}: {error}"[:500]
    answers["missing"] = sorted(set(names(layers)) - set(LAYERS) - set(MORE) - set(NO_MODEL))
    (folder / "answers.json").write_text(json.dumps(answers))


def load(folder, other, wanted=""):
    """Read all files of a folder."""
    answers = {}
    for name, make in cases():
        if not re.search(wanted, name):
            continue
        for ending in ENDINGS:
            path = folder / f"{name}.{ending}"
            if not path.exists():
                continue
            keras.backend.clear_session()
            keras.utils.set_random_seed(2)
            try:
                found = read(make, path, ending)
            except Exception as error:
                found = {"error": f"{type(error).__name__}: {error}"[:500]}
            answers[f"{name}.{ending}"] = found
    other.write_text(json.dumps(answers))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    call, paths = (save, 1) if sys.argv[2] == "save" else (load, 2)
    call(*map(pathlib.Path, sys.argv[3 : 3 + paths]), *sys.argv[3 + paths :])
