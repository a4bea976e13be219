"""Functions pruned from wrapped ones, and the signatures that they are given."""

import pytest

import tapeflow as tf

SPEC = tf.TensorSpec([], tf.float32)
ONE, TEN = tf.constant(1.0), tf.constant(10.0)


@pytest.fixture(scope="module")
def wrapped():
    return tf.compat.v1.wrap_function(lambda a, b: a * 2 + b, [SPEC, SPEC])


def pruned(wrapped, signature):
    return wrapped.prune(wrapped.inputs[:2], wrapped.outputs[0], input_signature=signature)


@pytest.mark.parametrize(
    ("signature", "args", "kwargs"),
    [
        (((SPEC,), {"k": SPEC}), (ONE,), {"k": TEN}),
        ((None, {"a": SPEC, "b": SPEC}), (), {"b": TEN, "a": ONE}),
        ((({"x": SPEC, "y": SPEC},), {}), ({"x": ONE, "y": TEN},), {}),
        (((SPEC, SPEC), None), (ONE, TEN), {}),
    ],
)
def test_it_is_called_with_what_the_signature_says(wrapped, signature, args, kwargs):
    made = pruned(wrapped, signature)
    assert made(*args, **kwargs).numpy() == 12
    assert made.structured_input_signature == (signature[0] or (), signature[1] or {})


def test_a_signature_of_another_number_of_tensors(wrapped):
    with pytest.raises(ValueError, match="1 specs for 2 feeds"):
        pruned(wrapped, ((SPEC,), {}))
