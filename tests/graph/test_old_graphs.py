"""Graphs that TensorFlow wrote, of ops of its first versions: they run as there, and are written as they were read.

`old_graph_programs.py` wrote `old_graphs.json`.
"""

from __future__ import annotations

import base64
import inspect
import json
import pathlib

import numpy as np
import pytest

import tapeflow as tf

WRITTEN = json.loads(pathlib.Path(__file__).with_name("old_graphs.json").read_text())


def graph_def(name):
    return tf.compat.v1.GraphDef.FromString(base64.b64decode(WRITTEN[name]["graph"]))


def check(got, want):
    if want is None:
        assert got is None
    elif isinstance(want, list):
        assert len(got) == len(want)
        for mine, its in zip(got, want, strict=True):
            check(mine, its)
    else:
        got = np.asarray(got)
        assert list(got.shape) == want["shape"]
        if want["dtype"] == "string":
            assert got.ravel().tolist() == [base64.b64decode(v) for v in want["elements"]]
            return
        assert got.dtype.name == want["dtype"]
        elements = np.array(want["elements"])
        if got.dtype.kind == "c":
            elements = elements.reshape(-1, 2) @ [1, 1j]
        np.testing.assert_allclose(got.ravel().astype(elements.dtype), elements, 1e-5, 1e-6)


def run_all(graph, runs):
    with tf.compat.v1.Session(graph=graph) as session:
        for fetch, want in runs:
            if isinstance(want, dict) and "error" in want:
                with pytest.raises(getattr(tf.errors, want["error"])):
                    session.run(fetch)
            else:
                check(session.run(fetch), want)


def imported(message):
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(message, name="")
    return graph


@pytest.mark.parametrize("name", WRITTEN)
def test_it_runs_as_there(name):
    run_all(imported(graph_def(name)), WRITTEN[name]["runs"])


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_of_it_runs_as_well(name):
    again = imported(graph_def(name)).as_graph_def()
    run_all(imported(again), WRITTEN[name]["runs"])


def names_of_references():
    raw = tf.raw_ops
    from tapeflow.ops.node_rows import NODES

    dir(raw)
    return sorted(name for name, op in NODES.items() if op.handles == "string_ref")


@pytest.mark.parametrize("name", names_of_references())
def test_references_are_for_graphs_only(name):
    function = getattr(tf.raw_ops, name)
    given = {
        key: tf.float32 if "type" in key or key.startswith("T") else 1
        for key, p in inspect.signature(function).parameters.items()
        if p.default is p.empty
    }
    given |= {key: [tf.float32] for key in given if key in ("component_types", "shapes")}
    given |= {key: [1] for key in given if key == "components"}
    with pytest.raises(RuntimeError, match=r"does not support eager execution\. Arg '.*' is a ref"):
        function(**given)


def test_references_of_a_graph_that_is_built_here():
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        w = raw.VariableV2(shape=[2], dtype=tf.float32, name="w")
        session.run(raw.Assign(ref=w, value=[1.0, 2.0]))
        assert session.run(raw.ApplyGradientDescent(var=w, alpha=0.5, delta=[1.0, 1.0])).tolist() == [0.5, 1.5]
        twice = raw.AssignAdd(ref=raw.AssignAdd(ref=w, value=[1.0, 1.0]), value=[1.0, 1.0])
        assert session.run(twice).tolist() == [2.5, 3.5]
        assert session.run(w).tolist() == [2.5, 3.5]
        variable = tf.compat.v1.Variable([1.0])
        session.run(variable.initializer)
        assert session.run(raw.ScatterAdd(ref=variable, indices=[0], updates=[2.0])).tolist() == [3.0]
        with pytest.raises(TypeError, match="'Assign' Op requires that input 'ref' be a mutable tensor"):
            raw.Assign(ref=tf.constant(1.0), value=2.0)
        graph_def = tf.compat.v1.get_default_graph().as_graph_def()
    assert "ReadVariableOp" in {node.op for node in graph_def.node}


def test_gradients_of_arrays_that_were_imported():
    message = graph_def("gradients_of_arrays")
    known = [node.name for node in message.node]
    with imported(message).as_default() as graph:
        runs = WRITTEN["gradients_of_arrays"]["runs"]
        (y, wanted) = runs[0][0], runs[1][1]
        x = next(graph.get_tensor_by_name(f"{name}:0") for name in known if name.startswith("Const"))
        found = tf.gradients(graph.get_tensor_by_name(y), x)
        with tf.compat.v1.Session() as session:
            check(session.run(found), wanted)


def test_filters_of_several_calls_at_once():
    raw, kinds = tf.raw_ops, {"output_types": [tf.int64], "output_shapes": [[]]}
    odd = tf.function(lambda x: x % 2 == 1).get_concrete_function(tf.TensorSpec((), tf.int64))
    numbers = raw.RangeDataset(start=0, stop=6, step=1, **kinds)
    made = raw.ParallelFilterDataset(
        input_dataset=numbers, other_arguments=[], num_parallel_calls=2, predicate=odd, **kinds
    )
    iterator = raw.AnonymousIteratorV3(**kinds)
    raw.MakeIterator(dataset=made, iterator=iterator)
    assert [int(raw.IteratorGetNext(iterator=iterator, **kinds)[0]) for _ in range(3)] == [1, 3, 5]


def test_a_value_is_no_handle():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="'QueueSize' Op requires that input 'handle' be a"):
        tf.raw_ops.QueueSize(handle=tf.constant("a"))
