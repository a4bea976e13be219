"""Frozen functions compute what the functions did, here and in TensorFlow, without variables and calls."""

import os
import pathlib
import pickle
import subprocess

import numpy as np
import pytest
from google.protobuf import text_format

import tapeflow as tf
from tapeflow.function.freezing import convert_variables_to_constants_v2
from tapeflow.function.optimizing import optimize_graph
from tapeflow.graph.interchange.freezing import freeze


class Model(tf.Module):
    """Functions that use variables in all the ways that can be frozen."""

    def __init__(self):
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.table = tf.Variable(np.arange(24, dtype=np.float32).reshape(2, 3, 4), name="table")
        self.scale = tf.constant([2.0, 0.5])

    @tf.function
    def inner(self, x):
        return tf.tanh(x @ self.w)

    def plain(self, x, i):
        return x @ self.w * self.scale

    def nested(self, x, i):
        return self.inner(self.inner(x)) + self.inner(x)

    def loop(self, x, i):
        for k in tf.range(3):
            x = x + self.inner(x) * tf.cast(k, tf.float32)
        return x

    def loop_in_branch(self, x, i):
        def body(k, y):
            return k + 1, tf.cond(tf.reduce_sum(y) > 3.0, lambda: y @ self.w, lambda: y + self.w[0])

        return tf.cond(x[0, 0] > 0.0, lambda: tf.while_loop(lambda k, y: k < 4, body, [0, x])[1], lambda: x)

    def case(self, x, i):
        return tf.switch_case(i[0], [lambda: x @ self.w, lambda: x * self.w[1], lambda: x])

    def gather(self, x, i):
        return {"rows": tf.gather(self.table, i), "one": x, "size": tf.shape(self.table)}

    def gather_batch(self, x, i):
        return tf.gather(self.table, tf.stack([i, i]), batch_dims=1, axis=1)

    def gather_nd(self, x, i):
        return tf.gather_nd(self.table, tf.stack([i, i], axis=1))

    def gather_in_loop(self, x, i):
        total = tf.zeros([3, 4])
        for k in tf.range(2):
            total += tf.gather(self.table, k)
        return total * x[0, 0]

    def folded(self, x, i):
        return x * tf.reduce_sum(tf.sqrt(self.w) + tf.range(2.0))

    def constant(self, x, i):
        return self.w, tf.constant(3.0), x

    def twice(self, x, i):
        y = self.inner(x)
        return y, y, i


KINDS = [name for name in vars(Model) if not name.startswith("_") and name != "inner"]
SPECS = [tf.TensorSpec([None, 2], tf.float32, "x"), tf.TensorSpec([None], tf.int32, "i")]
ARGUMENTS = np.float32([[1, -2], [0.5, 3]]), np.int32([1, 0])


def traced(model, name):
    return tf.function(getattr(model, name)).get_concrete_function(*SPECS)


def saved(model, name, folder):
    """The function as it is in a SavedModel, where calls are kept."""
    holder = tf.Module()
    holder.model, holder.call = model, tf.function(getattr(model, name), input_signature=SPECS)
    tf.saved_model.save(holder, str(folder))
    return tf.saved_model.load(str(folder)).call.get_concrete_function(*SPECS)


def nodes_of(graph_def):
    yield from graph_def.node
    for function in graph_def.library.function:
        yield from function.node_def


def check(concrete):
    expected = tf.nest.flatten(concrete(*map(tf.constant, ARGUMENTS)))
    frozen = convert_variables_to_constants_v2(concrete)
    found = frozen(*map(tf.constant, ARGUMENTS))
    assert len(found) == len(expected)
    for mine, its in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-6)
    assert [x.name for x in frozen.inputs] == ["x:0", "i:0"]
    assert frozen.captured_inputs == []
    graph_def = frozen.graph.as_graph_def()
    kinds = {node.op for node in nodes_of(graph_def)}
    assert not {kind for kind in kinds if "Variable" in kind or "Resource" in kind or "PartitionedCall" in kind}
    return frozen, graph_def, expected


@pytest.mark.parametrize("name", KINDS)
def test_frozen_functions_compute_the_same(name):
    check(traced(Model(), name))


@pytest.mark.parametrize("name", KINDS)
def test_functions_of_saved_models_can_be_frozen(name, tmp_path):
    check(saved(Model(), name, tmp_path))


