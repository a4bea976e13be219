"""Files of every layer, optimizer, loss and metric, in each format: written by each side, and read by the other.

What is read computes the same, and its training goes on with the same losses and metrics.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = pathlib.Path(__file__).with_name("oracle_files.py")
PYTHONS = {"tapeflow": sys.executable, "tensorflow": os.environ.get("TF_PYTHON")}
# Cases in which the sides differ, and why.
DIFFERENT = {
    "loss BinaryCrossentropy": "Keras takes the logits of a softmax, where there are some, for those of a sigmoid",
    "loss BinaryFocalCrossentropy": "as above", "metrics BinaryCrossentropy": "as above",
}  # fmt: skip


def run(package, *arguments):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "0"}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    command = [PYTHONS[package], str(PROGRAM), package, *map(str, arguments)]
    subprocess.run(command, check=True, env=environment, timeout=1800)


def same(found, wanted):
    """Whether what was read gives what was written."""
    def close(a, b):
        return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True)

    def flat(values):
        return [np.ravel(v) for v in values]

    for part in ("outputs", "scores", "trained"):
        if part in found:
            a, b = flat(found[part]), flat(wanted[part])
            if len(a) != len(b) or not all(map(close, a, b)):
                return False
    return "error" not in found


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What each side wrote, and by (writer, reader) what was read."""
    base = tmp_path_factory.mktemp("files")
    written, read = {}, {}
    for writer in PYTHONS:
        (base / writer).mkdir()
        run(writer, "save", base / writer)
        written[writer] = json.loads((base / writer / "answers.json").read_text())
    for writer, reader in (("tapeflow", "tensorflow"), ("tensorflow", "tapeflow"), ("tensorflow", "tensorflow")):
        other = base / f"{writer} {reader}.json"
        run(reader, "load", base / writer, other)
        read[writer, reader] = json.loads(other.read_text())
    return written, read


def case_of(file):
    """The name of the case that a file is of."""
    ending = next(e for e in (".weights.h5", ".saved_model", ".keras", ".h5") if file.endswith(e))
    return file.removesuffix(ending)


pytestmark = [
    pytest.mark.oracle, pytest.mark.slow,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]  # fmt: skip


def test_every_class_has_a_case(answers):
    written, _ = answers
    assert not written["tensorflow"]["missing"]
    assert len(written["tensorflow"]) > 190


@pytest.mark.parametrize(("writer", "reader"), [("tapeflow", "tensorflow"), ("tensorflow", "tapeflow")])
def test_files_are_exchanged(answers, writer, reader):
    written, read = answers
    theirs = read["tensorflow", "tensorflow"]
    possible = {file for file, found in theirs.items() if same(found, written["tensorflow"][case_of(file)])}
    found = read[writer, reader]
    assert len(possible) > 500
    lost = sorted(possible - found.keys())
    wrong = sorted(f for f in possible & found.keys() if not same(found[f], written[writer][case_of(f)]))
    failed = {f: found.get(f, {}).get("error", "other numbers") for f in lost + wrong}
    assert {f: why for f, why in failed.items() if case_of(f) not in DIFFERENT} == {}
