"""Every sample of every row as a node: written, read, and written again it is the same; TensorFlow accepts it."""

import os
import pathlib
import pickle
import subprocess

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos
from tapeflow.graph.nodes.from_node_def import load_all_rows
from tapeflow.ops.table import REGISTRY

load_all_rows()
# A table is an object of this process: no message can hold it.
ROWS = sorted(
    name
    for name, row in REGISTRY.items()
    if row.sample_source is not None and "table_handle" not in row.inputs
)
# What TensorFlow's definitions do not allow in a graph, and these rows do.
_LENGTHS = "TensorFlow's rule for shapes overlooks `fft_length`"
_LIMITS = "TensorFlow's rule for shapes forgets that n regions have n + 1 limits"
MORE = {
    "ApproxTopK": "float64",
    "CompareAndBitpack": "TensorFlow has removed the op",
    "ConcatV2": "a list of one",
    "FFTND": _LENGTHS,
    "FractionalAvgPool": _LIMITS,
    "FractionalMaxPool": _LIMITS,
    "IFFTND": _LENGTHS,
    "IRFFTND": _LENGTHS,
    "RFFTND": _LENGTHS,
    "Einsum": "equations that tf.einsum takes apart before it calls the op",
    "MatrixExponential": "TensorFlow has removed the op",
    "MaxPool3D": "float64",
    "MaxPool3DGrad": "float64",
    "TopK": "TensorFlow has removed the op",
}


class Generator:
    """What samples draw from: `normal(*shape)`."""

    def __init__(self):
        self.numbers = np.random.default_rng(7)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


def graphs(name):
    """A GraphDef for each good sample of a row; those with constants that cannot be written are left out."""
    row = REGISTRY[name]
    for sample in row.sample_source(Generator()):
        if sample.raises:
            continue
        graph = tf.Graph()
        with graph.as_default():
            row(*sample.inputs, **sample.attrs)
        if any(
            y.dtype == tf.variant
            for op in graph.get_operations()
            if op.type == "Const"
            for y in op.outputs
        ):
            continue
        yield protos.GraphDef.FromString(graph.as_graph_def(add_shapes=True).SerializeToString())


@pytest.mark.parametrize("name", ROWS)
def test_round_trip(name):
    for made in graphs(name):
        again = tf.Graph()
        with again.as_default():
            tf.import_graph_def(made, name="")
        assert again.as_graph_def(add_shapes=True) == made


def test_a_constant_that_cannot_be_written_is_named():
    handle = tf.raw_ops.TensorListReserve(
        element_shape=[], num_elements=2, element_dtype=tf.float32
    )
    graph = tf.Graph()
    with graph.as_default():
        tf.raw_ops.TensorListLength(input_handle=handle)
    with pytest.raises(TypeError, match="attr 'value' of operation 'Const'"):
        graph.as_graph_def()


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_tensorflow_accepts_them():
    made = [
        (name, each.SerializeToString())
        for name in ROWS
        if name not in MORE
        for each in graphs(name)
    ]
    script = pathlib.Path(__file__).parent / "oracle_imports.py"
    done = subprocess.run(
        [os.environ["TF_PYTHON"], str(script)],
        input=pickle.dumps([data for _, data in made]), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:].decode()
    wrong = [
        f"{name}: {text}"
        for (name, _), text in zip(made, pickle.loads(done.stdout), strict=True)
        if text
    ]
    assert not wrong, "\n".join(wrong)
