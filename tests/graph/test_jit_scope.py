"""Marks of operations that XLA is to compile."""

import pytest

import tapeflow as tf

jit_scope = tf.xla.experimental.jit_scope


def scope_of(tensor):
    return tensor.op.get_attr("_XlaScope")


def test_outermost_scopes_are_counted():
    with tf.Graph().as_default():
        with jit_scope():
            a = tf.constant(1)
        with jit_scope(), jit_scope():
            b = tf.constant(1)
        with jit_scope():
            c = tf.constant(1)
        free = tf.constant(1)
    assert [scope_of(x) for x in (a, b, c)] == [b"jit_scope_0", b"jit_scope_1", b"jit_scope_2"]
    with pytest.raises(ValueError, match="no attr named"):
        scope_of(free)


def test_a_function_of_the_node_decides():
    with tf.Graph().as_default(), jit_scope(lambda node: node.op == "MatMul"):
        x = tf.ones([2, 2])
        y = tf.matmul(x, x)
    assert not x.op.get_attr("_XlaCompile")
    assert y.op.get_attr("_XlaCompile")


@pytest.mark.parametrize(("separate", "expected"), [(False, b"jit_scope_0"), (True, b"jit_scope_0_grad_gradients")])
def test_gradients_are_marked_as_their_operations(separate, expected):
    with tf.Graph().as_default() as graph:
        x = tf.constant([[3.0]])
        y = tf.matmul(x, x, name="free")
        with jit_scope(separate_compiled_gradients=separate):
            z = tf.matmul(y, y, name="marked")
        tf.gradients(z, x)
        marked = [op for op in graph.get_operations() if "marked_grad" in op.name]
        free = [op for op in graph.get_operations() if "free_grad" in op.name]
        assert {op.get_attr("_XlaScope") for op in marked} == {expected}
        assert free
        assert not any("_XlaScope" in op.node_def.attr for op in free)


@pytest.mark.xla
def test_marked_operations_and_their_gradients_run():
    with tf.Graph().as_default():
        x = tf.constant([[3.0]])
        y = tf.matmul(x, x)
        with jit_scope():
            z = tf.matmul(y, y)
        (dx,) = tf.gradients(z, x)
        with tf.compat.v1.Session() as session:
            assert session.run(dx) == 108.0


def test_not_eagerly():
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"), jit_scope():
        pass
