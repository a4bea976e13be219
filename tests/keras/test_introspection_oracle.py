"""What programs see of Keras's tensors, variables and masks, compared with TensorFlow."""

import json
import os
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_programs_see_what_keras_3_shows(tmp_path):
    program = pathlib.Path(__file__).with_name("oracle_introspection.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("PYTHONPATH", None)
    answers = []
    for python, package in ((os.environ["TF_PYTHON"], "tensorflow"), (sys.executable, "tapeflow")):
        file = tmp_path / f"{package}.json"
        subprocess.run([python, str(program), package, str(file)], check=True, env=environment, timeout=600)
        answers.append(json.loads(file.read_text()))
        environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
    theirs, ours = answers
    assert list(ours) == list(theirs)
    assert {name: (text, theirs[name]) for name, text in ours.items() if text != theirs[name]} == {}
