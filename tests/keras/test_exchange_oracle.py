"""`.keras` files of many kinds of models: written by Keras 3 and loaded here, and the other way round."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = pathlib.Path(__file__).with_name("oracle_exchange.py")
PYTHONS = {"tapeflow": sys.executable, "tensorflow": os.environ.get("TF_PYTHON")}


def run(package, *args):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "0"}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    subprocess.run([PYTHONS[package], str(PROGRAM), package, *map(str, args)], check=True, env=environment, timeout=900)


def close(a, b):
    return all(np.allclose(x, y, rtol=1e-3, atol=1e-4) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    ("writer", "reader"),
    [("tapeflow", "tapeflow"),
     *(pytest.param(*pair, marks=[
         pytest.mark.oracle, pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
     ]) for pair in (("tapeflow", "tensorflow"), ("tensorflow", "tapeflow")))],
)  # fmt: skip
def test_models_are_exchanged(writer, reader, tmp_path):
    run(writer, "save", tmp_path)
    run(reader, "load", tmp_path, tmp_path / "loaded.json")
    saved = json.loads((tmp_path / "answers.json").read_text())
    loaded = json.loads((tmp_path / "loaded.json").read_text())
    assert len(saved) >= 12
    # Either no such file could be saved, or it is refused.
    assert loaded.pop("lambdas") != "loaded"
    refused = {name: answer for name, answer in loaded.items() if isinstance(answer, str)}
    assert not refused
    assert not [name for name in saved if not close(saved[name]["outputs"], loaded[name]["outputs"])]


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_training_goes_on_alike(tmp_path):
    """The optimizer's slots, the schedule's step and the compiled loss and metrics are in the file."""
    run("tensorflow", "save", tmp_path)
    after = []
    for package in PYTHONS:
        run(package, "load", tmp_path, tmp_path / f"{package}.json")
        after.append(json.loads((tmp_path / f"{package}.json").read_text())["compiled"])
    ours, theirs = after
    assert ours["loss"].keys() == theirs["loss"].keys()
    assert close([ours["loss"][name] for name in theirs["loss"]], list(theirs["loss"].values()))
    assert close(ours["after"], theirs["after"])
