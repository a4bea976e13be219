"""`keras.ops` against Keras 3: dtypes, shapes, values and errors of generated calls."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

# Keras fails where ours computes: integers where its formulas want floats, Python scalars without a dtype, no elements,
# and kernels that TensorFlow lacks on some processors.
LENIENT = (
    "InvalidArgumentError", "TypeError", "AttributeError", "NotFoundError", "ValueError", "UnimplementedError",
)  # fmt: skip
# Calls by name and, where the reason needs it, kind of arguments; and why the answers differ.
DIFFERENT = {
    "isclose": "Keras finds everything close to infinity",
    "sparsemax": "Keras gives rows that do not sum to 1",
    "rot90 | floats | (2,)": "Keras mixes up rows and columns",
    "rot90 | ints | (2,)": "as above",
    "rot90 | cube | (2,)": "as above",
    "vstack | [(5,), (5,)] float32": "Keras joins vectors end to end",
    "vstack | [(5,), (5,)] float64": "as above",
    "soft_shrink": "Keras casts back to integers, and makes NaN 0",
    "layer_normalization": "Keras casts back to integers, and fails for scalars",
    "rms_normalization": "as above",
    "moments | ints | ([0],)": "as above",
    "moments | ints | ((0, 1), True)": "as above",
    "softmax | special": "exp(-inf - inf) in Keras, NaN for the whole row here",
    "argmin | special | -1": "Keras, by XLA, takes -0.0 for less than 0.0",
    "i0 | special": "NaN at infinity in Keras",
    "corrcoef | int64": "Keras computes it of integers, and rounds the mean",
    "nanargmin | special | -1": "Keras, by XLA, takes -0.0 for less than 0.0",
    "nancumprod | special | None": "Keras makes infinities the greatest numbers",
    "nancumprod | special | 0": "as above",
    "nancumprod | special | -1": "as above",
    "nancumsum | special | None": "as above",
    "nancumsum | special | 0": "as above",
    "nancumsum | special | -1": "as above",
    "argpartition": "another order that is as good",
    "unravel_index | own 1": "Keras counts along the last axis for indices of more than one axis",
    "select | own 2": "the dtype of Python integers is that of the other functions",
    "image.map_coordinates | 3": "Keras leaves out the edge at the low end, as its fill mode mirror",
    "image.map_coordinates | 7": "as above",
    "normalize | scalar": "Keras makes a vector of a scalar",
    "normalize | float": "as above",
}


def answers(python, package, folder):
    """What `oracle_ops.py` says of a package."""
    program = pathlib.Path(__file__).with_name("oracle_ops.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "0"}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    file = folder / f"{package}.json"
    subprocess.run([python, str(program), package, str(file)], check=True, env=environment, timeout=900)
    return json.loads(file.read_text())


def alike(name, ours, theirs):
    """Whether two answers agree."""
    if name.split(" | ")[0] in DIFFERENT or name in DIFFERENT:
        return True
    if isinstance(theirs, str) and isinstance(ours, list):
        return theirs in LENIENT
    if isinstance(theirs, str) or isinstance(ours, str):
        return type(theirs) is type(ours)
    tolerance = 2e-2 if "float16" in name else 1e-4
    return len(ours) == len(theirs) and all(
        a[0] == b[0] and len(a) == len(b) and all(map(same_values, a[1:], b[1:], [tolerance] * 2))
        for a, b in zip(ours, theirs)
    )


def same_values(a, b, tolerance):
    """Whether two nested lists of numbers have one shape and almost the same numbers."""
    a, b = np.array(a, float), np.array(b, float)
    return a.shape == b.shape and np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_ops_are_those_of_keras(tmp_path):
    theirs = answers(os.environ["TF_PYTHON"], "tensorflow", tmp_path)
    ours = answers(sys.executable, "tapeflow", tmp_path)
    assert len(theirs) > 9000
    wrong = {name: (ours[name], answer) for name, answer in theirs.items() if not alike(name, ours[name], answer)}
    assert not wrong
