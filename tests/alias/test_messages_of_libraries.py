"""Messages that libraries compiled, with fields that are messages of TensorFlow's files."""

import os
import subprocess
import sys

import pytest

# What a compiler of protocol buffers writes: the modules of the files that are imported, then the bytes of this one.
LIBRARY = """
from tensorflow.core.framework import tensor_shape_pb2, types_pb2
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

file = descriptor_pb2.FileDescriptorProto(name="library/schema.proto", package="library", syntax="proto3")
file.dependency.extend(["tensorflow/core/framework/tensor_shape.proto", "tensorflow/core/framework/types.proto"])
message = file.message_type.add(name="Feature")
message.field.add(name="shape", number=1, label=1, type=11, type_name=".tensorflow.TensorShapeProto")
message.field.add(name="dtype", number=2, label=1, type=14, type_name=".tensorflow.DataType")
pool = descriptor_pool.Default()
pool.AddSerializedFile(file.SerializeToString())
Feature = message_factory.GetMessageClass(pool.FindMessageTypeByName("library.Feature"))
"""
USE = """
import tensorflow as tf
feature = Feature(shape=tf.TensorShape([2, None]).as_proto(), dtype=types_pb2.DT_FLOAT)
assert isinstance(feature.shape, tensor_shape_pb2.TensorShapeProto)
assert tf.TensorShape(Feature.FromString(feature.SerializeToString()).shape).as_list() == [2, None]
assert tf.as_dtype(feature.dtype) == tf.float32
assert tensor_shape_pb2.DESCRIPTOR.name == "tensorflow/core/framework/tensor_shape.proto"
print("done")
"""


def run(code, **environment):
    """What a program on the alias prints."""
    command = [sys.executable, "-m", "tapeflow.run", "-c", code]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("implementation", ["upb", "python"])
def test_fields_of_a_librarys_messages_are_tensorflows_messages(implementation):
    assert run(LIBRARY + USE, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=implementation) == "done"


STUBS = """
import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorflow.core.framework import tensor_pb2
from tensorflow.core.protobuf import error_codes_pb2
from tapeflow.protos import building

error_codes_pb2.xla_dot_tsl_dot_protobuf_dot_error__codes__pb2  # as code of a public import says
file = building._file("serving")
file.name = "tensorflow_serving/apis/all.proto"
file.dependency[:] = ["tensorflow/core/framework/tensor.proto", "google/protobuf/any.proto",
                      "google/protobuf/wrappers.proto"]
pool = descriptor_pool.Default()
pool.AddSerializedFile(file.SerializeToString())
Request = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.serving.PredictRequest"))
request = Request()
request.inputs["x"].CopyFrom(tf.make_tensor_proto([1.0, 2.0]))
from tapeflow import protos
assert getattr(protos, "serving.PredictRequest").DESCRIPTOR is Request.DESCRIPTOR
print(tf.make_ndarray(request.inputs["x"]).tolist())
"""


@pytest.mark.parametrize("implementation", ["upb", "python"])
def test_stubs_of_tensorflow_serving_bring_their_own_messages(implementation):
    assert run(STUBS, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=implementation) == "[1.0, 2.0]"


def test_another_copy_of_the_messages_may_be_there_already():
    code = """
from google.protobuf import descriptor_pb2, descriptor_pool
file = descriptor_pb2.FileDescriptorProto(name="copy/tensor_shape.proto", package="tensorflow", syntax="proto3")
file.message_type.add(name="TensorShapeProto")
descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
import tensorflow as tf
print(tf.TensorShape([2, 3]).as_proto().dim[1].size)
"""
    assert run(code) == "3"


def test_messages_stay_private_without_the_alias():
    code = """
import tapeflow as tf
from google.protobuf import descriptor_pool
tf.TensorShape([2]).as_proto()
try:
    descriptor_pool.Default().FindMessageTypeByName("tensorflow.TensorShapeProto")
except KeyError:
    print("private")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "private", done.stderr
