"""The public members of an instance of each of Keras 3's public classes, for tapeflow and TensorFlow.

    python oracle_members.py tensorflow|tapeflow FILE [NAMES]

writes {name of the class: {member: what it is}} to a file, as JSON; of all public classes of Keras 3, or of those that
the file NAMES, written before, has. Layers whose inputs are known to `oracle_layer_arguments` have been called.
"""

import functools
import importlib
import inspect
import json
import pkgutil
import sys
import warnings

import numpy as np
import oracle_layer_arguments

# Required arguments of classes that are no layers, or that `oracle_layer_arguments` does not know.
_BY_NAME = {
    "acceptance_threshold": 0.5, "axes": ["data"], "axis_names": ["data"], "backup_dir": "backup",
    "call_fn": lambda x: x, "custom_objects": {}, "data": np.zeros((9, 2)), "decay_rate": 0.5, "decay_steps": 5,
    "boundaries": [1], "values": [0.1, 0.2], "dataset": ["a text"], "tokenizer": len, "dims": (2, 1), "factor": 0.2,
    "features": {"x": "float"}, "filename": "a.csv", "filepath": "a.keras", "filters": 2, "first_decay_steps": 5,
    "fn": abs, "function": abs, "height": 4, "height_factor": 0.2, "initial_learning_rate": 0.1, "initializer": 1.0,
    "input_dim": 5, "kernel_size": 2, "length": 3, "max_number": 3, "n": 5, "batch_size": 2, "shuffle": False,
    "seed": 1, "name": "a_name", "num_bins": 5, "num_classes": 3, "output_dim": 3, "output_size": 2,
    "precision": 0.5, "rate": 0.5, "recall": 0.5, "schedule": abs, "sensitivity": 0.5, "shape": (1,),
    "specificity": 0.5, "target": 5, "target_class_ids": [0], "targets": np.zeros(9), "units": 3, "width": 4,
    "width_factor": 0.2, "pool_size": 2,
}
# Arguments that Keras requires without saying so.
_MORE = {
    "CategoryEncoding": {"num_tokens": 3}, "DeviceMesh": {"devices": ["cpu:0"]}, "Discretization": {"num_bins": 3},
    "InputLayer": {"shape": (3,)}, "RandomPosterization": {"factor": 3}, "Variable": {"initializer": 1.0},
}  # fmt: skip
_MODES = {
    "AWQDTypePolicy": "awq/4/128", "GPTQDTypePolicy": "gptq/4/128", "Int4DTypePolicy": "int4/-1",
    "QuantizedDTypePolicy": "int8", "QuantizedFloat8DTypePolicy": "float8",
}  # fmt: skip


def made(tf, name, cls):
    """An instance of a class, with values for the arguments that it requires."""
    keras = tf.keras
    short = name.rpartition(".")[2]
    if short == "Model":
        x = keras.Input((3,))
        return keras.Model(x, keras.layers.Dense(2)(x))
    if short == "Sequential":
        return keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    if short in oracle_layer_arguments.LAYERS:
        return _called(tf, short)
    special = {
        "cell": lambda: keras.layers.GRUCell(3), "cells": lambda: [keras.layers.GRUCell(3)],
        "default_optimizer": lambda: keras.optimizers.SGD(), "inner_optimizer": lambda: keras.optimizers.SGD(),
        "optimizer_map": lambda: keras.optimizers.OptimizerMap(keras.optimizers.SGD()),
        "layer": lambda: keras.layers.Dense(2), "layers": lambda: [keras.layers.Dense(2)],
        "device_mesh": lambda: keras.distribution.DeviceMesh((1,), ["data"], ["cpu:0"]),
        "inputs": lambda: keras.Input((3,)), "mode": lambda: _MODES[short],
        "model": lambda: keras.Sequential([keras.layers.Dense(2)]),
    }  # fmt: skip
    arguments = dict(_MORE.get(short, {}))
    if short == "LossScaleOptimizer":
        arguments["inner_optimizer"] = keras.optimizers.SGD()
    if short == "Optimizer":  # whose constructor programs call in the form of either Keras
        return keras.optimizers.SGD()
    for each in list(inspect.signature(cls).parameters.values()):
        if each.name not in arguments and each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD:
            if each.name in special:
                arguments[each.name] = special[each.name]()
            elif each.name == "outputs":
                arguments["outputs"] = arguments["inputs"] * 2
            else:
                arguments[each.name] = _BY_NAME[each.name]
    return cls(**arguments)


def _called(tf, name):
    required, kinds = oracle_layer_arguments.LAYERS[name]
    given = {key: oracle_layer_arguments.made(tf.keras.layers, value) for key, value in required.items()}
    layer = getattr(tf.keras.layers, name)(**given)
    if kinds:
        x, kwargs = oracle_layer_arguments.inputs()[kinds.split()[0]]
        layer(tf.nest.map_structure(tf.constant, x), **kwargs)
    return layer


def kind(value):
    """What a member is: the text of a plain value, else only whether it can be called."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    return "callable" if callable(value) else "object"


def members(thing):
    """The public members of an instance by name."""
    found = {}
    for name in dir(thing):
        if not name.startswith("_"):
            try:
                found[name] = kind(getattr(thing, name))
            except Exception as error:
                found[name] = f"raises {type(error).__name__}"
    return found


def classes(module, name):
    """(name, class) of the public classes of a module and of the modules below it."""
    for key, value in sorted(vars(module).items()):
        if not key.startswith("_") and inspect.isclass(value):
            yield f"{name}.{key}", value
    for below in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if below.name not in ("src", "legacy"):
            yield from classes(importlib.import_module(f"{module.__name__}.{below.name}"), f"{name}.{below.name}")


def main(package, file, names=None):
    tf = importlib.import_module(package)
    warnings.simplefilter("ignore")
    if names is None:
        every = {cls: name for name, cls in classes(importlib.import_module("keras._tf_keras.keras"), "keras")}
        names = sorted(every.values())
    else:
        with open(names) as lines:
            names = list(json.load(lines))
    found = {}
    for name in names:
        cls = functools.reduce(lambda value, part: getattr(value, part, None), name.split("."), tf)
        tf.keras.backend.clear_session()
        try:
            found[name] = members(made(tf, name, cls))
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"[:300]
    with open(file, "w") as out:
        json.dump(found, out, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
