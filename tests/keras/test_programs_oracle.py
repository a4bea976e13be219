"""Programs print on tapeflow what they print on TensorFlow, with Keras 2 and with Keras 3."""

import json
import os
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
@pytest.mark.parametrize("legacy", ["0", "1"])
def test_programs_print_the_same(legacy, tmp_path):
    program = pathlib.Path(__file__).with_name("oracle_programs.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": legacy, "COLUMNS": "100"}
    path = environment.pop("PYTHONPATH", "")
    answers = []
    for python, package in ((os.environ["TF_PYTHON"], "tensorflow"), (sys.executable, "tapeflow")):
        file = tmp_path / f"{package}.json"
        subprocess.run([python, str(program), package, str(file)], check=True, env=environment, timeout=600)
        answers.append(json.loads(file.read_text()))
        environment["PYTHONPATH"] = path
    theirs, ours = answers
    assert any(theirs.values())
    for name in theirs:
        assert ours[name] == theirs[name], name
