"""Loops of functions of a SavedModel have gradients, for the variables that they read as well."""

import runpy
from pathlib import Path

import tapeflow as tf

LOOPS = runpy.run_path(str(Path(__file__).with_name("loops.py")))


def check(model):
    assert LOOPS["look_at"](tf, model) == LOOPS["EXPECTED"]
    assert LOOPS["look_at"](tf, model, LOOPS["DEEP"]) == LOOPS["EXPECTED_DEEP"]


def test_gradients_of_loops(tmp_path):
    model = LOOPS["make"](tf)
    check(model)
    tf.saved_model.save(model, tmp_path / "once")
    loaded = tf.saved_model.load(tmp_path / "once")
    check(loaded)
    tf.saved_model.save(loaded, tmp_path / "again")
    check(tf.saved_model.load(tmp_path / "again"))


def test_loops_are_written_with_a_counter():
    """TensorFlow's gradient of a loop takes the number of its iterations from its first output."""
    model = LOOPS["make"](tf)
    body = model.counted.get_concrete_function().function_def
    (loop,) = [node for node in body.node_def if node.op.endswith("While")]
    first = [loop.input[0].partition(":")[0], loop.input[1].partition(":")[0]]
    values = {node.name: node.attr["value"].tensor.int_val[0] for node in body.node_def if node.name in first}
    assert [values[name] for name in first] == [0, -1]


def test_an_identity_with_a_gradient_of_its_own_counts_in_each_iteration():
    v1 = tf.compat.v1
    v1.RegisterGradient("TripledInLoops")(lambda op, dy: 3.0 * dy)

    def step(i, a):
        with v1.get_default_graph().gradient_override_map({"Identity": "TripledInLoops"}):
            return i + 1, tf.identity(a)

    with tf.Graph().as_default():
        x = v1.placeholder_with_default(2.0, ())
        _, y = tf.while_loop(lambda i, _: i < 3, step, (0, x))
        (dx,) = v1.gradients(y, x)
        assert v1.Session().run(dx) == 27.0
