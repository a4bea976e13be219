"""Optimizers against Keras 3: variables after each step, rates and configs, for every argument."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest


def answers(python, package, folder):
    """What `oracle_optimizers.py` says of a package."""
    program = pathlib.Path(__file__).with_name("oracle_optimizers.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "0"}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    file = folder / f"{package}.json"
    subprocess.run([python, str(program), package, str(file)], check=True, env=environment, timeout=900)
    return json.loads(file.read_text())


def flat(steps):
    return np.concatenate([np.ravel(value) for step in steps for value in step])


def difference(ours, theirs):
    """What is different, None for nothing."""
    if isinstance(ours, str) or isinstance(theirs, str):
        return None if isinstance(ours, str) and isinstance(theirs, str) else (ours, theirs)
    if not np.allclose(flat(ours["values"]), flat(theirs["values"]), rtol=1e-5, atol=1e-5, equal_nan=True):
        return [np.abs(flat([a]) - flat([b])).max() for a, b in zip(ours["values"], theirs["values"])]
    if not np.isclose(ours["rate"], theirs["rate"]) or ours["iterations"] != theirs["iterations"]:
        return [(answer["rate"], answer["iterations"]) for answer in (ours, theirs)]
    return None if ours["config"] == theirs["config"] else (ours["config"], theirs["config"])


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_optimizers_are_those_of_keras(tmp_path):
    theirs = answers(os.environ["TF_PYTHON"], "tensorflow", tmp_path)
    ours = answers(sys.executable, "tapeflow", tmp_path)
    assert len(theirs) > 300
    found = {name: difference(ours[name], answer) for name, answer in theirs.items()}
    assert not {name: text for name, text in found.items() if text is not None}
