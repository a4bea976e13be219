"""`tf.experimental.dispatch_for_api`: how signatures are given, what they may say, and how names are passed on."""

from __future__ import annotations

import typing

import numpy as np
import pytest

import tapeflow as tf


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


def _masked(values, mask):
    return Masked(tf.constant(values), tf.constant(mask))


X, Y = _masked([1, 2], [True, False]), _masked([10, 20], [True, True])


@pytest.fixture
def register():
    done = []

    def registered(api, function, *signatures):
        tf.experimental.dispatch_for_api(api, *signatures)(function)
        done.append(function)

    yield registered
    for each in done:
        tf.experimental.unregister_dispatch_for(each)


def _add(x, y, name=None):
    return Masked(x.values + y.values, x.mask & y.mask)


@pytest.mark.parametrize("signature", [{"x": Masked, "y": Masked}, {0: Masked, 1: Masked}, {"x": Masked, 1: Masked}])
def test_by_name_and_by_position(register, signature):
    register(tf.add, _add, signature)
    np.testing.assert_array_equal(tf.add(X, y=Y).values, [11, 22])


def test_any_arguments(register):
    register(tf.add, lambda *args, **kwargs: (args, kwargs), {"x": Masked, "y": Masked})
    assert tf.add(X, Y) == ((X, Y), {})
    args, kwargs = tf.add(x=X, y=Y)
    assert (args, list(kwargs.values())) == ((), [X, Y])


def test_an_argument_that_is_not_given_is_its_default(register):
    optional = typing.Optional[Masked]  # noqa: UP045
    signature = {"condition": Masked, "x": optional, "y": optional}
    register(tf.where, lambda condition, x=None, y=None, name=None: "taken", signature)
    assert tf.where(X) == tf.where(X, X, X) == "taken"


def test_what_converts_to_tensors(register):
    either = typing.Union[Masked, tf.types.experimental.TensorLike]  # noqa: UP007
    register(tf.add, lambda x, y, name=None: x.values + y, {"x": Masked, "y": either})
    for y in ([10, 20], np.array([10, 20]), tf.constant([10, 20]), tf.Variable([10, 20])):
        np.testing.assert_array_equal(tf.add(X, y), [11, 22])


def test_a_function_without_name_is_called_in_its_scope(register):
    register(tf.add, lambda x, y: tf.identity(x.values, "inner"), {"x": Masked})
    with tf.Graph().as_default():
        assert "Outer" in tf.add(_masked([1], [True]), 1, name="Outer").op.name
        assert "Other" in tf.add(_masked([1], [True]), 1, "Other").op.name
        assert tf.add(_masked([1], [True]), 1).op.name == "inner"


def test_elementwise_functions_are_called_in_the_scope_of_their_name(register):
    def handler(function, x):
        return Masked(function(x.values), x.mask)

    tf.experimental.dispatch_for_unary_elementwise_apis(Masked)(handler)
    try:
        with tf.Graph().as_default():
            assert "mine" in tf.negative(_masked([1], [True]), "mine").values.op.name.split("/")[0]
            assert tf.ones_like(_masked([1], [True]), tf.float32, name="n").values.dtype == tf.float32
    finally:
        tf.experimental.unregister_dispatch_for(handler)


@pytest.mark.parametrize(
    ("api", "function", "signatures", "error", "text"),
    [
        (tf.add, _add, [[Masked]], TypeError, "signatures must be dictionaries"),
        (tf.add, _add, [{None: Masked}], TypeError, "signatures must be dictionaries"),
        (tf.abs, "text", [{0: Masked}], TypeError, "Expected dispatch_target to be callable"),
        (tf.add, _add, [{"z": Masked}], ValueError, "annotation for unknown parameter 'z'"),
        (tf.add, _add, [{"x": tuple[Masked]}], ValueError, "not currently supported by dispatch"),
        (tf.add, lambda x, why, name=None: 0, [{"x": Masked}], ValueError, r"\(x, why, name=None\) does not match"),
        (tf.add, lambda x, y, name=None, z=1: 0, [{"x": Masked}], ValueError, r"API's signature \(x, y, name=None\)"),
        (tf.add, lambda x, y, name=None: 0, [], ValueError, "at least one signature"),
    ],
)
def test_what_is_refused(api, function, signatures, error, text):
    with pytest.raises(error, match=text):
        tf.experimental.dispatch_for_api(api, *signatures)(function)


def test_a_name_that_the_function_lacks_is_refused():
    @tf.__internal__.dispatch.add_dispatch_support
    def same(a, b):
        return a is b

    with pytest.raises(ValueError, match=r"\(a, b, name=None\) does not match API's signature \(a, b\)"):
        tf.experimental.dispatch_for_api(same, {"a": Masked})(lambda a, b, name=None: 0)


def test_parameters_by_keyword_only_are_not_annotated():
    @tf.__internal__.dispatch.add_dispatch_support
    def summed(a, *, b):
        return a + b

    with pytest.raises(ValueError, match="only supports type annotations for positional parameters"):
        tf.experimental.dispatch_for_api(summed, {"b": Masked})(lambda a, *, b: 0)


def test_iterable_parameters_are_a_list():
    with pytest.raises(TypeError, match="iterable_parameters should be a list or tuple"):
        tf.__internal__.dispatch.add_dispatch_support(iterable_parameters="x")(lambda x: x)
