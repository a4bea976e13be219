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
THEIRS = os.environ.get("TF_PYTHON")
# (interpreter, package, TF_USE_LEGACY_KERAS) of each side; "2" is Keras 2, which in TensorFlow is tf_keras:
# TF_KERAS_PYTHON names an interpreter that has it, where that of TF_PYTHON does not.
SIDES = {
    "tapeflow": (sys.executable, "tapeflow", "0"), "tensorflow": (THEIRS, "tensorflow", "0"),
    "tapeflow 2": (sys.executable, "tapeflow", "1"),
    "tensorflow 2": (os.environ.get("TF_KERAS_PYTHON", THEIRS), "tensorflow", "1"),
}  # fmt: skip
EXCHANGED = (
    ("tapeflow", "tensorflow"), ("tensorflow", "tapeflow"),
    ("tapeflow 2", "tensorflow 2"), ("tensorflow 2", "tapeflow 2"), ("tensorflow 2", "tapeflow"),
)  # fmt: skip
# The cases are asked in parts, each by a process of its own, that none takes long.
SOME = (r"^(Dense|LSTM|Conv2D|BatchNormalization|Bidirectional|StringLookup|Resizing|RandomCrop)$|learned$|"
        r"^optimizer (SGD|Adam)$|^loss Huber$|^metrics (AUC|Mean\w+)$")  # fmt: skip
PARTS = ("^[A-C]\\w*$", "^[D-L]\\w*$", "^[M-Q]\\w*$", "^[RS]\\w*$", "^[T-Z]\\w*$", "learned$", "^optimizer ", "^loss ",
         "^metrics [A-L]", "^metrics [M-Z]", "^operations ")  # fmt: skip
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
    ("tapeflow 2", "tensorflow 2"): DIFFERENT_2,
    ("tensorflow 2", "tapeflow 2"): DIFFERENT_2,
    ("tensorflow 2", "tapeflow"): DIFFERENT_2 | {
        f"ConvLSTM{n}D": "the hard sigmoid of Keras 3 is another function" for n in (1, 2, 3)
    } | {"RandomCrop": "where they do not train, Keras 2 and Keras 3 make pictures smaller by two rules"} | {
        f"operations {name}": "Keras 3 has no such models" for name in ("concat", "mean", "stack")
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
    """What each side wrote and read of a part of the cases, each found out when it is first asked for."""

    def __init__(self, base):
        self._base = base

    def _folder(self, writer, part):
        return self._base / f"{writer} {(SOME, *PARTS).index(part)}"

    def written(self, writer, part):
        """What the models computed when they were written."""
        folder = self._folder(writer, part)
        if not folder.exists():
            folder.mkdir()
            run(writer, "save", folder, part)
        return json.loads((folder / "answers.json").read_text())

    def read(self, writer, reader, part):
        """What was read, by the names of the files."""
        self.written(writer, part)
        folder = self._folder(writer, part)
        answers = folder / f"{reader}.json"
        if not answers.exists():
            run(reader, "load", folder, answers, part)
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
    pytest.mark.oracle, pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]  # fmt: skip
HAS_KERAS_2 = THEIRS is not None and subprocess.run(
    [SIDES["tensorflow 2"][0], "-c", "import importlib.util as u; raise SystemExit(u.find_spec('tf_keras') is None)"],
    check=False, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
).returncode == 0  # fmt: skip
PAIRS = [
    pytest.param(*pair, id=" to ".join(pair), marks=pytest.mark.skipif(
        "tensorflow 2" in pair and not HAS_KERAS_2, reason="TF_KERAS_PYTHON names no Python with tf_keras"))
    for pair in EXCHANGED
]  # fmt: skip


def readable(exchange, own, part):
    """The files of the owner of the format that it reads again itself."""
    written = exchange.written(own, part)
    # Keras 2 reads no state of optimizers from its SavedModels, though it is there.
    return {file for file, found in exchange.read(own, own, part).items()
            if file.endswith(".tf") or same(found, written[case_of(file)])}  # fmt: skip


def check(exchange, writer, reader, part):
    """What the owner of the format reads of its own files, the other side reads of either's."""
    own = "tensorflow 2" if "tensorflow 2" in (writer, reader) else "tensorflow"
    possible = readable(exchange, own, part)
    assert possible
    written, found = exchange.written(writer, part), exchange.read(writer, reader, part)
    if reader == "tensorflow 2":  # whose training begins anew with the models of SavedModels
        for file in found:
            if file.endswith(".tf"):
                found[file].pop("trained", None)
    lost = sorted(possible - found.keys())
    wrong = sorted(f for f in possible & found.keys() if not same(found[f], written[case_of(f)]))
    failed = {f: found.get(f, {}).get("error", "other numbers") for f in lost + wrong}
    different = DIFFERENCES.get((writer, reader), DIFFERENT)
    assert {f: why for f, why in failed.items() if case_of(f) not in different} == {}


@pytest.mark.parametrize(("writer", "reader"), PAIRS)
def test_some_files_are_exchanged(exchange, writer, reader):
    check(exchange, writer, reader, SOME)


@pytest.mark.slow
def test_every_class_has_a_case(exchange):
    parts = [exchange.written("tensorflow", part) for part in PARTS]
    assert not parts[0]["missing"]
    assert sum(len(part) - 1 for part in parts) > 190
    assert sum(len(readable(exchange, "tensorflow", part)) for part in PARTS) > 500


@pytest.mark.slow
@pytest.mark.parametrize(("writer", "reader"), PAIRS)
@pytest.mark.parametrize("part", PARTS)
def test_files_are_exchanged(exchange, writer, reader, part):
    check(exchange, writer, reader, part)
