"""`tf.autograph`: to_graph, to_code, verbosity and features."""

import logging

import pytest

import tapeflow as tf


def f(x):
    if x < 0:
        x = -x
    return g(x)


def g(x):
    return x + 1 if x > 0 else 0


def test_to_graph_runs_eagerly_too():
    converted = tf.autograph.to_graph(f)
    assert int(converted(tf.constant(-4))) == 5
    assert converted(3) == 4


def test_to_graph_without_recursion():
    converted = tf.autograph.to_graph(f, recursive=False)
    assert converted(-3) == 4

    @tf.function(autograph=False)
    def staged(x):
        return converted(x)

    with pytest.raises(TypeError, match="Python `bool` is not allowed"):
        staged(tf.constant(1))


def test_to_graph_of_a_method_takes_self():
    class C:
        def m(self, x):
            return x

    assert tf.autograph.to_graph(C().m)(None, 3) == 3


def test_to_code():
    code = tf.autograph.to_code(f)
    assert code.startswith("def tf__f(x):\n")
    assert "ag__.if_stmt(x < 0, " in code
    assert "ag__.cv(g)(x)" in code


@pytest.mark.parametrize("entity", [tf.function(f), print, 3])
def test_what_has_no_code(entity):
    with pytest.raises(
        Exception,
        match="Cannot apply autograph to a function that doesn't expose a __code__ object",
    ):
        tf.autograph.to_graph(entity)
    with pytest.raises(Exception, match="Cannot apply autograph"):
        tf.autograph.to_code(entity)


def test_generators_have_no_converted_code():
    def generator():
        yield 1

    with pytest.raises(Exception, match="generators are not converted"):
        tf.autograph.to_code(generator)


def test_features():
    feature = tf.autograph.experimental.Feature
    assert feature.LISTS in feature.all()
    assert feature.LISTS not in feature.all_but(feature.LISTS)
    assert feature.LISTS not in feature.all_but([feature.LISTS, feature.NAME_SCOPES])


def test_trace_prints_while_tracing(capsys):
    @tf.function
    def traced(x):
        tf.autograph.trace("x is", x)
        return x

    traced(tf.constant(1))
    traced(tf.constant(2))
    assert capsys.readouterr().out == 'x is Tensor("x:0", shape=(), dtype=int32)\n'


def test_verbosity(caplog, capsys, monkeypatch):
    def one(x):
        return x

    def two(x):
        return x

    from tapeflow.function.autograph import verbosity

    monkeypatch.setattr(verbosity, "_level", None)
    monkeypatch.setattr(verbosity, "_to_stdout", False)
    monkeypatch.setenv("AUTOGRAPH_VERBOSITY", "3")
    with caplog.at_level(logging.INFO, "tensorflow"):
        tf.autograph.to_graph(one)
        assert "Converted" in caplog.text
        caplog.clear()
        tf.autograph.set_verbosity(0)
        tf.autograph.to_graph(two)
        assert caplog.text == ""
    tf.autograph.set_verbosity(1, alsologtostdout=True)
    tf.autograph.to_graph(lambda x: x)
    assert "Converted" in capsys.readouterr().out


def test_in_graphs_of_1_x():
    converted = tf.compat.v1.autograph.to_graph(f, arg_values=None)
    assert tf.compat.v1.autograph.to_code(f, indentation="  ") == tf.autograph.to_code(f)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.int32, [])
        y = converted(x)
        assert [session.run(y, {x: v}) for v in (-4, 0)] == [5, 0]
