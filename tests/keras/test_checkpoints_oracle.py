"""Checkpoints of Keras 3 models and optimizers: written by TensorFlow and restored here, and the other way round."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = pathlib.Path(__file__).with_name("oracle_checkpoints.py")
PYTHONS = {"tapeflow": sys.executable, "tensorflow": os.environ.get("TF_PYTHON")}
ORACLE = [pytest.mark.oracle, pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")]


def run(package, *args):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "0"}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    subprocess.run([PYTHONS[package], str(PROGRAM), package, *map(str, args)], check=True, env=environment, timeout=900)


def differences(ours, theirs):
    """The paths of variables whose values differ."""
    pairs = zip(ours, theirs, strict=True)
    return [path for (path, a), (_, b) in pairs if not np.allclose(a, b, rtol=1e-4, atol=1e-5)]


@pytest.mark.parametrize(
    ("writer", "reader"),
    [("tapeflow", "tapeflow"),
     pytest.param("tapeflow", "tensorflow", marks=ORACLE), pytest.param("tensorflow", "tapeflow", marks=ORACLE)],
)  # fmt: skip
def test_checkpoints_are_exchanged(writer, reader, tmp_path):
    run(writer, "save", tmp_path)
    run(reader, "load", tmp_path, tmp_path / "loaded.json")
    saved = json.loads((tmp_path / "answers.json").read_text())
    loaded = json.loads((tmp_path / "loaded.json").read_text())
    wrong = {
        f"{name} {mine}": found
        for name, answers in saved.items()
        for mine, other in (("state", "state"), ("after", "after"), ("new", "after"))
        if (found := differences(loaded[name][mine], answers[other]))
    }
    if reader == "tensorflow":  # it begins the momentum anew after it has restored that
        del wrong["sequential-ScheduleFreeAdamW new"]
    assert not wrong


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_keys_paths_and_steps_are_those_of_tensorflow(tmp_path):
    found = {}
    for package in PYTHONS:
        (tmp_path / package).mkdir()
        run(package, "save", tmp_path / package)
        found[package] = json.loads((tmp_path / package / "answers.json").read_text())
    wrong = {
        name: (ours, theirs["keys"])
        for name, theirs in found["tensorflow"].items()
        if (ours := found["tapeflow"][name]["keys"]) != theirs["keys"]
    }
    assert not wrong
    for state in ("state", "after"):
        for name, theirs in found["tensorflow"].items():
            ours = found["tapeflow"][name]
            assert [path for path, _ in ours[state]] == [path for path, _ in theirs[state]]
            assert not differences(ours[state], theirs[state]), name
