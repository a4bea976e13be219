"""Checkpoints of TensorFlow are restored here, and ours there, with everything consumed; files alike byte for byte."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.saved_model.bundle import BundleReader
from tapeflow.saved_model.bundle_writing import write_bundle

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]
PROGRAM = str(pathlib.Path(__file__).with_name("oracle_checkpoints.py"))


def run(package, *arguments):
    python = sys.executable if package == "tapeflow" else os.environ["TF_PYTHON"]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "1"}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    command = [python, PROGRAM, package, *map(str, arguments)]
    done = subprocess.run(command, check=True, env=environment, timeout=600, capture_output=True)
    return done.stdout


def test_checkpoints_go_both_ways(tmp_path):
    found = {}
    for package in ("tensorflow", "tapeflow"):
        (tmp_path / package).mkdir()
        run(package, tmp_path / package)
        for reader in ("tensorflow", "tapeflow"):
            found[package, reader] = json.loads(run(reader, tmp_path / package, "read"))
    theirs = found.pop(("tensorflow", "tensorflow"))
    for values in found.values():
        for a, b in zip(values, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    names = [
        [key for key, _ in tf.train.list_variables(str(tmp_path / package))]
        for package in ("tensorflow", "tapeflow")
    ]
    assert names[0] == names[1]


SAVE = """
import sys, pickle, tensorflow as tf
prefix, file = sys.argv[1:]
tensors = pickle.load(open(file, "rb"))
names = sorted(tensors)
values = [tf.constant(tensors[name]) for name in names]
tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=[""] * len(names), tensors=values)
"""


def test_the_same_bytes(tmp_path, rng):
    import pickle

    tensors = {f"layer_{i}/kernel/.ATTRIBUTES/VARIABLE_VALUE": np.float32(i) for i in range(6000)}
    tensors |= {
        "matrix": rng.normal(size=(30, 40)), "strings": np.array([b"x", b"", b"yy"], object),
        "one": np.array(b"alone", object), "none": np.zeros([0, 2], np.float16),
    }  # fmt: skip
    (tmp_path / "tensors").write_bytes(pickle.dumps(tensors))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run(
        [os.environ["TF_PYTHON"], "-c", SAVE, str(tmp_path / "a"), str(tmp_path / "tensors")],
        check=True, env=environment, timeout=600,
    )  # fmt: skip
    write_bundle(tmp_path / "b", tensors)
    for end in (".index", ".data-00000-of-00001"):
        assert (tmp_path / f"a{end}").read_bytes() == (tmp_path / f"b{end}").read_bytes()
    assert BundleReader(tmp_path / "a").keys() == sorted(tensors)
