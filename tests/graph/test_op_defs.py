"""The definitions of ops, made of rows, against TensorFlow's: so that the nodes of one can be those of the other."""

import os
import pathlib
import subprocess

import pytest

from tapeflow import protos
from tapeflow.graph.interchange.written_as import is_composed, type_of
from tapeflow.graph.nodes.from_node_def import load_all_rows
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.ops.table import REGISTRY

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python"),
]

# Attrs that rows do not have, and TensorFlow's defaults are what they do.
LACKING = {("ImageSummary", "bad_color")}


@pytest.fixture(scope="module")
def theirs():
    script = pathlib.Path(__file__).parent / "oracle_op_defs.py"
    done = subprocess.run([os.environ["TF_PYTHON"], str(script)], capture_output=True, check=True)
    return {op.name: op for op in protos.OpList.FromString(done.stdout).op}


def of_our_own(name):
    """Whether a row is written as other nodes, or can only be read here."""
    row = REGISTRY[name]
    return is_composed(row) or type_of(name, row) != name or bool(row.only_here)


def arguments(listed):
    return [(a.name, a.type, a.type_attr, a.number_attr, a.type_list_attr) for a in listed]


def test_rows_and_nodes_are_defined_as_in_tensorflow(theirs):
    load_all_rows()
    unlike = []
    for name in op_defs.names():
        if name in REGISTRY and of_our_own(name):
            continue
        if name not in theirs:
            unlike.append(f"{name}: TensorFlow has no such op")
            continue
        mine, its = op_defs.op_def(name), theirs[name]
        if arguments(mine.input_arg) != arguments(its.input_arg):
            unlike.append(f"{name}: inputs")
        if arguments(mine.output_arg) != arguments(its.output_arg):
            unlike.append(f"{name}: outputs")
        attrs = {a.name: a for a in its.attr}
        own = {a.name: a for a in mine.attr}
        missing = attrs.keys() - own.keys()
        unlike += [
            f"{name}: attr {key} is missing" for key in missing if (name, key) not in LACKING
        ]
        for key, attr in own.items():
            if key not in attrs:
                unlike.append(f"{name}: TensorFlow has no attr {key}")
            elif attr.type != attrs[key].type:
                unlike.append(f"{name}: attr {key} is a {attr.type}, should be a {attrs[key].type}")
            elif attr.HasField("default_value") and attr.default_value != attrs[key].default_value:
                unlike.append(f"{name}: default of {key}")
    assert not unlike, "\n".join(unlike)
