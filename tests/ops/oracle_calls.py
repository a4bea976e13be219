"""Run by a Python that has TensorFlow: calls its raw ops with what test_oracle.py pickled.

    python oracle_calls.py CALLS ANSWERS

appends one pickled answer for each call to ANSWERS, starting behind those that are there already: after a call
that ends the process, the next run goes on with the one after it.
"""

import inspect
import os
import pickle
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf


def tensor(value):
    """A tensor of (dtype name, array), a list of them for a list."""
    if isinstance(value, list):
        return [tensor(v) for v in value]
    kind, array = value
    return tf.constant(array, None if kind is None else tf.as_dtype(kind))


def attr(value):
    return tf.as_dtype(value[0]) if isinstance(value, tuple) else value


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for element in value for leaf in leaves(element)]
    if value is None or isinstance(value, tf.Operation):
        return []
    array = value.numpy()
    wide = np.asarray(array, np.float32) if value.dtype == tf.bfloat16 else np.asarray(array)
    return [(value.dtype.name, wide)]


def answer(name, inputs, attrs):
    """("result", [(dtype name, array)]), ("error", class, text), or ("unknown", what)."""
    function = getattr(tf.raw_ops, name, None)
    if function is None:
        return "unknown", "no such op"
    taken = list(inspect.signature(function).parameters)
    if not set(inputs) <= set(taken):  # Python's names for some inputs are not the op's
        inputs = dict(zip(taken, inputs.values(), strict=False))
    if name == "Squeeze":
        attrs = {"axis": attrs["squeeze_dims"]}
    missing = sorted(set(attrs) - set(taken))
    if missing:
        return "unknown", f"no attr {missing}"
    try:
        given = {key: tensor(value) for key, value in inputs.items()}
        given.update({key: attr(value) for key, value in attrs.items()})
        return "result", leaves(function(**given))
    except Exception as error:
        return "error", type(error).__name__, str(error)


def main(calls_path, answers_path):
    with open(calls_path, "rb") as file:
        calls = pickle.load(file)
    done = 0
    with open(answers_path, "rb") as file:
        while True:
            try:
                pickle.load(file)
            except EOFError:
                break
            done += 1
    with open(answers_path, "ab") as file:
        for call in calls[done:]:
            pickle.dump(answer(*call), file)
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
