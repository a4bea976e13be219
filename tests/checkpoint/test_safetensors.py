"""Files of safetensors: round trips, what the library writes, what is damaged, variables of objects."""

import contextlib
import json
import os
import random

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.checkpoint import safetensors

TENSORS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "scalar": np.float64(2.5),
    "none": np.zeros([0, 4], np.int16),
    "flags": np.array([True, False, True]),
    "bytes": np.arange(5, dtype=np.uint8),
    "longs": np.array([-1, 1 << 60]),
}


def test_round_trip(tmp_path):
    path = tmp_path / "x.safetensors"
    safetensors.save_file({**TENSORS, "half": tf.cast([1.5, 2.0], tf.bfloat16)}, path, {"format": "np"})
    found, metadata = safetensors.read(path)
    assert metadata == {"format": "np"}
    assert found.pop("half").tolist() == [1.5, 2.0]
    assert found.keys() == TENSORS.keys()
    for name, value in TENSORS.items():
        np.testing.assert_array_equal(found[name], value)
        assert found[name].dtype == np.asarray(value).dtype
    assert os.listdir(tmp_path) == ["x.safetensors"]


def file_of(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def test_a_file_of_the_library(tmp_path):
    """As safetensors 0.4 writes {"w": [[1, 2]] of float32}: offsets from the end of the header, padded with spaces."""
    text = b'{"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}'
    text += b" " * (-len(text) % 8)
    path = tmp_path / "x"
    path.write_bytes(file_of(text, np.array([1, 2], np.float32).tobytes()))
    np.testing.assert_array_equal(safetensors.load_file(path)["w"], [[1, 2]])
    safetensors.save_file({"w": np.array([[1, 2]], np.float32)}, tmp_path / "y")
    assert (tmp_path / "y").read_bytes() == path.read_bytes()


W = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"1234567",
        (1 << 62).to_bytes(8, "little"),
        file_of(b"{"),
        file_of(b"[1]"),
        file_of(b"[" * 100_000),
        file_of(b'{"a":1}'),
        file_of({"w": W}),
        file_of({"w": W}, bytes(9)),
        file_of({"w": {**W, "dtype": "F33"}}, bytes(8)),
        file_of({"w": {**W, "shape": [3]}}, bytes(8)),
        file_of({"w": {**W, "shape": [-2]}}, bytes(8)),
        file_of({"w": {**W, "shape": [True, 2]}}, bytes(8)),
        file_of({"w": {**W, "shape": [1 << 40, 1 << 40, 0]}}, bytes(8)),
        file_of({"w": {**W, "data_offsets": [4, 12]}}, bytes(12)),
        file_of({"w": {**W, "data_offsets": [8, 0]}}, bytes(8)),
        file_of({"w": W, "v": W}, bytes(8)),
        file_of(b'{"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"w":1}'),
        file_of({"__metadata__": {"a": 1}}),
        file_of({"w": {**W, "code": "x"}}, bytes(8)),
    ],
)
def test_damaged(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match="no sound safetensors file"):
        safetensors.load_file(tmp_path / "x")


def fuzz(tmp_path, seed, count):
    rng = random.Random(seed)
    path = tmp_path / "x"
    safetensors.save_file(TENSORS, path)
    sound = path.read_bytes()
    for _ in range(count):
        data = bytearray(sound)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data))
            if rng.random() < 0.6:
                data[at] = rng.randrange(256)
            else:
                del data[at : at + rng.randint(1, 20)]
        path.write_bytes(data)
        with contextlib.suppress(tf.errors.DataLossError):
            safetensors.load_file(path)


def test_changed_bytes(tmp_path):
    fuzz(tmp_path, 1, 200)


@pytest.mark.slow
def test_many_changed_bytes(tmp_path):
    fuzz(tmp_path, 2, 20_000)


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="which safetensors files cannot hold"):
        safetensors.save_file({"s": tf.constant("text")}, tmp_path / "x")
    with pytest.raises(TypeError, match="metadata"):
        safetensors.save_file({}, tmp_path / "x", {"a": 1})
    with pytest.raises(tf.errors.NotFoundError):
        safetensors.load_file(tmp_path / "x")
    assert os.listdir(tmp_path) == []


class Net(tf.Module):
    def __init__(self, value):
        super().__init__()
        self.w = tf.Variable([value, value])
        self.parts = [tf.Variable(value), {"b": tf.Variable(value)}]


def test_variables_of_an_object(tmp_path):
    path = tmp_path / "net"
    safetensors.save_model(Net(3.0), path)
    assert sorted(safetensors.load_file(path)) == ["parts.0", "parts.1.b", "w"]
    net = Net(0.0)
    assert safetensors.load_model(net, path) == ([], [])
    assert net.w.numpy().tolist() == [3.0, 3.0]
    assert net.parts[1]["b"].numpy() == 3.0
    net.more = tf.Variable(1.0)
    with pytest.raises(ValueError, match="has no \\['more'\\]"):
        safetensors.load_model(net, path)
    assert safetensors.load_model(net, path, strict=False) == (["more"], [])
    del net.more
    net.w = tf.Variable([1.0])
    with pytest.raises(ValueError, match="has shape"):
        safetensors.load_model(net, path)
