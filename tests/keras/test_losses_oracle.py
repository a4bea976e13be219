"""Losses and metrics against Keras 3 and Keras 2: dtypes, shapes, ranks, weights and errors."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

# Where Keras 3 cannot compute with what it was given, though it is clear what is meant: integers where its formulas
# multiply by a Python float, float64 and float16 in `in_top_k`, weights with fewer axes than the losses of (2, 4, 3).
LENIENT = ("TypeError", "InvalidArgumentError", "UnimplementedError", "AttributeError", "UnboundLocalError")
# Calls by name, the kind of inputs where the reason needs it, and why the answers differ.
DIFFERENT = {
    "huber | lists of ints": "Keras 3 computes in the integers, in which half is 0",
    "huber | int64 and int32": "as above",
    "metric MeanAbsolutePercentageError | lists of ints": "as above: epsilon is 0",
    "metric MeanAbsolutePercentageError | int64 and int32": "as above",
    "metric CategoricalAccuracy | (4, 1) and (4,)": "no classes to choose from; Keras fails while it reshapes",
    "categorical_accuracy | (4, 1) and (4,)": "as above",
}
DIFFERENT_IN_KERAS_2 = {
    "metric BinaryAccuracy": "Keras 2 counts a vector of predictions as one sample, but adds all weights",
    "metric RootMeanSquaredError": "Keras 2 counts a weighted batch by samples, others by elements",
    "MeanSquaredError": "integers times float weights are integers in Keras 2",
    "MeanAbsoluteError": "as above",
}


def answers(python, package, legacy, folder):
    """What `oracle_losses.py` says of a package."""
    program = pathlib.Path(__file__).with_name("oracle_losses.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": legacy}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    file = folder / f"{package}.json"
    subprocess.run([python, str(program), package, str(file)], check=True, env=environment, timeout=900)
    return json.loads(file.read_text())


def alike(name, ours, theirs, legacy):
    """Whether two answers agree."""
    what, kind = name.split(" | ")[:2]
    if isinstance(theirs, str):
        return isinstance(ours, str) or legacy or theirs in LENIENT or f"{what} | {kind}" in DIFFERENT
    if f"{what} | {kind}" in DIFFERENT or (legacy and what in DIFFERENT_IN_KERAS_2 and kind != "float32"):
        return True
    tolerance = 2e-3 if kind == "float16" else 1e-4
    return (
        not isinstance(ours, str)
        and len(ours) == len(theirs)
        and all(a[0] == b[0] and same_values(a[1], b[1], tolerance) for a, b in zip(ours, theirs))
    )


def same_values(a, b, tolerance):
    """Whether two nested lists of numbers have one shape and almost the same numbers."""
    a, b = np.array(a, float), np.array(b, float)
    return a.shape == b.shape and np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
@pytest.mark.parametrize("legacy", ["0", "1"], ids=["Keras 3", "Keras 2"])
def test_losses_and_metrics_are_those_of_keras(tmp_path, legacy):
    theirs = answers(os.environ["TF_PYTHON"], "tensorflow", legacy, tmp_path)
    ours = answers(sys.executable, "tapeflow", legacy, tmp_path)
    assert len(theirs) > 5000
    wrong = {
        name: (ours[name], answer)
        for name, answer in theirs.items()
        if not alike(name, ours[name], answer, legacy == "1")
    }
    assert not wrong
