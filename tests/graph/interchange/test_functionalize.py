"""Control flow of 1.x, as TensorFlow wrote it: Switch, Merge, Enter, NextIteration and Exit nodes become functions."""

import json
import os
import random
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import protos

v1 = tf.compat.v1
FLOAT, INT, BOOL = (getattr(protos.DataType, f"DT_{kind}") for kind in ("FLOAT", "INT32", "BOOL"))
ORACLE = Path(__file__).parents[1] / "oracle_control_flow.py"


class Nodes:
    """Nodes of a GraphDef, or of a function."""

    def __init__(self, message=None):
        self.message = protos.GraphDef() if message is None else message
        self.nodes = self.message.node if message is None else self.message.node_def

    def add(self, op, name, *inputs, **types):
        node = self.nodes.add(op=op, name=name, input=inputs)
        for key, value in types.items():
            if isinstance(value, bytes):
                node.attr[key].s = value
            elif isinstance(value, bool):
                node.attr[key].b = value
            else:
                node.attr[key].type = value
        return node

    def placeholder(self, name, dtype=FLOAT):
        self.add("Placeholder", name, dtype=dtype).attr["shape"].shape.unknown_rank = True

    def constant(self, name, value, dtype=FLOAT, *waits):
        node = self.add("Const", name, *waits, dtype=dtype)
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, tf.as_dtype(dtype)))

    def switch(self, name, value, pred, T=FLOAT):
        self.add("Switch", name, value, pred, T=T)

    def merge(self, name, *values, T=FLOAT):
        self.add("Merge", name, *values, T=T).attr["N"].i = len(values)

    def loop(self, label, start, limit, body):
        """A variable that `body(name of its value)` changes while it is below `limit`; the result is `label`/Exit."""
        frame = {"T": FLOAT, "frame_name": label.encode()}
        self.add("Enter", f"{label}/Enter", start, is_constant=False, **frame)
        self.merge(f"{label}/Merge", f"{label}/Enter", f"{label}/NextIteration")
        self.constant(f"{label}/limit", limit, FLOAT, f"^{label}/Merge")
        self.add("Less", f"{label}/Less", f"{label}/Merge", f"{label}/limit", T=FLOAT)
        self.add("LoopCond", f"{label}/LoopCond", f"{label}/Less")
        self.switch(f"{label}/Switch", f"{label}/Merge", f"{label}/LoopCond")
        self.add("Identity", f"{label}/Identity", f"{label}/Switch:1", T=FLOAT)
        self.add("NextIteration", f"{label}/NextIteration", body(f"{label}/Identity"), T=FLOAT)
        self.add("Exit", f"{label}/Exit", f"{label}/Switch", T=FLOAT)

    def run(self, fetches, **feeds):
        with tf.Graph().as_default():
            tf.import_graph_def(self.message, name="")
            with v1.Session() as session:
                return session.run(fetches, {f"{key}:0": value for key, value in feeds.items()})


def condition(nodes, pred="p", x="x"):
    """x * 2 if pred, else x - 1, as `cond` writes it."""
    nodes.switch("cond/Switch", pred, pred, T=BOOL)
    nodes.add("Identity", "cond/switch_t", "cond/Switch:1", T=BOOL)
    nodes.add("Identity", "cond/switch_f", "cond/Switch", T=BOOL)
    nodes.add("Identity", "cond/pred_id", pred, T=BOOL)
    nodes.constant("cond/two", 2.0, FLOAT, "^cond/switch_t")
    nodes.constant("cond/one", 1.0, FLOAT, "^cond/switch_f")
    nodes.switch("cond/x", x, "cond/pred_id")
    nodes.add("Mul", "cond/mul", "cond/x:1", "cond/two", T=FLOAT)
    nodes.add("Sub", "cond/sub", "cond/x", "cond/one", T=FLOAT)
    nodes.merge("cond/Merge", "cond/sub", "cond/mul")


@pytest.fixture
def nodes():
    made = Nodes()
    made.placeholder("x")
    made.placeholder("p", BOOL)
    return made


