"""Variables in a graph of 1.x compare by identity, in functions of 2.x by elements."""

import tapeflow as tf


def test_identity_in_a_graph():
    with tf.Graph().as_default():
        a, b = (tf.compat.v1.get_variable(name, initializer=1.0) for name in "ab")
        assert (a == a) is True
        assert (a == b) is False
        assert (a != b) is True
        assert (a == 1.0) is False
        assert b in [a, b]
        assert b not in [a]
        assert [a, b].index(b) == 1
        assert len({a: 1, b: 2}) == 2


def test_elements_in_functions():
    v = tf.Variable([1.0, 2.0])
    assert (v == [1.0, 3.0]).numpy().tolist() == [True, False]
    assert tf.function(lambda: v == [1.0, 3.0])().numpy().tolist() == [True, False]
    assert tf.function(lambda: v != [1.0, 3.0])().numpy().tolist() == [False, True]
