"""Damaged and hostile GraphDefs: each is imported or is a named error; nothing hangs, aborts or takes the memory."""

import random

import pytest
from google.protobuf.message import DecodeError

import tapeflow as tf
from tapeflow import protos
from tapeflow.graph.nodes import from_node_def as nodes
from tapeflow.graph.nodes.from_node_def import load_all_rows
from tapeflow.ops.table import REGISTRY

v1 = tf.compat.v1
NAMED = (ValueError, tf.errors.NotFoundError, tf.errors.UnimplementedError)
NUMBERS = [0, 1, -1, 2, -2, 7, 1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63)]


@pytest.fixture(scope="module")
def whole():
    """A GraphDef with most that one can have: functions, lists, strings, unknown shapes."""
    load_all_rows()
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [2, None], name="x")
        y = tf.matmul(x, [[1.0], [2.0]], name="y")
        z = tf.reduce_sum(y) + tf.cast(tf.shape(x)[0], tf.float32)
        w = tf.cond(z > 3, lambda: tf.cond(z > 5, lambda: z * 2, lambda: z), lambda: z - 1)
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), [0, z])
        tf.split(tf.concat([y, y], 0), 2, name="s")
        tf.strings.join(["a", tf.as_string(w)])
        v = v1.get_variable("v", initializer=[1.0, 2.0])
        v.assign_add([1.0, 1.0])
        tf.nn.max_pool2d(tf.reshape(x, [1, 2, -1, 1]), 1, 1, "SAME")
    made = graph.as_graph_def(add_shapes=True)
    old = made.node.add(name="old", op="VariableV2")
    old.attr["dtype"].type = protos.DataType.DT_FLOAT
    old.attr["shape"].shape.dim.add(size=2)
    for name, op in (("old/Assign", "Assign"), ("old/Add", "AssignAdd")):
        node = made.node.add(name=name, op=op, input=["old", "v/Read/ReadVariableOp"])
        node.attr["T"].type = protos.DataType.DT_FLOAT
        node.attr["_class"].list.s.append(b"loc:@old")
    return made


def attempt(made):
    """Whether it could be imported; anything but a named error is raised."""
    try:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(made)
            graph.as_graph_def()
    except NAMED:
        return False
    return True