class TestBranches:
    @pytest.mark.parametrize(("p", "value", "index"), [(True, 6.0, 1), (False, 2.0, 0)])
    def test_value_and_index(self, nodes, p, value, index):
        condition(nodes)
        assert nodes.run(["cond/Merge:0", "cond/Merge:1"], x=3.0, p=p) == [value, index]

    def test_a_branch_that_is_not_taken_does_not_run(self, nodes):
        nodes.switch("s", "x", "p")
        nodes.add("CheckNumerics", "checked", "s:1", T=FLOAT, message=b"ran")
        nodes.merge("m", "s", "checked")
        assert np.isnan(nodes.run("m:0", x=np.nan, p=False))
        with pytest.raises(tf.errors.InvalidArgumentError, match="ran"):
            nodes.run("m:0", x=np.nan, p=True)

    def test_only_what_is_fetched_runs(self, nodes):
        condition(nodes)
        nodes.switch("other/s", "x", "cond/pred_id")
        nodes.add("CheckNumerics", "other/checked", "other/s:1", T=FLOAT, message=b"ran")
        nodes.merge("other/Merge", "other/s", "other/checked")
        assert nodes.run("cond/Merge:0", x=np.inf, p=True) == np.inf

    @pytest.mark.parametrize("p", [True, False])
    def test_a_later_part_of_a_branch_takes_values_of_an_earlier_one(self, nodes, p):
        condition(nodes)
        nodes.add("Square", "outside", "cond/Merge", T=FLOAT)
        nodes.switch("back", "outside", "cond/pred_id")
        nodes.add("Mul", "back/true", "back:1", "cond/mul", T=FLOAT)
        nodes.add("Mul", "back/false", "back", "cond/sub", T=FLOAT)
        nodes.merge("back/Merge", "back/false", "back/true")
        assert nodes.run("back/Merge:0", x=3.0, p=p) == (216.0 if p else 8.0)

    def test_conditions_in_conditions(self, nodes):
        nodes.placeholder("q", BOOL)
        nodes.switch("x/p", "x", "p")
        nodes.switch("q/p", "q", "p", T=BOOL)
        nodes.switch("x/q", "x/p:1", "q/p:1")
        nodes.add("Square", "both", "x/q:1", T=FLOAT)
        nodes.add("Neg", "first", "x/q", T=FLOAT)
        nodes.merge("inner", "first", "both")
        nodes.merge("outer", "x/p", "inner")
        found = [nodes.run("outer:0", x=3.0, p=p, q=q) for p in (True, False) for q in (True, False)]
        assert found == [9.0, -3.0, 3.0, 3.0]

    def test_a_value_that_no_merge_takes(self, nodes):
        nodes.switch("s", "x", "p")
        nodes.add("Neg", "only", "s:1", T=FLOAT)
        assert nodes.run("only:0", x=3.0, p=True) == -3.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            nodes.run("only:0", x=3.0, p=False)

    def test_assignments_to_reference_variables(self, nodes):
        variable = nodes.add("VariableV2", "v", dtype=FLOAT)
        variable.attr["shape"].shape.SetInParent()
        nodes.constant("zero", 0.0)
        nodes.add("Assign", "init", "v", "zero", T=FLOAT)
        nodes.add("RefSwitch", "cond/v", "v", "p", T=FLOAT)
        nodes.switch("cond/x", "x", "p")
        nodes.add("AssignAdd", "cond/add", "cond/v:1", "cond/x:1", T=FLOAT)
        nodes.add("AssignSub", "cond/sub", "cond/v", "cond/x", T=FLOAT)
        nodes.add("RefMerge", "cond/Merge", "cond/sub", "cond/add", T=FLOAT).attr["N"].i = 2
        with tf.Graph().as_default():
            tf.import_graph_def(nodes.message, name="")
            with v1.Session() as session:
                session.run("init")
                found = [session.run("cond/Merge:0", {"x:0": x, "p:0": p}) for x, p in ((2.0, True), (5.0, False))]
        assert found == [2.0, -3.0]

    def test_gradient_of_an_imported_condition(self, nodes):
        condition(nodes)
        with tf.Graph().as_default() as graph:
            x = tf.compat.v1.placeholder(tf.float32, [])
            y = tf.import_graph_def(nodes.message, {"x:0": x}, ["cond/Merge:0"], name="g")[0]
            gradient = tf.gradients(y, x)[0]
            with v1.Session() as session:
                pred = graph.get_tensor_by_name("g/p:0")
                assert [session.run(gradient, {x: 1.0, pred: p}) for p in (True, False)] == [2.0, 1.0]

    @pytest.mark.parametrize(
        ("inputs", "text"),
        [(("x", "s:1"), "does not end one condition"), (("s:1", "s:1"), "does not end one condition")],
    )
    def test_what_is_no_condition(self, nodes, inputs, text):
        nodes.switch("s", "x", "p")
        nodes.merge("m", *inputs)
        with pytest.raises(tf.errors.UnimplementedError, match=f"Node 'm' .Merge. {text}"):
            nodes.run("m:0", x=1.0, p=True)

    def test_a_sum_of_both_branches(self, nodes):
        nodes.switch("s", "x", "p")
        nodes.add("Add", "sum", "s", "s:1", T=FLOAT)
        with pytest.raises(tf.errors.UnimplementedError, match="needs values of both branches"):
            nodes.run("sum:0", x=1.0, p=True)


