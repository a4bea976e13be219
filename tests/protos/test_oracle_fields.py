"""All fields of all messages against TensorFlow's own descriptors: numbers, types, labels, choices, packing."""

import json
import os
import pathlib
import subprocess

import pytest

from tapeflow.protos import building

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]

HERE = pathlib.Path(__file__).parent
# Types whose own fields are not compared, as they are protobuf's.
KNOWN = "google.protobuf."


def ours(name):
    from google.protobuf import descriptor_pb2

    pool = building._pool().pool
    if building._entries()[name].is_enum:
        return {value.name: value.number for value in pool.FindEnumTypeByName(name).values}
    descriptor = pool.FindMessageTypeByName(name)
    message = descriptor_pb2.DescriptorProto()
    descriptor.CopyToProto(message)
    found = {}
    for field in message.field:
        own = descriptor.fields_by_name[field.name]
        oneof = own.containing_oneof.name if own.containing_oneof else ""
        found[field.name] = [
            field.number, field.type, field.label, field.type_name.lstrip("."), oneof, own.is_packed,
        ]  # fmt: skip
    return found


# Without those that are no longer TensorFlow's own.
FAMILIES = [family for family in building.FAMILIES if family not in ("boosted_trees", "projector")]


@pytest.fixture(scope="module")
def theirs():
    names = [name for name, entry in building._entries().items() if entry.family in FAMILIES]
    done = subprocess.run(
        [os.environ["TF_PYTHON"], str(HERE / "oracle_fields.py")],
        input=json.dumps(names), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("family", FAMILIES)
def test_fields(family, theirs):
    building._pool().fill(family)
    names = [name for name, entry in building._entries().items() if entry.family == family]
    assert names
    for name in names:
        assert ours(name) == theirs[name], name
