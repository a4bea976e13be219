"""Layers by each alternative of each argument, against Keras 3 and Keras 2.

Compared are weights and their first values, static shapes, outputs and losses.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

# What answers are compared by: the first values of weights in Keras 3 only, whose numbers initializers draw.
PARTS = ("weights", "names", "trainable", "outputs", "losses", "output shape", "symbolic", "initial")
# Parts by layer, and by argument where the reason needs it, in which answers differ; and why.
DIFFERENT = {
    ("weights", "trainable"): "Keras 3 changes `trainable` of variables with that of the layer; here layers decide",
    ("weights", "BatchNormalization", "dtype"): "moments are kept in float32 here",
    ("weights", "SpectralNormalization"): "Keras counts the vector among the weights of the inner layer",
    ("names", "SpectralNormalization"): "as above",
    ("initial", "SpectralNormalization"): "as above",
    ("outputs", "SpectralNormalization"): "as above: the test sets other weights",
    ("symbolic", "SpectralNormalization", "dtype"): "Keras casts to the dtype of the wrapper, also below",
    ("symbolic", "Bidirectional", "dtype"): "as above",
    ("symbolic", "TimeDistributed", "dtype"): "as above",
    ("outputs", "Bidirectional", "dtype"): "as above",
    ("outputs", "TimeDistributed", "dtype"): "as above",
    ("output shape", "EinsumDense"): "Keras takes sizes of the arguments that it knows from the inputs",
    ("symbolic", "EinsumDense"): "as above",
    ("symbolic", "stateful"): "layers with states know the batch's size here",
    ("symbolic", "int"): "Keras 3 casts symbolic integers to the layer's dtype, but not tensors",
    ("symbolic", "int32"): "as above",
    ("outputs", "int", "GlobalAveragePooling1D"): "the mean of integers is an integer here",
    ("outputs", "int32"): "as above, and so are other results of layers of integers",
    ("outputs", "half", "LayerNormalization"): "computed in float32 here",
    ("initial", "float16"): "orthogonal matrices in float16 differ in the last bits",
    ("outputs", "Bidirectional", "masked"): "not explained yet",
    ("error", "int32"): "layers of floats refuse integer dtypes here, some of them in Keras too",
    ("error", "RNN", "dtype"): "the cell has a dtype of its own",
    ("error", "LayerNormalization", "float16"): "float16 weights are not supported yet",
    ("losses", "activity_regularizer"): "Keras loses the losses of the activity of a SimpleRNN",
}
DIFFERENT_IN_KERAS_2 = {
    ("symbolic",): "Keras 2 casts at other places",
    ("output shape",): "Keras 2 computes some of them from unknown sizes",
    ("error", "GaussianDropout"): "Keras 2 takes rate=1, which divides by 0",
    ("outputs", "Conv3DTranspose", "dilation_rate"): "Keras 2 ignores the argument",
    ("outputs", "seed"): "Keras 2 makes another first seed of it",
}


def answers(python, package, legacy, folder, *reference):
    """What `oracle_layer_arguments.py` says of a package, and the file of it."""
    program = pathlib.Path(__file__).with_name("oracle_layer_arguments.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": legacy}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    file = folder / f"{package}.json"
    command = [python, str(program), package, str(file), *map(str, reference)]
    subprocess.run(command, check=True, env=environment, timeout=1800)
    return json.loads(file.read_text()), file


def same_values(a, b, tolerance):
    """Whether two nested lists of numbers have one shape and almost the same numbers."""
    a, b = np.array(a, float), np.array(b, float)
    return a.shape == b.shape and np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def mismatches(case, ours, theirs, legacy):
    """The parts in which two answers differ without a reason."""
    name, arguments, kind, _ = json.loads(case)
    if "error" in theirs:
        return []  # what Keras refuses may work here
    labels = {part.strip() for part in (name, kind, *arguments, *map(str, arguments.values())) if part}
    reasons = {**DIFFERENT, **(DIFFERENT_IN_KERAS_2 if legacy else {})}
    known = {part for part, *which in reasons if labels.issuperset(which)}
    if legacy:
        known.add("initial")
    half = "float16" in case or kind == "half"
    found = ["error"] if "error" in ours else [p for p in PARTS if not same(p, ours.get(p), theirs.get(p), half)]
    return [part for part in found if part not in known]


def same(part, ours, theirs, half):
    """Whether one part of two answers agrees."""
    if part not in ("outputs", "initial", "losses") or ours is None or theirs is None:
        return ours == theirs
    tolerance = 1e-2 if half else 1e-4
    if part == "losses":
        return same_values(ours, theirs, tolerance)
    if part == "outputs" and [each[0] for each in ours] != [each[0] for each in theirs]:
        return False
    values = [[each[1] for each in side] if part == "outputs" else side for side in (ours, theirs)]
    return len(ours) == len(theirs) and all(same_values(a, b, tolerance) for a, b in zip(*values))


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
@pytest.mark.parametrize("legacy", ["0", "1"], ids=["Keras 3", "Keras 2"])
def test_layers_are_those_of_keras(tmp_path, legacy):
    theirs, file = answers(os.environ["TF_PYTHON"], "tensorflow", legacy, tmp_path)
    ours, _ = answers(sys.executable, "tapeflow", legacy, tmp_path, file)
    assert len(theirs) > 1500
    wrong = {case: parts for case in theirs if (parts := mismatches(case, ours[case], theirs[case], legacy == "1"))}
    assert not wrong
