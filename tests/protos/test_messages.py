"""The messages as Python sees them; their fields against TensorFlow's own are in test_oracle_fields.py."""

import copy
import pickle
import subprocess
import sys

import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.core import context


def test_every_name_builds():
    for name in dir(protos):
        assert getattr(protos, name) is getattr(protos, name)
    assert {"GraphDef", "ConfigProto", "SavedModel", "Event", "DataType"} <= set(dir(protos))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchProto"):
        _ = protos.NoSuchProto


def test_full_names_and_bytes_are_tensorflows():
    node = protos.NodeDef(name="n", op="Const")
    node.attr["dtype"].type = protos.DataType.DT_FLOAT
    assert node.DESCRIPTOR.full_name == "tensorflow.NodeDef"
    # 1: "n", 2: "Const", 5: {1: "dtype", 2: {6: 1}}
    assert node.SerializeToString() == b"\x0a\x01n\x12\x05Const*\x0b\x0a\x05dtype\x12\x02\x30\x01"


def test_messages_round_trip_copy_and_pickle():
    graph = protos.GraphDef()
    graph.node.add(name="a", op="NoOp")
    assert protos.GraphDef.FromString(graph.SerializeToString()) == graph
    assert copy.deepcopy(graph) == graph
    assert pickle.loads(pickle.dumps(graph)) == graph


def test_one_of_several_replaces_the_other():
    value = protos.AttrValue(i=3)
    value.s = b"x"
    assert value.WhichOneof("value") == "s"
    assert value.i == 0


def test_optional_fields_are_seen_to_be_absent():
    options = protos.ConfigProto().experimental.coordination_config
    fields = [f for f in options.DESCRIPTOR.fields if f.has_presence]
    assert all(not options.HasField(f.name) for f in fields)


def test_any_packs_messages_of_the_same_pool():
    meta = protos.MetaGraphDef()
    meta.meta_info_def.any_info.Pack(protos.NodeDef(name="n"))
    node = protos.NodeDef()
    assert meta.meta_info_def.any_info.Unpack(node)
    assert node.name == "n"


def test_the_same_names_can_live_in_the_default_pool():
    code = (
        "from google.protobuf import descriptor_pb2 as d, descriptor_pool as p\n"
        "f = d.FileDescriptorProto(name='other.proto', package='tensorflow')\n"
        "f.message_type.add(name='GraphDef')\n"
        "p.Default().AddSerializedFile(f.SerializeToString())\n"
        "from tapeflow import protos\n"
        "protos.GraphDef().node.add(name='a')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "name",
    [
        "AttrValue",
        "ConfigProto",
        "Event",
        "GPUOptions",
        "GraphDef",
        "GraphOptions",
        "HistogramProto",
        "LogMessage",
        "MetaGraphDef",
        "NameAttrList",
        "NodeDef",
        "OptimizerOptions",
        "RunMetadata",
        "RunOptions",
        "SessionLog",
        "Summary",
        "SummaryMetadata",
        "TensorInfo",
    ],
)
def test_public_names_of_1x(name):
    assert getattr(tf.compat.v1, name) is getattr(protos, name)
    assert name in dir(tf.compat.v1)


@pytest.mark.parametrize(
    "name",
    [
        "BytesList",
        "ClusterDef",
        "Example",
        "Feature",
        "FeatureList",
        "FeatureLists",
        "Features",
        "FloatList",
        "Int64List",
        "JobDef",
        "SequenceExample",
        "ServerDef",
    ],
)
def test_public_names_of_train(name):
    assert getattr(tf.train, name) is getattr(protos, name)
    assert getattr(tf.compat.v1.train, name) is getattr(protos, name)


def test_a_config_enables_eager_execution(monkeypatch):
    monkeypatch.setattr(context, "_enabled_with", None)
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    tf.compat.v1.enable_eager_execution(config)
