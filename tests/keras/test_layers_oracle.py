"""Layers against TensorFlow's: results and gradients of Keras 2's, results of those that came with Keras 3."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_layers_are_those_of_tensorflow(tmp_path):
    program = pathlib.Path(__file__).with_name("oracle_layers.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "1"}
    environment.pop("PYTHONPATH", None)
    answers = []
    for python, package in ((os.environ["TF_PYTHON"], "tf_keras"), (sys.executable, "tapeflow")):
        file = tmp_path / f"{package}.npz"
        command = [python, str(program), package, str(file)]
        subprocess.run(command, check=True, env=environment, timeout=600)
        answers.append(dict(np.load(file)))
        environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    theirs, ours = answers
    assert set(ours) == set(theirs)
    wrong = []
    for name, value in ours.items():
        if name.endswith(": weights"):
            same = value.tolist() == theirs[name].tolist()
        else:
            same = value.shape == theirs[name].shape and np.allclose(
                value, theirs[name], rtol=1e-4, atol=2e-5, equal_nan=True
            )
        if not same:
            wrong.append(name)
    assert not wrong


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_layers_without_weights_are_those_of_tensorflow(tmp_path):
    program = pathlib.Path(__file__).with_name("oracle_preprocessing.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("PYTHONPATH", None)
    answers = []
    for python, package in ((os.environ["TF_PYTHON"], "tensorflow"), (sys.executable, "tapeflow")):
        file = tmp_path / f"{package}.npz"
        command = [python, str(program), package, str(file)]
        subprocess.run(command, check=True, env=environment, timeout=600)
        answers.append(dict(np.load(file)))
        environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    theirs, ours = answers
    wrong = []
    for name, value in ours.items():
        other = theirs[name]
        if value.dtype.kind == "U":
            same = value.tolist() == other.tolist()
        else:
            same = value.shape == other.shape and np.allclose(value, other, rtol=1e-4, atol=2e-4)
        if not same:
            wrong.append(name)
    assert not wrong
