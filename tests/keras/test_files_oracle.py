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
# (interpreter, package, TF_USE_LEGACY_KERAS) of each side; "2" is Keras 2, which in TensorFlow is tf_keras.
SIDES = {
    "tapeflow": (sys.executable, "tapeflow", "0"), "tensorflow": (os.environ.get("TF_PYTHON"), "tensorflow", "0"),
    "tapeflow 2": (sys.executable, "tapeflow", "1"), "tensorflow 2": (os.environ.get("TF_PYTHON"), "tensorflow", "1"),
}  # fmt: skip
EXCHANGED = (
    ("tapeflow", "tensorflow"), ("tensorflow", "tapeflow"), ("tensorflow 2", "tapeflow 2"), ("tensorflow 2", "tapeflow")
)  # fmt: skip
# Cases in which the sides differ, and why.
LOGITS = "Keras takes the logits of a softmax, where there are some, for those of a sigmoid"
DIFFERENT = {"loss BinaryCrossentropy": LOGITS, "loss BinaryFocalCrossentropy": LOGITS,
             "metrics BinaryCrossentropy": LOGITS}  # fmt: skip
DIFFERENT_2 = DIFFERENT | {
    "optimizer Nadam": "tf_keras does not write the product of the momenta, and itself goes on without it",
    "Discretization learned": "files of weights have its summary, which is no weight here",
}
# Cases by writer and reader, those of Keras 2 among them.
DIFFERENCES = {
    ("tensorflow 2", "tapeflow 2"): DIFFERENT_2 | {
        "SpectralNormalization": "tf_keras writes the kernel twice, and does not load its own `.keras` file",
    },
    ("tensorflow 2", "tapeflow"): DIFFERENT_2 | {
        f"ConvLSTM{n}D": "the hard sigmoid of Keras 3 is another function" for n in (1, 2, 3)
    },
}  # fmt: skip


def run(side, *arguments):
    python, package, legacy = SIDES[side]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": legacy}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    subprocess.run([python, str(PROGRAM), package, *map(str, arguments)], check=True, env=environment, timeout=1800)


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


class Exchange:
    """What each side wrote and read, each found out when it is first asked for."""

    def __init__(self, base):
        self._base = base

    def written(self, writer):
        """What the models computed when they were written."""
        folder = self._base / writer
        if not folder.exists():
            folder.mkdir()
            run(writer, "save", folder)
        return json.loads((folder / "answers.json").read_text())

    def read(self, writer, reader):
        """What was read, by the names of the files."""
        self.written(writer)
        answers = self._base / f"{writer} {reader}.json"
        if not answers.exists():
            run(reader, "load", self._base / writer, answers)
        return json.loads(answers.read_text())


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    return Exchange(tmp_path_factory.mktemp("files"))


def case_of(file):
    """The name of the case that a file is of."""
    ending = next(e for e in (".weights.h5", ".saved_model", ".checkpoint", ".hdf5", ".keras", ".h5", ".tf")
                  if file.endswith(e))  # fmt: skip
    return file.removesuffix(ending)


pytestmark = [
    pytest.mark.oracle, pytest.mark.slow,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]  # fmt: skip


def test_every_class_has_a_case(exchange):
    written = exchange.written("tensorflow")
    assert not written["missing"]
    assert len(written) > 190


@pytest.mark.parametrize(("writer", "reader"), EXCHANGED)
def test_files_are_exchanged(exchange, writer, reader):
    own = "tensorflow 2" if "tensorflow 2" in (writer, reader) else "tensorflow"
    by_owner = exchange.written(own)
    possible = {file for file, found in exchange.read(own, own).items()
                # Keras 2 reads no state of optimizers from its SavedModels, though it is there.
                if file.endswith(".tf") or same(found, by_owner[case_of(file)])}  # fmt: skip
    assert len(possible) > 500
    written, found = exchange.written(writer), exchange.read(writer, reader)
    lost = sorted(possible - found.keys())
    wrong = sorted(f for f in possible & found.keys() if not same(found[f], written[case_of(f)]))
    failed = {f: found.get(f, {}).get("error", "other numbers") for f in lost + wrong}
    different = DIFFERENCES.get((writer, reader), DIFFERENT)
    assert {f: why for f, why in failed.items() if case_of(f) not in different} == {}
