"""What branches of a graph that return different things raise."""

import pytest

import tapeflow as tf

KINDS = {
    "nesting": (lambda: (1, (1,)), lambda: ((1,), 2)),
    "keys": (lambda: {"a": 1}, lambda: {"b": 1}),
    "sequences": (lambda: [1], lambda: (1,)),
    "dtypes": (lambda: 1, lambda: 1.0),
}


def traced(function):
    return tf.function(function).get_concrete_function(tf.TensorSpec([], tf.int32))


@pytest.mark.parametrize("kind", KINDS)
def test_other_structures_and_dtypes(kind):
    first, second = KINDS[kind]
    with pytest.raises(TypeError, match=r"(?s)true_fn and false_fn arguments .* same number.*Error details"):
        traced(lambda p: tf.cond(p > 0, first, second))
    with pytest.raises(TypeError, match="same number, type, and overall structure"):
        traced(lambda p: tf.switch_case(p, [first, first, second]))


@pytest.mark.parametrize("other", [lambda: None, lambda: (1, 2), list])
def test_other_numbers_of_tensors(other):
    with pytest.raises(ValueError, match="Lengths of branch outputs of cond must match"):
        traced(lambda p: tf.cond(p > 0, lambda: 1, other))
