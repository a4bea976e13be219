"""What makes graphs ready for inference: freezing, stripping, optimizing; and looking into checkpoints."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.tools import (
    freeze_graph,
    inspect_checkpoint,
    optimize_for_inference_lib,
    saved_model_utils,
    strip_unused_lib,
)

from .test_graph_transforms import X, built, convolution, depthwise, floats, norm, ops, result

v1 = tf.compat.v1
FLOAT = tf.float32.as_datatype_enum


def decomposed(x, gamma=True):
    """Batch normalization as sums and products."""
    mean, variance, beta = (tf.constant(floats(4)) for _ in range(3))
    factor = v1.rsqrt(tf.raw_ops.Add(x=variance, y=0.01))
    if gamma:
        factor = factor * tf.constant(floats(4))
    return tf.raw_ops.Add(x=convolution(x) * factor, y=beta - mean * factor)


GRAPHS = {
    "norm": lambda x: norm(convolution(x), 4),
    "bias": lambda x: norm(convolution(x) + tf.constant(floats(4)), 4),
    "apart": lambda x: tf.nn.relu(norm(depthwise(x), 6)),
    "checked": lambda x: tf.stop_gradient(tf.debugging.check_numerics(x, "bad")) * 2.0,
    "decomposed": decomposed,
    "decomposed without gamma": lambda x: decomposed(x, False),
}


def optimized(graph_def):
    return optimize_for_inference_lib.optimize_for_inference(graph_def, ["x"], ["y"], FLOAT)


@pytest.mark.parametrize("name", GRAPHS)
def test_optimized_graphs_compute_the_same(name):
    graph_def = built(GRAPHS[name])
    made = optimized(graph_def)
    assert not {"FusedBatchNormV3", "CheckNumerics", "Rsqrt", "StopGradient"} & set(ops(made))
    assert len(made.node) < len(graph_def.node)
    np.testing.assert_allclose(result(made), result(graph_def), rtol=2e-4, atol=2e-4)


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_optimized_graphs_are_those_of_tensorflow(tmp_path):
    program = str(pathlib.Path(__file__).with_name("oracle_tools.py"))
    # TensorFlow drops a check with its edges, so that what uses its value loses an input.
    names = [name for name in GRAPHS if name != "checked"]
    for name in names:
        (tmp_path / f"{name}.pb").write_bytes(built(GRAPHS[name]).SerializeToString())
    for python, package in ((os.environ["TF_PYTHON"], "tensorflow"), (sys.executable, "tapeflow")):
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
        if package == "tensorflow":
            environment.pop("PYTHONPATH", None)
        subprocess.run([python, program, package, str(tmp_path)], check=True, env=environment, timeout=600)
    for name in names:
        ours, theirs = (json.loads((tmp_path / f"{name}.{p}.json").read_text()) for p in ("tapeflow", "tensorflow"))
        known = {each[0]: each for each in theirs}
        # It leaves constants that nothing uses any more.
        assert [known.get(each[0]) for each in ours] == ours
        used = {text for each in theirs for text in each[2]}
        assert {each[0] for each in theirs if each[0] in used or each[0] == "y"} == {each[0] for each in ours}


def test_placeholders_become_constants():
    with v1.Graph().as_default() as graph:
        v1.placeholder_with_default(True, [], name="keras_learning_phase")
        v1.placeholder(tf.bool, name="mine")
        v1.placeholder(tf.float32, name="other")
    made = optimize_for_inference_lib.convert_placeholder_to_const(graph.as_graph_def(), ["mine=True", "other=True"])
    found = {node.name: node for node in made.node}
    assert not tf.make_ndarray(found["keras_learning_phase"].attr["value"].tensor)
    assert tf.make_ndarray(found["mine"].attr["value"].tensor)
    assert found["other"].op == "Placeholder"


def test_graphs_that_are_no_graphs():
    graph_def = built(tf.exp)
    graph_def.node.add().CopyFrom(graph_def.node[0])
    with pytest.raises(ValueError, match="Duplicate node names"):
        optimized(graph_def)
    del graph_def.node[-1], graph_def.node[0]
    with pytest.raises(ValueError, match="not found"):
        optimize_for_inference_lib.ensure_graph_is_valid(graph_def)


def saved(folder):
    """A graph with a variable, in files: (its GraphDef, the checkpoint)."""
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 8, 8, 3], name="x")
        weight = v1.get_variable("weight", initializer=np.float32([1, 2, 3]))
        tf.identity(x * weight, name="y")
        saver = v1.train.Saver()
        with v1.Session() as session:
            session.run(weight.initializer)
            path = saver.save(session, str(folder / "model"))
    v1.train.write_graph(graph, str(folder), "graph.pbtxt")
    return graph.as_graph_def(), path


def frozen(folder, **changes):
    given = {
        "input_graph": str(folder / "graph.pbtxt"), "input_saver": "", "input_binary": False,
        "input_checkpoint": str(folder / "model"), "output_node_names": "y", "restore_op_name": "",
        "filename_tensor_name": "", "output_graph": str(folder / "frozen.pb"), "clear_devices": True,
        "initializer_nodes": "",
    }  # fmt: skip
    return freeze_graph.freeze_graph(**{**given, **changes})


@pytest.mark.parametrize("source", ["graph", "meta graph"])
def test_frozen_graphs_have_no_variables(tmp_path, source):
    saved(tmp_path)
    changes = {}
    if source == "meta graph":
        changes = {"input_graph": "", "input_meta_graph": str(tmp_path / "model.meta"), "input_binary": True}
    made = frozen(tmp_path, **changes)
    assert "VarHandleOp" not in ops(made)
    np.testing.assert_allclose(result(made), X * np.float32([1, 2, 3]))
    assert v1.GraphDef.FromString((tmp_path / "frozen.pb").read_bytes()) == made


def test_saved_models_can_be_frozen(tmp_path):
    folder = tmp_path / "saved"
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 8, 8, 3], name="x")
        weight = v1.get_variable("weight", initializer=np.float32([1, 2, 3]))
        y = tf.identity(x * weight, name="y")
        with v1.Session(graph=graph) as session:
            session.run(weight.initializer)
            v1.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})
    assert saved_model_utils.get_saved_model_tag_sets(str(folder)) == [["serve"]]
    made = frozen(tmp_path, input_graph="", input_checkpoint="", input_saved_model_dir=str(folder))
    np.testing.assert_allclose(result(made), X * np.float32([1, 2, 3]))
    with pytest.raises(RuntimeError, match="tag-set 'other'"):
        saved_model_utils.get_meta_graph_def(str(folder), "other")


def test_reference_variables_of_old_graphs_are_frozen():
    graph_def = v1.GraphDef()
    variable = graph_def.node.add(name="v", op="VariableV2")
    variable.attr["dtype"].type = FLOAT
    variable.attr["shape"].shape.SetInParent()
    for name in ("read", "y"):
        node = graph_def.node.add(name=name, op="Identity", input=["v" if name == "read" else "read"])
        node.attr["T"].type = FLOAT
    with v1.Graph().as_default():
        v1.import_graph_def(graph_def, name="")
        with v1.Session() as session:
            handle = session.graph.get_operation_by_name("v/resource_handle").outputs[0]
            session.run(tf.raw_ops.AssignVariableOp(resource=handle, value=3.0))
            made = v1.graph_util.convert_variables_to_constants(session, graph_def, ["y"])
    assert [(node.name, node.op) for node in made.node] == [("v", "Const"), ("read", "Identity"), ("y", "Identity")]
    assert tf.make_ndarray(made.node[0].attr["value"].tensor) == 3


def test_what_cannot_be_frozen(tmp_path):
    saved(tmp_path)
    with pytest.raises(ValueError, match="doesn't exist"):
        frozen(tmp_path, input_checkpoint=str(tmp_path / "none"))
    with pytest.raises(ValueError, match="supply the name of a node"):
        frozen(tmp_path, output_node_names="")
    with pytest.raises(OSError, match="does not exist"):
        frozen(tmp_path, input_graph=str(tmp_path / "none"))
    frozen(tmp_path)
    with pytest.raises(ValueError, match="cannot freeze a graph twice"):
        frozen(tmp_path, input_graph=str(tmp_path / "frozen.pb"), input_binary=True)


def test_stripped_files(tmp_path, capsys):
    v1.train.write_graph(built(lambda x: tf.exp(tf.sin(x), name="e")), str(tmp_path), "in.pb", as_text=False)
    out = str(tmp_path / "out.pbtxt")

    def strip(inputs, outputs="y", source="in.pb"):
        return strip_unused_lib.strip_unused_from_files(
            str(tmp_path / source), True, out, False, inputs, outputs, FLOAT
        )

    assert strip("e") is None
    assert "2 ops in the final graph." in capsys.readouterr().out
    assert 'op: "Placeholder"' in pathlib.Path(out).read_text()
    with pytest.raises(KeyError, match="not found"):
        strip("nothing")
    with pytest.raises(ValueError, match="refer to a Tensor"):
        strip("e:0")
    assert strip("e", source="none") == strip("e", outputs="") == -1


def test_checkpoints_are_printed(tmp_path, capsys):
    _, path = saved(tmp_path)
    inspect_checkpoint.print_tensors_in_checkpoint_file(path, "", True)
    shown = capsys.readouterr().out
    assert "tensor: weight (float32) [3]" in shown
    assert "[1. 2. 3.]" in shown
    assert "# Total number of params: 3" in shown
    inspect_checkpoint.main([f"--file_name={path}", "--tensor_name=weight", "--count_exclude_pattern=w"])
    assert "# Excluding 1 tensors (3 params) that match w" in capsys.readouterr().out
    inspect_checkpoint.print_tensors_in_checkpoint_file(path + ".index", "", False)
    assert f"--file_name={path}\n" in capsys.readouterr().out


def test_options_of_printing():
    with np.printoptions():
        inspect_checkpoint.parse_numpy_printoption("threshold=7")
        assert np.get_printoptions()["threshold"] == 7
    for text in ("threshold", "unknown=1", "threshold=many"):
        with pytest.raises(argparse.ArgumentTypeError):
            inspect_checkpoint.parse_numpy_printoption(text)


ALIAS = """
import tapeflow.alias
tapeflow.alias.install_as_tensorflow()
from tensorflow.python.tools import freeze_graph, inspect_checkpoint, optimize_for_inference_lib, strip_unused_lib
from tensorflow.tools.graph_transforms import TransformGraph
import tensorflow as tf
made = TransformGraph(tf.Graph().as_graph_def(), [], [], ["fold_constants"])
print(len(made.node), freeze_graph.freeze_graph.__name__)
"""


def test_the_alias_has_them():
    done = subprocess.run([sys.executable, "-c", ALIAS], capture_output=True, text=True, check=False)
    assert done.stdout == "0 freeze_graph\n", done.stderr
