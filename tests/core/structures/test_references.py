"""References to tensors and variables: what compares with what."""

import itertools

import pytest

import tapeflow as tf

OBJECTS = [tf.Variable(1.0), tf.constant(1.0), tf.constant([2]), tf.Variable("s")]


@pytest.mark.parametrize(("a", "b"), list(itertools.product(range(4), repeat=2)))
def test_references_compare_by_identity(a, b):
    a, b = OBJECTS[a], OBJECTS[b]
    assert (a.ref() == b.ref()) == (a is b) != (a.ref() != b.ref())
    assert (a.ref() < b.ref()) == (id(a) < id(b))
    assert (a.ref() > b.ref()) == (id(a) > id(b))


def test_dicts_with_references_are_structures():
    keys = {x.ref(): x for x in OBJECTS}
    assert len(tf.nest.flatten(keys)) == 4


@pytest.mark.parametrize("x", OBJECTS, ids=str)
def test_objects_are_no_references(x):
    for compare in ("__eq__", "__ne__", "__lt__", "__gt__"):
        with pytest.raises(TypeError, match="Cannot compare wrapped object with unwrapped object"):
            getattr(x.ref(), compare)(3)
    assert (x.ref() == None) is False  # noqa: E711
