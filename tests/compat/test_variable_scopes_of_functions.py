"""`get_variable` in `wrap_function` and `tf.function`, where it works as in graphs; partitioned variables by name."""

import threading

import pytest

import tapeflow as tf
from tapeflow import compat

v1 = compat.v1


def _in_graph(body):
    with tf.Graph().as_default():
        return body()


def _wrapped(body):
    results = []
    v1.wrap_function(lambda: results.append(body()), [])
    return results[0]


@pytest.fixture(params=[_in_graph, _wrapped])
def run(request):
    return request.param


def test_scopes_share_variables_when_told_to(run):
    def body():
        with v1.variable_scope("s") as scope:
            v = v1.get_variable("v", [1])
        assert scope.reuse is False
        with v1.variable_scope(scope, reuse=True):
            assert v1.get_variable("v", [1]) is v
        with v1.variable_scope("s"), pytest.raises(ValueError, match="already exists"):
            v1.get_variable("v", [1])
        with v1.variable_scope("s", reuse=True), pytest.raises(ValueError, match="does not exist"):
            v1.get_variable("other", [1])
        return [x.name for x in v1.global_variables()]

    assert run(body) == ["s/v:0"]


def test_wrapped_functions_use_one_variable():
    def body(x):
        with v1.variable_scope("s"):
            v1.get_variable("w", [], initializer=v1.constant_initializer(3.0))
        with v1.variable_scope("s", reuse=True):
            return x * v1.get_variable("w", [])

    f = v1.wrap_function(body, [tf.TensorSpec([])])
    assert f(tf.constant(2.0)).numpy() == 6
    assert len(f.variables) == 1


def test_traces_of_a_function_find_the_same_variable():
    @tf.function
    def f(x):
        with v1.variable_scope("traced", reuse=v1.AUTO_REUSE):
            first, second = (v1.get_variable("w", [], initializer=v1.ones_initializer()) for _ in range(2))
        assert first is second
        return x * first

    assert f(tf.constant(2.0)).numpy() == 2
    assert f(tf.constant([2.0, 3.0])).numpy().tolist() == [2, 3]


def test_traces_in_other_threads_find_the_same_variable():
    @tf.function
    def f(x):
        with v1.variable_scope("shared", reuse=v1.AUTO_REUSE):
            return x * v1.get_variable("w", [], initializer=v1.ones_initializer())

    f(tf.constant(2.0))
    results = []
    other = threading.Thread(target=lambda: results.append(f(tf.constant([2.0, 3.0])).numpy().tolist()))
    other.start()
    other.join()
    assert results == [[2, 3]]


def test_partitioned_variables_are_found_by_name(run):
    def body():
        halves = v1.fixed_size_partitioner(2)
        with v1.variable_scope("s", partitioner=halves) as scope:
            v = v1.get_variable("v", [3, 1])
            with pytest.raises(ValueError, match="Partitioned variable with name s/v already exists"):
                v1.get_variable("v", [3, 1])
            scope.reuse_variables()
            assert v1.get_variable("v", [3, 1]) is v
            for arguments, text in [
                ({"shape": [4, 1]}, "specified shape"),
                ({"shape": [3, 1], "dtype": tf.int32}, "specified dtype"),
                ({"shape": [3, 1], "partitioner": v1.fixed_size_partitioner(3)}, "specified partitions"),
            ]:
                with pytest.raises(ValueError, match=text):
                    v1.get_variable("v", **arguments)
        with v1.variable_scope("s", reuse=True):
            assert v1.get_variable("v") is v
        with v1.variable_scope("s"), pytest.raises(ValueError, match="No partitioner was provided"):
            v1.get_variable("v", [3, 1])
        return v.as_tensor().name, [x.name for x in v1.global_variables()]

    assert run(body) == ("s/v:0", ["s/v/part_0:0", "s/v/part_1:0"])


def test_scopes_are_left_in_order(run):
    def body():
        with v1.variable_scope("a"):
            scope = v1.variable_scope("b")
            scope.__enter__()
            with v1.variable_scope("c"), pytest.raises(RuntimeError, match="Improper nesting"):
                scope.__exit__(None, None, None)
            scope.__exit__(None, None, None)
            return v1.get_variable_scope().name

    assert run(body) == "a"


def test_threads_have_scopes_of_their_own():
    graph, names = tf.Graph(), []
    entered = threading.Barrier(2, timeout=60)

    def thread(name):
        with graph.as_default(), v1.variable_scope(name):
            entered.wait()
            names.append(v1.get_variable("v", []).name)
            entered.wait()

    threads = [threading.Thread(target=thread, args=(name,)) for name in "ab"]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(names) == ["a/v:0", "b/v:0"]


def test_getters_have_to_be_callable(run):
    def body():
        with v1.variable_scope("s", custom_getter=3), pytest.raises(ValueError, match="not callable: 3"):
            v1.get_variable("v", [])

    run(body)
