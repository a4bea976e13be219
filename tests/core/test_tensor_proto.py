"""Tensors as messages, and what messages from elsewhere may hold."""

import importlib.util
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.core.files import tensor_proto

HERE = pathlib.Path(__file__).parent
_spec = importlib.util.spec_from_file_location("tensor_proto_calls", HERE / "tensor_proto_calls.py")
tensor_proto_calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tensor_proto_calls)

# Calls that TensorFlow answers otherwise, on purpose.
DIFFERENT = {
    "tf.make_tensor_proto([np.array([1, 2]), np.array([3, 4])])": "TensorFlow refuses lists of arrays",
    "tf.make_ndarray(proto([], dtype=20))": "the error says what is wrong",
    "tf.make_ndarray(proto([1], dtype=21))": "the error says what is wrong",
}


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_calls_against_tensorflow():
    done = subprocess.run(
        [os.environ["TF_PYTHON"], str(HERE / "tensor_proto_calls.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(done.stdout)
    ours = json.loads(json.dumps(tensor_proto_calls.answers(tf)))
    unlike = [
        (call, mine, its)
        for call, mine, its in zip(tensor_proto_calls.CALLS, ours, theirs, strict=True)
        if mine != its and call not in DIFFERENT
    ]
    assert not unlike, "\n".join(map(str, unlike))


@pytest.mark.parametrize(
    "array",
    [
        np.float32([[1, 2], [3, 4]]),
        np.float32(3),
        np.zeros([0, 2]),
        np.full([5], 7, np.int64),
        np.array([1 + 2j, 3]),
        np.array([True, False]),
        np.array([b"a", b"", b"\xff"], object),
        np.float32([np.nan, -0.0]),
        np.float16([0.5, 0.5, 1]),
    ],
)
def test_eager_tensors_round_trip(array):
    tensor = tf.constant(array)
    again = tensor_proto.to_tensor(tensor_proto.of_tensor(tensor))
    assert again.dtype == tensor.dtype
    assert again.shape == tensor.shape
    assert again.numpy().tobytes() == tensor.numpy().tobytes() or (again.numpy() == array).all()


def test_bfloat16_round_trips():
    tensor = tf.constant([0.5, 1.5, -2.0], tf.bfloat16)
    again = tensor_proto.to_tensor(tensor_proto.of_tensor(tensor))
    assert again.dtype == tf.bfloat16
    assert (again.numpy() == tensor.numpy()).all()


def test_equal_elements_are_written_once():
    proto = tensor_proto.of_tensor(tf.fill([1000], 2.5))
    assert list(proto.float_val) == [2.5]
    assert proto.ByteSize() < 30
    # -0 and 0 are equal, and not the same.
    assert not tensor_proto.of_tensor(tf.constant([0.0, -0.0])).float_val


def _proto(sizes, **fields):
    proto = protos.TensorProto(**fields)
    for size in sizes:
        proto.tensor_shape.dim.add(size=size)
    return proto


@pytest.mark.parametrize(
    "proto",
    [
        _proto([], dtype=0),
        _proto([], dtype=77),
        _proto([], dtype=101, float_val=[1]),
        _proto([], dtype=20),
        _proto([-1], dtype=1),
        _proto([2], dtype=1, tensor_content=b"abc"),
        _proto([3], dtype=1, tensor_content=b"abcd"),
        _proto([1 << 62, 4], dtype=1, float_val=[1]),
        _proto([1 << 40], dtype=1, float_val=[1]),
        _proto([1] * 300, dtype=1, float_val=[1]),
        _proto([1], dtype=1, float_val=[1, 2]),
        _proto([1], dtype=4, int_val=[300]),
        protos.TensorProto(dtype=1, tensor_shape=protos.TensorShapeProto(unknown_rank=True)),
    ],
)
def test_hostile_messages_are_value_errors(proto):
    with pytest.raises(ValueError, match="Cannot parse tensor from proto: here"):
        tensor_proto.to_tensor(proto, "here")


def test_shapes_as_messages():
    for shape in (None, [], [1, None, 3]):
        again = tf.TensorShape(tf.TensorShape(shape).as_proto())
        assert again.rank == tf.TensorShape(shape).rank
        assert shape is None or again.as_list() == shape