def test_what_follows_from_constants_is_computed():
    _, graph_def, _ = check(traced(Model(), "folded"))
    assert sorted(node.op for node in graph_def.node) == ["Const", "Identity", "Mul", "Placeholder", "Placeholder"]
    _, graph_def, _ = check(traced(Model(), "nested"))
    assert sum(node.op == "Const" for node in graph_def.node) == 1


def test_a_frozen_function_keeps_its_values():
    model = Model()
    concrete = traced(model, "plain")
    frozen = convert_variables_to_constants_v2(concrete)
    before = concrete(*map(tf.constant, ARGUMENTS)).numpy()
    model.w.assign(tf.zeros([2, 2]))
    np.testing.assert_array_equal(frozen(*map(tf.constant, ARGUMENTS))[0], before)


def test_effects_are_kept(capfd):
    w = tf.Variable(2.0)

    @tf.function
    def say(x):
        tf.print("value", x * w)

    @tf.function
    def f(x):
        say(x)
        return x + w

    frozen = convert_variables_to_constants_v2(f.get_concrete_function(tf.TensorSpec([], tf.float32)))
    assert frozen(tf.constant(3.0))[0].numpy() == 5.0
    assert "value 6" in capfd.readouterr().err


def test_tables_stay_captured():
    keys = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    table = tf.lookup.StaticHashTable(keys, -1)
    w = tf.Variable(10)
    f = tf.function(lambda x: table.lookup(x) * w)
    frozen = convert_variables_to_constants_v2(f.get_concrete_function(tf.TensorSpec([None], tf.string)))
    assert frozen(tf.constant(["b", "c"]))[0].numpy().tolist() == [20, -10]


def test_an_assignment_cannot_be_frozen():
    w = tf.Variable(1.0)
    f = tf.function(lambda x: w.assign_add(x))
    with pytest.raises(ValueError, match=r"AssignAddVariableOp.*cannot be converted"):
        convert_variables_to_constants_v2(f.get_concrete_function(tf.TensorSpec([], tf.float32)))


def test_an_optimized_graph_keeps_its_results():
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name="x")
        tf.add(x * tf.reduce_sum(tf.range(3.0)), 1.0, name="y")
        tf.identity(tf.constant([1.0, 2.0]) * 2.0, name="z")
        tf.negative(x, name="unused")
    meta_graph = v1.train.export_meta_graph(graph=graph)
    meta_graph.collection_def["train_op"].node_list.value.extend(["x:0", "y:0", "z"])
    made = optimize_graph(None, meta_graph)
    kinds = {node.name: node.op for node in made.node}
    assert {name: kinds[name] for name in "xyz"} == {"x": "Placeholder", "y": "AddV2", "z": "Identity"}
    assert "unused" not in kinds
    assert sorted(kinds.values()) == ["AddV2", "Const", "Const", "Const", "Identity", "Mul", "Placeholder"]
    with tf.Graph().as_default(), v1.Session() as session:
        tf.import_graph_def(made, name="")
        found = session.run(["y:0", "z:0"], {"x:0": [1.0, 2.0]})
    np.testing.assert_array_equal(found, [[4, 7], [2, 4]])
    del meta_graph.collection_def["train_op"]
    with pytest.raises(ValueError, match="names no results"):
        optimize_graph(None, meta_graph)


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_tensorflow_runs_frozen_functions(tmp_path):
    asked, wanted = [], []
    for name in KINDS:
        for concrete in (traced(Model(), name), saved(Model(), name, tmp_path / name)):
            frozen, graph_def, expected = check(concrete)
            feeds = dict(zip([x.name for x in frozen.inputs], ARGUMENTS, strict=True))
            asked.append((graph_def.SerializeToString(), feeds, [y.name for y in frozen.outputs]))
            wanted.append((name, [y.numpy() for y in expected]))
    script = pathlib.Path(__file__).parent / "frozen_runs.py"
    done = subprocess.run(
        [os.environ["TF_PYTHON"], str(script)], input=pickle.dumps(asked), capture_output=True, check=True
    )
    for (name, expected), found in zip(wanted, pickle.loads(done.stdout), strict=True):
        assert not isinstance(found, str), (name, found)
        for mine, its in zip(expected, found, strict=True):
            np.testing.assert_allclose(mine, its, rtol=2e-6, atol=1e-6, err_msg=name)


def test_large_results_are_not_computed_while_freezing():
    function = tf.function(lambda: tf.fill([30_000, 30_000], 1.0)[0, 0]).get_concrete_function()
    frozen = convert_variables_to_constants_v2(function)
    assert "Fill" in {op.type for op in frozen.graph.get_operations()}


