"""What a function checks is in its SavedModel as nodes, and fails again wherever it is loaded."""

import runpy
from pathlib import Path

import pytest

import tapeflow as tf

CHECKS = runpy.run_path(str(Path(__file__).with_name("checks.py")))


def test_checks_fail_in_what_was_loaded(tmp_path):
    module = CHECKS["make"](tf)
    assert CHECKS["look_at"](tf, module) == CHECKS["EXPECTED"]
    tf.saved_model.save(module, tmp_path)
    assert CHECKS["look_at"](tf, tf.saved_model.load(tmp_path)) == CHECKS["EXPECTED"]


@pytest.mark.parametrize("name", CHECKS["CASES"])
def test_checks_are_nodes(name):
    graph = getattr(CHECKS["make"](tf), name).get_concrete_function().graph.as_graph_def()
    for node in (n for n in graph.node if n.op == "Assert"):
        assert len(node.input) - len([i for i in node.input if i[0] == "^"]) == len(node.attr["T"].list.type) + 1
    assert any(n.op == "Assert" for n in graph.node)


def test_a_limit_of_a_count_is_a_node(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(0)
    module.next = tf.function(lambda: module.v.count_up_to(2), input_signature=[])
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert [int(loaded.next()), int(loaded.next())] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        loaded.next()


def test_variables_without_values_are_noticed():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=1.0, use_resource=True)
        check = v1.assert_variables_initialized([v])
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(check)
        session.run(v.initializer)
        session.run(check)
