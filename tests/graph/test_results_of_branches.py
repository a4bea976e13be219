"""What conditions and loops give back: None of branches that return none, and loop variables as their specs say."""

from __future__ import annotations

import pytest

import tapeflow as tf


def test_branches_of_none_give_none():
    assert tf.function(lambda: tf.cond(tf.constant(True), lambda: None, lambda: None))() is None


@pytest.mark.parametrize(
    ("given", "spec"),
    [
        (lambda: tf.constant(0), tf.RaggedTensorSpec([None])),
        (lambda: tf.ragged.constant([[1]]), tf.TensorSpec([None])),
        (lambda: tf.constant(0), tf.TensorSpec([], tf.float32)),
    ],
)
@pytest.mark.parametrize("build", [lambda f: tf.function(f)(), lambda f: _in_graph(f)])
def test_an_invariant_of_another_kind_is_refused(given, spec, build):
    def loop():
        start = given()
        return tf.while_loop(lambda _: False, lambda x: [x], [start], shape_invariants=[spec])

    with pytest.raises(TypeError, match="is not compatible with"):
        build(loop)


def _in_graph(function):
    with tf.Graph().as_default():
        return function()