def test_loops_of_1x_can_be_frozen():
    nodes = """
        node { name: "x" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value {
               tensor { dtype: DT_INT32 tensor_shape { } int_val: 3 } } } }
        node { name: "enter" op: "Enter" input: "x" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "frame_name" value { s: "f" } } }
        node { name: "merge" op: "Merge" input: "enter" input: "next" attr { key: "T" value { type: DT_INT32 } }
               attr { key: "N" value { i: 2 } } }
        node { name: "next" op: "NextIteration" input: "merge" attr { key: "T" value { type: DT_INT32 } } }
    """
    given = text_format.Parse(nodes, tf.compat.v1.GraphDef())
    assert sorted(node.name for node in freeze(given, {}).node) == ["enter", "merge", "next", "x"]


def test_only_concrete_functions():
    with pytest.raises(TypeError, match="Expected a concrete function"):
        convert_variables_to_constants_v2(tf.function(lambda x: x))


@pytest.mark.parametrize("lower", [True, False])
def test_branches_and_loops_say_whether_they_may_be_lowered(lower):
    model = Model()
    function = tf.function(model.loop_in_branch).get_concrete_function(
        tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.int32)
    )
    graph_def = convert_variables_to_constants_v2(function, lower_control_flow=lower).graph.as_graph_def()
    found = [*graph_def.node, *(node for f in graph_def.library.function for node in f.node_def)]
    marks = {node.op: node.attr["_lower_using_switch_merge"].b for node in found if "body" in node.attr or
             "then_branch" in node.attr}  # fmt: skip
    assert len(marks) >= 2
    assert set(marks.values()) == {lower}


def test_names_in_functions_of_branches_and_loops_are_names_of_one_node():
    concrete = traced(Model(), "loop_in_branch")
    graph_def = convert_variables_to_constants_v2(concrete).graph.as_graph_def()
    names = [node.name for node in graph_def.node]
    names += [node.name for f in graph_def.library.function for node in f.node_def]
    assert len(set(names)) == len(names)


def test_a_table_is_a_node_with_a_name_that_finds_it():
    keys, values = tf.constant(["a", "b"]), tf.constant([5, 6], tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    function = tf.function(table.lookup).get_concrete_function(tf.TensorSpec([None], tf.string))
    frozen = convert_variables_to_constants_v2(function)
    np.testing.assert_array_equal(frozen(tf.constant(["b", "c"]))[0], [6, -1])
    node = next(node for node in frozen.graph.as_graph_def().node if node.op == "HashTableV2")
    named = tf.raw_ops.HashTableV2(
        key_dtype=tf.string, value_dtype=tf.int64, shared_name=node.attr["shared_name"].s.decode()
    )
    found = tf.raw_ops.LookupTableExportV2(table_handle=named, Tkeys=tf.string, Tvalues=tf.int64)
    assert dict(zip(found[0].numpy(), found[1].numpy(), strict=True)) == {b"a": 5, b"b": 6}


def test_identities_of_several_tensors_stay():
    nodes = """
        node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
        node { name: "n" op: "IdentityN" input: "x" input: "x"
               attr { key: "T" value { list { type: [DT_FLOAT, DT_FLOAT] } } } }
    """
    given = text_format.Parse(nodes, tf.compat.v1.GraphDef())

    def f(x):
        return tf.add_n(tf.import_graph_def(given, {"x": x}, ["n:0", "n:1"]))

    frozen = convert_variables_to_constants_v2(tf.function(f).get_concrete_function(tf.TensorSpec([])))
    assert "IdentityN" in {op.type for op in frozen.graph.get_operations()}
    assert frozen(tf.constant(3.0))[0] == 6.0


def test_what_waits_for_a_loop_waits_for_it_when_frozen():
    def f(x):
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + 1.0), [0, x])
        with tf.control_dependencies([y.op]):
            return tf.identity(x), y

    frozen = convert_variables_to_constants_v2(tf.function(f).get_concrete_function(tf.TensorSpec([])))
    assert [float(y) for y in frozen(tf.constant(3.0))] == [3.0, 6.0]
    (loop,) = [op for op in frozen.graph.get_operations() if op.type == "While"]
    waiting = [op for op in frozen.graph.get_operations() if loop in op.control_inputs]
    assert waiting
