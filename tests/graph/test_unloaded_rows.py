"""Ops are known by their names in a process where nothing has loaded their rows yet."""

import subprocess
import sys

import pytest

PROGRAM = """
import tapeflow as tf
from tapeflow.graph.op_defs import messages
from tapeflow.ops.table import REGISTRY
assert "Igamma" not in REGISTRY
assert {asked}
"""
NODE = """
import tapeflow as tf
with tf.Graph().as_default() as graph:
    x = tf.compat.v1.placeholder(tf.float32, [3])
    op = graph.create_op("Igamma", [x, x], [tf.float32])
assert op.outputs[0].shape.as_list() == [3], op.outputs
"""
ASKED = {
    "known": "messages.known('Igamma')",
    "touches": "messages.touches('Igamma') == ''",
    "op_def": "messages.op_def('Igamma').name == 'Igamma'",
    "row": "REGISTRY['Igamma'].inputs == ('a', 'x')",
    "raw_ops": "tf.raw_ops.Igamma(a=1.0, x=1.0).numpy() > 0",
}


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=100)
    assert not done.returncode, done.stderr


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_rows_are_found(asked):
    run(PROGRAM.format(asked=asked))


def test_nodes_of_rows_are_made():
    run(NODE)
