"""The numbers of rows and batch shapes of operators that are made of them: what is refused, and when."""

import pytest

import tapeflow as tf

MAKERS = {
    "identity": tf.linalg.LinearOperatorIdentity,
    "scaled": lambda rows, **given: tf.linalg.LinearOperatorScaledIdentity(rows, 2.0, **given),
    "zeros": tf.linalg.LinearOperatorZeros,
}
BATCHED = ["identity", "zeros"]


@pytest.mark.parametrize("tensor", [False, True])
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("rows", "error"), [(-2, ValueError), (2.0, TypeError), ([2], ValueError), ("a", TypeError)])
def test_rows(make, rows, error, tensor):
    with pytest.raises(error, match="num_rows must be"):
        MAKERS[make](tf.constant(rows) if tensor else rows)


@pytest.mark.parametrize("tensor", [False, True])
@pytest.mark.parametrize("make", BATCHED)
@pytest.mark.parametrize(
    ("batch", "error"), [([-2], ValueError), ([2.0], TypeError), (2, ValueError), ([[2]], ValueError)]
)
def test_batches(make, batch, error, tensor):
    with pytest.raises(error, match="batch_shape must be"):
        MAKERS[make](2, batch_shape=tf.constant(batch) if tensor else batch)


@pytest.mark.parametrize("make", BATCHED)
@pytest.mark.parametrize("batch", [[], [3], (2, 1)])
@pytest.mark.parametrize("checked", [False, True])
def test_good_sizes(make, batch, checked):
    operator = MAKERS[make](2, batch_shape=batch, assert_proper_shapes=checked)
    assert operator.to_dense().shape == [*batch, 2, 2]


@pytest.mark.parametrize("make", BATCHED)
@pytest.mark.parametrize(("rows", "batch"), [(-2, [2]), (2, [-2]), ([2], [2]), (2, 2), (2, [[2]])])
def test_sizes_that_are_known_when_the_graph_runs(make, rows, batch):
    @tf.function(input_signature=[tf.TensorSpec(None, tf.int32)] * 2)
    def dense(rows, batch):
        return MAKERS[make](rows, batch_shape=batch, assert_proper_shapes=True).to_dense()

    assert dense(2, [3]).shape == [3, 2, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be"):
        dense(tf.constant(rows), tf.constant(batch))
