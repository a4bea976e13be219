"""Every node that can be written can be read, and what runs Python is written without a way into this process."""

import re
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph.interchange.written_as import is_composed, type_of
from tapeflow.graph.nodes import from_node_def as nodes
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.run import planning
from tapeflow.ops import node_rows
from tapeflow.ops.state.resource_op import row_of
from tapeflow.ops.table import REGISTRY

v1 = tf.compat.v1

# Operations that graphs hold, but that are written as others where the graph is.
NOT_WRITTEN = {"RefIdentity": "reference_variables.rewritten makes an Identity of it before a graph is built"}


def _kinds_that_run():
    nodes.load_all_rows()
    node_rows.load_all()
    forwarding = {kind for kind, row in node_rows.NODES.items() if row.forwards}
    resource_ops = {kind for kind in node_rows.NODES if row_of(kind) is not None}
    kinds = {*planning._EMIT, *forwarding, *REGISTRY, *resource_ops}
    return sorted(kinds - NOT_WRITTEN.keys())


def test_no_op_is_defined_twice():
    nodes.load_all_rows()
    node_rows.load_all()
    assert not node_rows.NODES.keys() & REGISTRY.keys()


def test_every_kind_of_node_that_runs_is_written_as_one_that_can_be_read():
    unknown = {}
    for kind in _kinds_that_run():
        row = REGISTRY.get(kind)
        if is_composed(row):
            continue  # a call of a function of the library
        written = type_of(kind, row)
        if not op_defs.known(written):
            unknown[kind] = written
    assert not unknown


class Printing(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def text(self, x):
        tf.print("x =", x, {"k": [x]}, "{}", output_stream=sys.stdout, end="!\n", summarize=1)
        return tf.strings.format("<{}>", x)

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def alone(self, x):
        tf.print(x)
        tf.print(tf.sparse.from_dense([[0, 1]]))
        tf.print("in the log", output_stream="error")
        return x

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def beside(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = v1.Print(3 * x, [x, 2 * x], message="seen: ", first_n=1)
        return tape.gradient(y, x)


def test_functions_that_print_are_saved_and_loaded(tmp_path, capsys, caplog):
    tf.saved_model.save(Printing(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.text(tf.constant([1.0, 2.0, 3.0])).numpy() == b"<[1 2 3]>"
    assert capsys.readouterr().out == "x = [1 ... 3] {'k': [[1 ... 3]]} {}!\n"
    loaded.alone(tf.constant("a\tb"))
    assert capsys.readouterr().err.splitlines()[:2] == [
        "a\tb",
        "'SparseTensor(indices=[[0 1]], values=[1], shape=[1 2])'",
    ]
    for _ in range(2):
        assert float(loaded.beside(tf.constant(2.0))) == 3.0
    assert capsys.readouterr().err == "seen: [2][4]\n"


def test_a_stream_without_a_name_cannot_be_written(tmp_path):
    class Stream:
        def write(self, text):
            """Takes text."""

        def flush(self):
            """Does nothing."""

    graph = tf.Graph()
    with graph.as_default():
        tf.print("x", output_stream=Stream())
    with pytest.raises(TypeError, match="output_stream"):
        graph.as_graph_def()


def test_unknown_streams_and_wrong_templates_in_graph_defs_are_refused():
    graph = tf.Graph()
    with graph.as_default():
        tf.print("x", tf.constant(1))
    for op, key, value in (("PrintV2", "output_stream", b"/etc/passwd"), ("StringFormat", "template", b"no place")):
        changed = graph.as_graph_def()
        next(n for n in changed.node if n.op == op).attr[key].s = value
        with tf.Graph().as_default(), pytest.raises(ValueError, match=op):
            tf.import_graph_def(changed)


def _python_node(function):
    graph = tf.Graph()
    with graph.as_default():
        v1.py_func(function, [np.float32(1)], tf.float32)
    return next(n for n in graph.as_graph_def().node if "PyFunc" in n.op)


def test_tokens_of_python_functions_are_counters():
    def function(x):
        return x

    tokens = [_python_node(function).attr["token"].s.decode() for _ in range(3)]
    numbers = [int(re.fullmatch("pyfunc_([0-9]+)", token)[1]) for token in tokens]
    assert numbers == [numbers[0] + i for i in range(3)]
    assert max(numbers) < 1 << 20


def test_a_token_of_this_process_calls_nothing():
    called = []
    node = _python_node(lambda x: called.append(x))
    made = v1.GraphDef(node=[node])
    del made.node[0].input[:]
    del made.node[0].attr["Tin"].list.type[:]
    with tf.Graph().as_default(), pytest.raises(tf.errors.UnimplementedError, match="Python function"):
        tf.import_graph_def(made, return_elements=[node.name])
    assert not called


def test_the_gradient_of_a_python_function_is_written_as_a_python_function():
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [])
        v1.gradients(tf.py_function(lambda x: x * x, [x], tf.float32), x)
    kinds = [n.op for n in graph.as_graph_def().node if "PyFunc" in n.op]
    assert kinds == ["EagerPyFunc", "EagerPyFunc"]
