"""Calls whose values are wanted eagerly and from a session alike."""

import pytest

import tapeflow.compat.v1 as tf

BOTH = pytest.mark.parametrize("how", ["eager", "session"])


def value(how, function, *args, **kwargs):
    """The arrays that `function` returns."""
    if how == "eager":
        found = function(*args, **kwargs)
        return tf.nest.map_structure(lambda x: x.numpy() if tf.is_tensor(x) else x, found)
    with tf.Graph().as_default():
        found = function(*args, **kwargs)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(found)