def double(nodes):
    def body(value):
        nodes.add("Add", "body/double", value, value, T=FLOAT)
        return "body/double"

    return body


class TestLoops:
    def test_a_loop(self, nodes):
        nodes.loop("while", "x", 100.0, double(nodes))
        assert [float(nodes.run("while/Exit:0", x=x)) for x in (3.0, 200.0)] == [192.0, 200.0]

    def test_a_value_from_outside(self, nodes):
        nodes.add("Enter", "x/Enter", "x", T=FLOAT, frame_name=b"while", is_constant=True)

        def body(value):
            nodes.add("Add", "body/add", value, "x/Enter", T=FLOAT)
            return "body/add"

        nodes.loop("while", "x", 10.0, body)
        assert nodes.run("while/Exit:0", x=4.0) == 12.0

    def test_a_condition_in_a_loop_in_a_branch(self, nodes):
        nodes.switch("x/p", "x", "p")

        def body(value):
            nodes.constant("five", 5.0, FLOAT, f"^{value}")
            nodes.add("Less", "small", value, "five", T=FLOAT)
            nodes.switch("value", value, "small")
            nodes.add("Square", "square", "value:1", T=FLOAT)
            nodes.add("Add", "twice", "value", "value", T=FLOAT)
            nodes.merge("either", "twice", "square")
            return "either"

        nodes.loop("while", "x/p:1", 50.0, body)
        nodes.merge("m", "x/p", "while/Exit")
        assert [float(nodes.run("m:0", x=2.0, p=p)) for p in (True, False)] == [64.0, 2.0]

    def test_damaged_graphs_raise(self, nodes):
        """Whatever a graph says, it is imported, or an error names what is wrong."""
        self.test_a_condition_in_a_loop_in_a_branch(nodes)
        condition(nodes)
        rng = random.Random(1)
        outcomes = Counter()
        for _ in range(300):
            damaged = protos.GraphDef.FromString(nodes.message.SerializeToString())
            for _ in range(rng.choice([1, 1, 2, 3])):
                node, other = rng.choice(damaged.node), rng.choice(damaged.node)
                what = rng.randrange(5)
                if what == 0:
                    damaged.node.remove(node)
                elif what == 1 and node.input:
                    place = rng.randrange(len(node.input))
                    node.input[place] = rng.choice([other.name, f"{other.name}:1", f"^{other.name}"])
                elif what == 2:
                    node.op = other.op
                elif what == 3 and node.input:
                    del node.input[rng.randrange(len(node.input))]
                else:
                    node.attr["frame_name"].s = rng.choice([b"", b"while", b"other"])
            try:
                with tf.Graph().as_default():
                    tf.import_graph_def(damaged, name="")
                outcomes["imported"] += 1
            except (ValueError, tf.errors.OpError) as error:
                outcomes[type(error)] += 1
        assert len(outcomes) > 2

    def test_loops_in_loops(self, nodes):
        def outer(value):
            nodes.loop("inner", value, 20.0, double(nodes))
            nodes.add("Add", "more", "inner/Exit", value, T=FLOAT)
            return "more"

        nodes.loop("while", "x", 100.0, outer)

        def expected(x):
            while x < 100:
                inner = x
                while inner < 20:
                    inner *= 2
                x += inner
            return x

        assert [float(nodes.run("while/Exit:0", x=x)) for x in (3.0, 7.0)] == [expected(3.0), expected(7.0)]

    def test_a_frame_without_a_condition(self, nodes):
        nodes.add("Enter", "e", "x", T=FLOAT, frame_name=b"odd")
        nodes.add("Exit", "out", "e", T=FLOAT)
        with pytest.raises(tf.errors.UnimplementedError, match="'odd', which has 0 LoopCond nodes"):
            nodes.run("out:0", x=1.0)

    def test_an_exit_of_no_loop(self, nodes):
        nodes.add("Exit", "out", "x", T=FLOAT)
        with pytest.raises(tf.errors.UnimplementedError, match=r"Node 'out' \(Exit\) is in no loop"):
            nodes.run("out:0", x=1.0)

    def test_a_cycle_that_is_no_loop(self, nodes):
        nodes.loop("while", "x", 1.0, double(nodes))
        nodes.add("Neg", "a", "b", T=FLOAT)
        nodes.add("Neg", "b", "a", T=FLOAT)
        with pytest.raises(ValueError, match="in a cycle"):
            nodes.run("while/Exit:0", x=1.0)


