"""The newer models of `keras.applications` against Keras 3: layers, weights, and outputs of equal weights."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest


def answers(python, package, folder):
    """What `oracle_applications.py` says of a package."""
    program = pathlib.Path(__file__).with_name("oracle_applications.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "0"}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    file = folder / f"{package}.json"
    subprocess.run([python, str(program), package, str(file)], check=True, env=environment, timeout=1800)
    return json.loads(file.read_text())


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_applications_are_those_of_keras(tmp_path):
    theirs = answers(os.environ["TF_PYTHON"], "tensorflow", tmp_path)
    ours = answers(sys.executable, "tapeflow", tmp_path)
    for name, answer in theirs.items():
        for what in ("layers", "weights", "count", "output"):
            assert ours[name][what] == answer[what], (name, what)
        if "outputs" in answer:
            np.testing.assert_allclose(ours[name]["outputs"], answer["outputs"], rtol=2e-2, atol=2e-3, err_msg=name)
