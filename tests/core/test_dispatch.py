"""`tf.__internal__.dispatch`: the functions of the API, and a library's own, made to take its types."""

import pytest

import tapeflow as tf

dispatch = tf.__internal__.dispatch


class Named:
    """Converts to no tensor."""

    def __init__(self, name):
        self.name = name


@pytest.fixture
def recorder():
    from tapeflow.ops import api_dispatch

    class Recorder(dispatch.GlobalOpDispatcher):
        def handle(self, op, args, kwargs):
            if any(isinstance(x, Named) for x in tf.nest.flatten([args, kwargs])):
                return op, args
            return self.NOT_SUPPORTED

    each = Recorder()
    each.register()
    yield each
    api_dispatch._global_dispatchers.remove(each)


def test_a_global_dispatcher_takes_calls_that_fail(recorder):
    x = Named("x")
    assert tf.math.sin(x) == (tf.math.sin, (x,))
    assert tf.math.multiply(x, 2) == (tf.math.multiply, (x, 2))
    assert tf.math.add(1, 2).numpy() == 3


def test_a_function_of_a_library_takes_part(recorder):
    @dispatch.add_dispatch_support
    def double(x):
        if isinstance(x, Named):
            raise TypeError("no number")
        return x * 2

    x = Named("x")
    assert double(x) == (double, (x,))
    assert double(2) == 4
    assert tf.__internal__.decorator.unwrap(double)[0][0].decorator_name == "add_dispatch_support"


def test_operators_of_tensors_serve_other_classes(recorder):
    from tapeflow.ops.operator_methods import methods

    class Symbolic(Named):
        pass

    for name in tf.Tensor.OVERLOADABLE_OPERATORS:
        setattr(Symbolic, name, methods()[name])
    x = Symbolic("x")
    assert (x * 2)[1] == (x, 2)
    assert (2 - x)[1] == (2, x)
    assert (-x)[1] == (x,)


def test_registering_for_what_takes_no_part():
    with pytest.raises(AssertionError, match="Dispatching not enabled"):
        dispatch.OpDispatcher().register(len)


def test_equality_as_a_function_is_that_of_the_operator():
    """Libraries give it to their classes; in graphs of 1.x it asks whether two tensors are one."""
    from tapeflow.ops.operator_methods import methods

    equal, different = (methods()[f"__{name}__"] for name in ("eq", "ne"))
    a, b = tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0])
    assert equal(a, b).numpy().tolist() == [True, False]
    assert different(a, b).numpy().tolist() == [False, True]
    with tf.Graph().as_default():
        a, b = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0])
        assert (equal(a, a), equal(a, b), different(a, a), different(a, b)) == (True, False, False, True)
        assert (a == b, a != b) == (False, True)
