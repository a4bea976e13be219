"""Classes of named tuples whose names come from files."""

import collections

import pytest

import tapeflow as tf
from tapeflow.saved_model.named_tuples import named_tuple_class


def test_they_are_as_those_of_collections():
    made, theirs = named_tuple_class("Point", ("x", "y")), collections.namedtuple("Point", "x y")
    for point in (made(1, 2), made(1, y=2), made(x=1, y=2), made._make([1, 2])):
        theirs_too = theirs(1, 2)
        assert point == theirs_too
        assert repr(point) == repr(theirs_too)
        assert (point.x, point.y, point._fields) == (1, 2, ("x", "y"))
        assert point._asdict() == theirs_too._asdict()
        assert point._replace(y=5) == theirs_too._replace(y=5)
    assert tf.nest.flatten(made(1, [2, 3])) == [1, 2, 3]
    assert type(tf.nest.map_structure(abs, made(1, -2))) is made
    assert named_tuple_class("Point", ("x", "y")) is made
    for wrong in ((1,), (1, 2, 3)):
        with pytest.raises(TypeError, match="Point takes x, y"):
            made(*wrong)
    with pytest.raises(TypeError, match="Point takes x, y"):
        made(1, 2, z=3)


@pytest.mark.parametrize(("name", "fields"), [("a b", ("x",)), ("P", ("class",)), ("P", ("_x",)), ("P", ("x", "x"))])
def test_wrong_names_raise(name, fields):
    with pytest.raises(ValueError, match="names"):
        named_tuple_class(name, fields)
