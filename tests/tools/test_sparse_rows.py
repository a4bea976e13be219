"""`sparsify_gather`: tables in the place of weights of which few rows are not 0."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.checkpoint.bundle_writing import write_bundle
from tapeflow.tools.graph_transforms import TransformGraph
from tapeflow.tools.nodes import constant, made

v1 = tf.compat.v1
IDS = np.array([[0, 3], [2, 1]])
COLUMN = np.float32([[0.25], [1e-6], [1.5], [-0.001]])


def gathered(graph_def, ids, init=()):
    with v1.Graph().as_default() as graph:
        v1.import_graph_def(graph_def, name="")
        with v1.Session(graph=graph) as session:
            session.run(list(init))
            return session.run("y:0", {"ids:0": ids})


def constants(value=COLUMN, dtype=tf.int64, axis=0):
    with v1.Graph().as_default() as graph:
        ids = v1.placeholder(dtype, [None, None], name="ids")
        weights = tf.identity(tf.constant(value, name="w/part_0"), name="w/read")
        tf.gather(weights, ids, axis=axis, name="y")
    return graph.as_graph_def()


def by_name(graph_def):
    return {node.name: node for node in graph_def.node}


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_rows_of_constants(dtype):
    graph_def = constants(dtype=dtype)
    changed = TransformGraph(graph_def, ["ids"], ["y"], ["sparsify_gather"])
    nodes = by_name(changed)
    assert not {"w/part_0", "w/read", "y/axis"} & nodes.keys()
    assert nodes["y"].op == "ExpandDims"
    assert [*nodes["group_deps"].input] == ["^w/part_0/InitializeTable"]
    np.testing.assert_array_equal(tf.make_ndarray(nodes["w/part_0/indices"].attr["value"].tensor), [0, 2, 3])
    found = gathered(changed, IDS.astype(dtype), ["group_deps"])
    np.testing.assert_array_equal(found, np.where(np.abs(COLUMN) < 1e-5, 0, COLUMN)[IDS])
    np.testing.assert_allclose(found, gathered(graph_def, IDS.astype(dtype)), atol=1e-5)


def test_weights_of_zeros_alone():
    changed = TransformGraph(constants(0 * COLUMN), ["ids"], ["y"], ["sparsify_gather"])
    np.testing.assert_array_equal(gathered(changed, IDS, ["group_deps"]), np.zeros((2, 2, 1)))


def linear(path):
    """A partitioned column of a linear model as of 1.x, in a checkpoint, with a report and an `init` that sets it."""
    write_bundle(path, {"w": COLUMN})
    column, nodes = {"T": tf.float32}, []
    for i, part in enumerate(("4 1 0,2:0,1", "4 1 2,2:0,1")):
        w = f"w/part_{i}"
        variable = made("VariableV2", w, dtype=tf.float32)
        variable.attr["shape"].shape.CopyFrom(tf.TensorShape([2, 1]).as_proto())
        gather = made("GatherV2", f"rows_{i}", [f"{w}/read", "ids", f"axis_{i}"], Tparams=tf.float32,
                      Tindices=tf.int64, Taxis=tf.int32)  # fmt: skip
        specs = [constant(f"save/names_{i}", [b"w"]), constant(f"save/specs_{i}", [part.encode()])]
        restore = made("RestoreV2", f"save/RestoreV2_{i}", ["save/Const", specs[0].name, specs[1].name])
        restore.attr["dtypes"].list.type.append(tf.float32.as_datatype_enum)
        nodes += [
            variable, made("Identity", f"{w}/read", [w], **column), constant(f"axis_{i}", 0), gather, *specs, restore,
            constant(f"{w}/zeros", np.zeros((2, 1), np.float32)),
            made("Assign", f"{w}/Assign", [w, f"{w}/zeros"], **column),
            made("Assign", f"save/Assign_{i}", [w, restore.name], **column),
        ]  # fmt: skip
    report = made("ConcatV2", "report", ["w/part_0/read", "w/part_1/read", "zeros", "axis"], **column, Tidx=tf.int32)
    report.attr["N"].i = 3
    return v1.GraphDef(node=[
        made("Placeholder", "ids", dtype=tf.int64), *nodes, constant("save/Const", path.encode()),
        constant("zeros", np.zeros((1, 1), np.float32)), constant("axis", 0), report,
        made("AddV2", "y", ["rows_0", "rows_1"], **column), made("NoOp", "init", ["^w/part_0/Assign"]),
    ])  # fmt: skip


def test_variables_in_a_checkpoint(tmp_path):
    path = str(tmp_path / "model.ckpt")
    call = f'sparsify_gather(input_checkpoint="{path}", group_init_node="init")'
    graph_def = TransformGraph(linear(path), ["ids"], ["y", "report"], [call])
    nodes = by_name(graph_def)
    assert not [node.name for node in graph_def.node if node.op in ("VariableV2", "Assign", "GatherV2")]
    assert {*nodes["init"].input} == {f"^w/part_{i}/InitializeTable" for i in (0, 1)}
    assert (nodes["report"].op, [*nodes["report"].input]) == ("Identity", ["zeros"])
    assert not {"axis", "w/part_0/zeros"} & nodes.keys()
    want = [[COLUMN[0] + COLUMN[2], COLUMN[1] + COLUMN[3]]]
    np.testing.assert_allclose(gathered(graph_def, np.array([[0, 1]]), ["init"]), want, atol=2e-5)


def test_weights_that_are_used_otherwise_stay():
    with v1.Graph().as_default() as graph:
        ids = v1.placeholder(tf.int64, [None, None], name="ids")
        weights = tf.identity(tf.constant(COLUMN, name="w"), name="w/read")
        tf.add(tf.gather(weights, ids), tf.reduce_sum(weights), name="y")
    changed = TransformGraph(graph.as_graph_def(), ["ids"], ["y"], ["sparsify_gather"])
    assert {"w", "w/read", "w/HashTable"} <= by_name(changed).keys()
    np.testing.assert_allclose(
        gathered(changed, IDS, ["group_deps"]), gathered(graph.as_graph_def(), IDS), atol=1e-5
    )


@pytest.mark.parametrize(
    ("graph", "said"),
    [(lambda: constants(axis=1), "axis 0. Found axis 1"), (lambda: constants(np.eye(2, dtype="f")), r"shape \[2, 2\]"),
     (lambda: constants(np.eye(2)), "'w/part_0' and dtype 'float64'")],
)  # fmt: skip
def test_what_tables_cannot_hold(graph, said):
    with pytest.raises(tf.errors.FailedPreconditionError, match=said):
        TransformGraph(graph(), ["ids"], ["y"], ["sparsify_gather"])


def test_variables_need_a_checkpoint(tmp_path):
    with pytest.raises(tf.errors.InternalError, match="Checkpoint reader was not initialized"):
        TransformGraph(linear(str(tmp_path / "model.ckpt")), ["ids"], ["y"], ["sparsify_gather"])