def damaged(data, rng):
    """Bytes with a few bits flipped, bytes replaced, cut off or left out."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        place, kind = rng.randrange(len(data)), rng.random()
        if kind < 0.7:
            data[place] ^= 1 << rng.randrange(8)
        elif kind < 0.8:
            data[place] = rng.randrange(256)
        elif kind < 0.9 and place:
            del data[place:]
        else:
            del data[place : place + rng.randrange(4)]
        data = data or bytearray(1)
    return bytes(data)


def flip(data, seed, count):
    rng = random.Random(seed)
    good = 0
    for _ in range(count):
        try:
            made = protos.GraphDef.FromString(damaged(data, rng))
        except DecodeError:
            continue
        good += attempt(made)
    return good


def mutate(made, rng, ops):
    """Changes one thing of a node, an attr or a function."""
    every = [*made.node, *(node for f in made.library.function for node in f.node_def)]
    node = rng.choice(every)
    names = [each.name for each in every]
    kind = rng.randrange(8)
    if kind == 0 and node.input:
        wrong = ["x:9", f"^{node.name}", "", "a:output:0", "a:b:c:d"]
        node.input[rng.randrange(len(node.input))] = rng.choice(names + wrong)
    elif kind == 1:
        node.input.append(rng.choice(names))
    elif kind == 2 and node.input:
        del node.input[rng.randrange(len(node.input))]
    elif kind == 3:
        node.op = rng.choice(ops)
    elif kind == 4 and node.attr:
        del node.attr[rng.choice(sorted(node.attr))]
    elif kind == 5 and node.attr:
        _mutate_attr(node.attr[rng.choice(sorted(node.attr))], rng, made)
    elif kind == 6 and made.library.function:
        _mutate_function(rng.choice(made.library.function), rng)
    else:
        other = rng.choice(every)
        if other.attr and node.attr:
            node.attr[rng.choice(sorted(node.attr))].CopyFrom(
                other.attr[rng.choice(sorted(other.attr))]
            )


def _mutate_attr(attr, rng, made):
    kind = attr.WhichOneof("value")
    number = rng.choice(NUMBERS)
    if kind == "i":
        attr.i = number
    elif kind == "type":
        attr.type = rng.randrange(40)
    elif kind == "tensor":
        if not attr.tensor.tensor_shape.dim or rng.random() < 0.2:
            attr.tensor.tensor_shape.dim.add()
        # A size that fits into memory is filled: not in a test.
        attr.tensor.tensor_shape.dim[0].size = rng.choice([n for n in NUMBERS if n != 1 << 31])
        if rng.random() < 0.3:
            attr.tensor.dtype = rng.randrange(40)
    elif kind == "list" and len(attr.list.i):
        attr.list.i[rng.randrange(len(attr.list.i))] = number
    elif kind == "list" and len(attr.list.type):
        attr.list.type[rng.randrange(len(attr.list.type))] = rng.randrange(40)
    elif kind == "shape":
        attr.shape.dim.add(size=number)
    elif kind == "s":
        attr.s = rng.choice([b"", b"\xff", b"SAME", b"x" * 100])
    elif kind == "func":
        attr.func.name = rng.choice([*(f.signature.name for f in made.library.function), "zz"])


def _mutate_function(function, rng):
    signature = function.signature
    kind = rng.randrange(4)
    if kind == 0 and function.ret:
        function.ret[rng.choice(sorted(function.ret))] = rng.choice(
            ["zz:0:0", *(a.name for a in signature.input_arg)]
        )
    elif kind == 1 and signature.input_arg:
        signature.input_arg[0].type = rng.randrange(40)
    elif kind == 2 and signature.output_arg:
        signature.output_arg[0].type = rng.randrange(40)
    elif kind == 3:
        signature.name = "another"


def change(whole, seed, count):
    rng = random.Random(seed)
    ops = [
        *sorted(REGISTRY),
        "If",
        "While",
        "Case",
        "PartitionedCall",
        "Const",
        "IdentityN",
        "VarHandleOp",
    ]
    good = 0
    for _ in range(count):
        made = protos.GraphDef()
        made.CopyFrom(whole)
        for _ in range(rng.choice([1, 1, 2, 3])):
            mutate(made, rng, ops)
        good += attempt(made)
    return good


def test_the_whole_one_is_good(whole):
    assert attempt(whole)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_bytes(whole, seed):
    assert 0 < flip(whole.SerializeToString(deterministic=True), seed, 300) < 300


@pytest.mark.parametrize("seed", range(3))
def test_changed_messages(whole, seed):
    assert 0 < change(whole, seed, 150) < 150


@pytest.mark.slow
def test_damaged_bytes_by_the_thousands(whole):
    assert flip(whole.SerializeToString(deterministic=True), 100, 20_000)


@pytest.mark.slow
def test_changed_messages_by_the_thousands(whole):
    assert change(whole, 100, 10_000)


# Libraries that are small, and would take for ever.


def call(target, name, function):
    node = target.add(name=name, op="PartitionedCall")
    node.attr["Tin"].list.SetInParent()
    node.attr["Tout"].list.SetInParent()
    node.attr["f"].func.name = function


def library(calls):
    """A GraphDef that calls f0; `calls`: for each function the numbers of those that it calls."""
    made = protos.GraphDef()
    call(made.node, "start", "f0")
    for i, others in enumerate(calls):
        function = made.library.function.add()
        function.signature.name = f"f{i}"
        for k, other in enumerate(others):
            call(function.node_def, f"c{k}", f"f{other}")
    return made


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        ([[0]], "Function 'f0' calls itself"),
        ([[1], [2], [0]], "calls itself"),
        ([[1, 2], [3], [3], [1]], "calls itself"),
        ([[i + 1] for i in range(5000)] + [[]], "deep"),
        ([[i + 1] * 2 for i in range(60)] + [[]], "nodes with all that it calls"),
    ],
    ids=["itself", "a ring", "a ring below", "deep", "many"],
)
def test_libraries_without_an_end(calls, text):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        tf.import_graph_def(library(calls))


def test_functions_in_depth_work():
    with tf.Graph().as_default():
        tf.import_graph_def(library([[i + 1] for i in range(40)] + [[]]), name="")
        with v1.Session() as session:
            assert session.run("start") is None


def test_a_long_chain_is_no_recursion():
    made = protos.GraphDef()
    made.node.add(name="n0", op="NoOp")
    for i in range(1, 5_000):
        made.node.add(name=f"n{i}", op="NoOp", input=[f"^n{i - 1}"])
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(made, name="")
        with v1.Session() as session:
            session.run("n4999")
    assert len(graph.get_operations()) == 5_000


def test_many_small_constants_cannot_fill_the_memory(monkeypatch):
    monkeypatch.setattr(nodes, "_MOST_REPEATED", 1 << 20)
    made = protos.GraphDef()
    for i in range(200):
        node = made.node.add(name=f"c{i}", op="Const")
        node.attr["dtype"].type = protos.DataType.DT_INT8
        node.attr["value"].tensor.dtype = protos.DataType.DT_INT8
        node.attr["value"].tensor.tensor_shape.dim.add(size=1 << 14)
        node.attr["value"].tensor.int_val.append(1)
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="more than 2GB that are not in the GraphDef"),
    ):
        tf.import_graph_def(made)
