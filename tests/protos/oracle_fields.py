"""Run by a Python that has TensorFlow: prints the fields of the messages and values of the enums named on its input.

One JSON object by full name: {field: [number, type, label, type name, oneof, packed]} or {value: number}.
"""

import importlib
import json
import os
import pkgutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

from google.protobuf import descriptor_pb2, descriptor_pool
from tensorflow import core

for _, name, _ in pkgutil.walk_packages(core.__path__, "tensorflow.core."):
    if name.endswith("_pb2"):
        importlib.import_module(name)


def described(descriptor, fields):
    """What `fields` (those of a DescriptorProto) say, for comparison."""
    found = {}
    for field in fields.field:
        own = descriptor.fields_by_name[field.name]
        oneof = own.containing_oneof.name if own.containing_oneof else ""
        found[field.name] = [
            field.number, field.type, field.label, field.type_name.lstrip("."), oneof, own.is_packed,
        ]  # fmt: skip
    return found


def describe(pool, name):
    """The fields of a message, or the values of an enum."""
    try:
        descriptor = pool.FindMessageTypeByName(name)
    except KeyError:
        return {value.name: value.number for value in pool.FindEnumTypeByName(name).values}
    fields = descriptor_pb2.DescriptorProto()
    descriptor.CopyToProto(fields)
    return described(descriptor, fields)


if __name__ == "__main__":
    names = json.load(sys.stdin)
    json.dump({name: describe(descriptor_pool.Default(), name) for name in names}, sys.stdout)