def test_functions_of_a_library(nodes):
    function = nodes.message.library.function.add()
    function.signature.name = "either"
    for name, kind in (("x", FLOAT), ("p", BOOL)):
        function.signature.input_arg.add(name=name, type=kind)
    function.signature.output_arg.add(name="y", type=FLOAT)
    inside = Nodes(function)
    inside.switch("s", "x", "p")
    inside.add("Square", "square", "s:output_true:0", T=FLOAT)
    inside.merge("m", "s:output_false:0", "square:y:0")
    function.ret["y"] = "m:output:0"
    nodes.add("either", "call", "x", "p")
    assert [float(nodes.run("call:0", x=3.0, p=p)) for p in (True, False)] == [9.0, 3.0]


def test_stacks_hold_handles():
    with tf.Graph().as_default():
        stack = tf.raw_ops.StackV2(max_size=3, elem_type=tf.resource, stack_name="handles")
        array, flow = tf.raw_ops.TensorArrayV3(size=1, dtype=tf.float32)
        with tf.control_dependencies([tf.raw_ops.StackPushV2(handle=stack, elem=array)]):
            popped = tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.resource)
        flow = tf.raw_ops.TensorArrayWriteV3(handle=popped, index=0, value=[1.0, 2.0], flow_in=flow)
        read = tf.raw_ops.TensorArrayReadV3(handle=array, index=0, flow_in=flow, dtype=tf.float32)
        with v1.Session() as session:
            assert session.run(read).tolist() == [1.0, 2.0]


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_random_programs(tmp_path):
    count = int(os.environ.get("COUNT", "60"))
    command = [os.environ["TF_PYTHON"], str(ORACLE), str(tmp_path), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for seed in range(count):
        message = protos.GraphDef.FromString((tmp_path / f"{seed}.pb").read_bytes())
        known = json.loads((tmp_path / f"{seed}.json").read_text())
        with tf.Graph().as_default():
            tf.import_graph_def(message, name="")
            with v1.Session() as session:
                found = _results(session, known["initializer"], known["names"])
        for mine, its in zip(found, known["results"], strict=True):
            for y, want in zip(mine, its, strict=True):
                np.testing.assert_allclose(y, want, rtol=2e-5, atol=1e-5, err_msg=f"program {seed}")


FEEDS = [
    {"x:0": [0.1, -0.5, 2.0], "p:0": True, "n:0": 3},
    {"x:0": [1.0, 2.0, 3.0], "p:0": False, "n:0": 5},
    {"x:0": [-1.0, 0.0, 0.3], "p:0": True, "n:0": 0},
]


def _results(session, initializer, names):
    found = []
    for feed in FEEDS:
        session.run(initializer)
        each = session.run([f"{name}:0" for name in names if name != "updated"], feed)
        each += session.run(["updated:0"], feed) if "updated" in names else []
        found.append(each)
    return found
