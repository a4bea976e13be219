"""Names of nodes in a graph where the program gave none, or one: those of TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def c(value=1.0):
    return tf.constant(value, name="c")


RESULTS = {
    "concat": lambda: tf.concat([c([1.0]), c([2.0])], 0),
    "stack": lambda: tf.stack([c(), 2.0]),
    "zeros": lambda: tf.zeros([2]),
    "ones_like": lambda: tf.ones_like(c()),
    "range": lambda: tf.range(3),
    "transpose": lambda: tf.transpose(c([[1.0]])),
    "one_hot": lambda: tf.one_hot([0], 2),
    "clip_by_value": lambda: tf.clip_by_value(c(), 0.0, 1.0),
    "ToInt32": lambda: tf.to_int32(c()),
    "random_normal": lambda: tf.random_normal([2]),
    "einsum/Einsum": lambda: tf.einsum("ij,jk->ik", c([[1.0]]), c([[1.0]])),
    "logistic_loss": lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=c(), logits=c()),
    "l2_normalize": lambda: tf.nn.l2_normalize(c([1.0]), 0),
    "linspace": lambda: tf.linspace(0.0, 1.0, 3),
    "dropout/SelectV2": lambda: tf.nn.dropout(c([1.0]), 0.5),
    "embedding_lookup": lambda: tf.gather(c([1.0]), 0, name="embedding_lookup"),
    "SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits": lambda: (
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=c([[1.0, 2.0]]))
    ),
    "Sum": lambda: tf.reduce_sum(c([1.0])),
    "add": lambda: c() + 2,
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_without_a_name(graph, name):
    assert RESULTS[name]().op.name == name
    assert RESULTS[name]().op.name.startswith(name.split("/")[0] + "_1")


def test_several_results_are_below_the_scope(graph):
    mean, variance = tf.nn.moments(c([[1.0]]), [0])
    assert mean.op.name.startswith("moments/")
    assert variance.op.name.startswith("moments/")
    assert [x.name for x in tf.split(c([1.0, 2.0]), 2)] == ["split:0", "split:1"]
    assert [x.name for x in tf.unstack(c([1.0, 2.0]))] == ["unstack:0", "unstack:1"]


def test_scopes_nest_and_count(graph):
    with tf.name_scope("outer"):
        assert tf.concat([c([1.0]), c([2.0])], 0).name == "outer/concat:0"
        assert tf.concat([c([1.0]), c([2.0])], 0).name == "outer/concat_1:0"


def test_constants_are_below_the_given_name(graph):
    tf.add(c(), 2, name="b")
    tf.reduce_sum(c([1.0, 2.0]), 0, name="r")
    assert [op.name for op in graph.get_operations()] == ["c", "b/y", "b", "c_1", "r/reduction_indices", "r"]


def test_nothing_changes_for_eager_tensors():
    import tapeflow

    assert np.allclose(tapeflow.concat([[1.0], [2.0]], 0), [1.0, 2.0])
