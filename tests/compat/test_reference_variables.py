"""Variables of 1.x that are references: feeding one feeds all that reads it. The values are TensorFlow's."""

import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import framework
from tapeflow.v1 import modes


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def resource(request):
    return request.param


def test_feeding_a_variable(resource):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(2.0, name="v", use_resource=resource)
        y = v * 2
        session.run(tf.global_variables_initializer())
        assert session.run(y) == 4.0
        assert session.run(y, {v: 5.0}) == (4.0 if resource else 10.0)
        assert session.run(v, {v: 5.0}) == 5.0
        assert session.run(y) == 4.0


def test_feeding_by_name():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("w", [], initializer=tf.ones_initializer(), use_resource=False)
        y = v + 1
        session.run(tf.global_variables_initializer())
        assert session.run([y, "w:0"], {"w:0": 9.0}) == [10.0, 9.0]


def test_the_default_is_that_of_the_mode():
    before = modes.resource_variables_enabled()
    try:
        for enabled, switch in ((True, modes.enable_resource_variables), (False, modes.disable_resource_variables)):
            switch()
            with tf.Graph().as_default(), tf.variable_scope("scope"):
                assert tf.get_variable("v", [1])._is_reference is not enabled
    finally:
        (modes.enable_resource_variables if before else modes.disable_resource_variables)()


def test_a_reference_variable_is_multiplied_in_place():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(2.0, use_resource=False)
        variable = v
        v *= 3.0
        session.run(tf.global_variables_initializer())
        assert session.run([v, variable]) == [6.0, 2.0]
        resource = tf.Variable(2.0, use_resource=True)
        with pytest.raises(RuntimeError, match="not supported"):
            resource *= 3.0


def test_a_custom_getter_is_told_what_is_trained():
    given = []

    def getter(getter, *args, **kwargs):
        given.append((kwargs["trainable"], kwargs["use_resource"]))
        return getter(*args, **kwargs)

    with tf.Graph().as_default(), tf.variable_scope("s", custom_getter=getter):
        tf.get_variable("a", [1])
        tf.get_variable("b", [1], trainable=False)
    assert given == [(True, None), (False, None)]


def test_variable_scopes_say_which(resource):
    with tf.Graph().as_default(), tf.variable_scope("scope", use_resource=resource):
        assert tf.get_variable("v", [1])._is_reference is not resource
        with tf.variable_scope("inner"):
            assert tf.get_variable("v", [1])._is_reference is not resource
        with tf.variable_scope("other", use_resource=not resource):
            assert tf.get_variable("v", [1])._is_reference is resource
    with tf.Graph().as_default():
        for make in (framework.local_variable, framework.global_variable):
            assert make(1.0, use_resource=resource)._is_reference is not resource


def named(resource):
    """A graph with variables `w` and `rows`, and the tensors that have their names."""
    tf.get_variable("w", [], initializer=tf.ones_initializer(), use_resource=resource)
    tf.get_variable("rows", [2, 1], initializer=tf.ones_initializer(), use_resource=resource)
    graph = tf.get_default_graph()
    return graph.get_tensor_by_name("w:0"), graph.get_tensor_by_name("rows:0")


@pytest.mark.parametrize("imported", [False, True])
def test_the_tensor_of_the_name_is_the_value(imported):
    with tf.Graph().as_default() as graph:
        named(False)
        meta_graph = tf.train.export_meta_graph()
    with tf.Graph().as_default() if imported else graph.as_default():
        if imported:
            tf.train.import_meta_graph(meta_graph)
        w, rows = (tf.get_default_graph().get_tensor_by_name(name) for name in ("w:0", "rows:0"))
        assert (w.dtype.base_dtype, rows.shape.as_list()) == (tf.float32, [2, 1])
        y = w * 2 + 1
        (slope,) = tf.gradients(y, [w])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run([w, y, slope]) == [1.0, 3.0, 2.0]
            assert session.run(y, {w: 5.0}) == 11.0
            assert session.run(tf.assign(w, 4.0)) == 4.0
            session.run([tf.assign_add(w, 2.0), tf.scatter_update(rows, [1], [[7.0]])])
            session.run(tf.assign_sub(w, 1.0))
            assert session.run(y) == 11.0
            assert session.run(rows).tolist() == [[1.0], [7.0]]


def test_the_tensor_of_a_resource_is_its_handle():
    with tf.Graph().as_default() as graph:
        handle, _ = named(True)
        assert handle.dtype == tf.resource
        with pytest.raises(AttributeError, match="assign"):
            tf.assign(handle, 1.0)
        variable = tf.get_variable("other", [], use_resource=False)
        with pytest.raises(AttributeError, match="assign"):
            tf.assign(variable.read_value(), 1.0)
        graph.finalize()
        assert graph.get_tensor_by_name("other:0").dtype == tf.float32
