"""A session plans what it is asked for once: whatever the structure of the fetches, and while the graph grows."""

import collections

import pytest

import tapeflow as tf
from tapeflow.graph.run import planning

v1 = tf.compat.v1
Pair = collections.namedtuple("Pair", "first second")


@pytest.fixture
def plans(monkeypatch):
    """The programs that were planned."""
    made = []
    compile_program = planning.compile_program

    def noted(program):
        made.append(program)
        return compile_program(program)

    monkeypatch.setattr(planning, "compile_program", noted)
    return made


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    "structure",
    [
        lambda x, y: [x, y],
        lambda x, y: Pair(x, y),
        lambda x, y: {"a": x, "b": (y,)},
        lambda x, y: collections.OrderedDict(a=Pair(x, [y])),
        lambda x, y: [x, tf.IndexedSlices(x, y)],
        lambda x, y: (x, tf.SparseTensor(y[:, None], x, [5])),
    ],
)
def test_fetches_of_any_structure_are_planned_once(graph, plans, structure):
    x = v1.placeholder(tf.float32, [2])
    fetches = structure(x * 2.0, tf.constant([1, 3], tf.int64) + 1)
    with v1.Session() as session:
        first = session.run(fetches, {x: [1.0, 2.0]})
        count = len(plans)
        again = session.run(fetches, {x: [1.0, 2.0]})
    assert len(plans) == count == 1
    assert repr(first) == repr(again)


def test_structures_of_the_same_tensors_share_a_plan(graph, plans):
    x, y = tf.constant(1.0) + 1.0, tf.constant(3.0) * 2.0
    with v1.Session() as session:
        assert session.run([x, y]) == [2, 6]
        assert session.run(Pair(x, y)) == Pair(2, 6)
        assert session.run({"x": x, "y": y}) == {"x": 2, "y": 6}
    assert len(plans) == 1


def test_added_operations_leave_the_plans_of_others(graph, plans):
    v = v1.get_variable("v", initializer=1.0, use_resource=True)
    scale = v1.placeholder_with_default(2.0, [])
    y = v * scale
    with v1.Session() as session:
        session.run(v.initializer)
        assert session.run(y) == 2
        count = len(plans)
        for k in range(3):
            session.run(v1.assign(v, float(k)))  # a new operation in each turn
            assert session.run(y) == 2 * k
            assert session.run([y], {scale: 5.0}) == [5 * k]
    assert len(plans) == count + 3 + 1  # one for each assignment, one for the fed value


def test_gradients_leave_the_plans_of_branches(graph, plans):
    x = v1.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: x * x, lambda: -x)
    z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * y), [0, x])[1]
    with v1.Session() as session:
        assert session.run([y, z], {x: 2.0}) == [4, 128]
        slope = v1.gradients(z, x)[0]
        assert session.run([y, z, slope], {x: 2.0}) == [4, 128, 7 * 64]
        assert session.run([y, z], {x: 2.0}) == [4, 128]
        assert session.run(slope, {x: 2.0}) == 7 * 64


def test_changed_operations_are_planned_anew(graph):
    a, b = tf.constant(1.0), tf.constant(10.0)
    y = tf.identity(a) + 1.0
    counter = v1.get_variable("counter", initializer=0, use_resource=True)
    add = counter.assign_add(1)
    with v1.Session() as session:
        session.run(counter.initializer)
        assert session.run([y]) == [2]
        assert session.run(Pair(y, y)) == Pair(2, 2)
        y.op.inputs[0].op._update_input(0, b)
        assert session.run([y]) == [11]
        assert session.run(Pair(y, y)) == Pair(11, 11)
        assert session.run(counter) == 0
        y.op._add_control_input(add.op)
        session.run(y)
        assert session.run(counter) == 1
