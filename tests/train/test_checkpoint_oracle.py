"""Checkpoints of TensorFlow are restored here, and ours there, with everything consumed; files alike byte for byte."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.checkpoint.bundle import BundleReader
from tapeflow.checkpoint.bundle_writing import write_bundle

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


SHARDS = """
import sys, os, tensorflow as tf
import numpy as np
folder, action = sys.argv[1:]
v1 = tf.compat.v1
if action == "write":
    values = {"a": np.arange(100.0), "b": np.arange(300.0).reshape(100, 3), "c": np.array(3)}
    checkpoint = tf.train.Checkpoint(**{k: tf.Variable(v) for k, v in values.items()})
    policy = tf.train.experimental.MaxShardSizePolicy(700)
    options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    checkpoint.write(os.path.join(folder, "shards"), options)
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", [10, 3], partitioner=v1.fixed_size_partitioner(4))
        session.run(v1.global_variables_initializer())
        np.save(os.path.join(folder, "v.npy"), session.run(tf.convert_to_tensor(v)))
        v1.train.Saver(sharded=True).save(session, os.path.join(folder, "parts"))
else:
    for key, shape in tf.train.list_variables(os.path.join(folder, "shards")):
        if key.startswith("_"):
            continue
        value = tf.train.load_variable(os.path.join(folder, "shards"), key)
        assert np.array_equal(np.ravel(value), np.arange(np.size(value)) + (3 if not shape else 0)), key
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", [10, 3], partitioner=v1.fixed_size_partitioner(3))
        v1.train.Saver().restore(session, os.path.join(folder, "parts"))
        found = session.run(tf.convert_to_tensor(v))
        assert np.array_equal(found, np.load(os.path.join(folder, "v.npy")))
print("done")
"""


def test_shards_and_parts_go_both_ways(tmp_path):
    here = SHARDS.replace("import sys, os, tensorflow as tf", "import sys, os, tapeflow as tf")
    programs = {sys.executable: here, os.environ["TF_PYTHON"]: SHARDS}
    for writer, reader in (list(programs), list(programs)[::-1]):
        folder = tmp_path / str(len(os.listdir(tmp_path)))
        folder.mkdir()
        for python, action in ((writer, "write"), (reader, "read")):
            environment = dict(os.environ)
            if python != sys.executable:
                environment.pop("PYTHONPATH", None)
            done = subprocess.run(
                [python, "-c", programs[python], str(folder), action],
                capture_output=True, text=True, env=environment,
            )  # fmt: skip
            assert done.stdout.endswith("done\n"), done.stderr[-2000:]
