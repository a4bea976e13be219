"""`tf.gather` of ragged tensors finds what it finds in dense tensors of the same values."""

import itertools

import numpy as np
import pytest

import tapeflow as tf

# Shapes of params and indices, and how many dimensions they share.
CASES = [
    (params, indices, batch)
    for params in ((3, 2), (3, 2, 4), (2, 3, 2, 2), (2, 2, 3, 2, 2))
    for batch in range(len(params))
    for indices in (params[:batch], (*params[:batch], 2), (*params[:batch], 3, 2))
]


def ragged_and_dense(values):
    return [values, *(tf.RaggedTensor.from_tensor(values, ragged_rank=rank) for rank in range(1, values.ndim))]


@pytest.mark.parametrize(("params", "indices", "batch"), CASES)
def test_like_dense_gather(params, indices, batch):
    rng = np.random.default_rng(0)
    for axis in range(batch, len(params)):
        x = rng.integers(100, size=params)
        at = rng.integers(params[axis], size=indices)
        want = tf.gather(x, at, axis=axis, batch_dims=batch).numpy()
        for p, i in itertools.product(ragged_and_dense(x), ragged_and_dense(at)):
            found = tf.gather(p, i, axis=axis, batch_dims=batch)
            found = found.to_tensor() if isinstance(found, tf.RaggedTensor) else found
            np.testing.assert_array_equal(found, want, err_msg=f"axis {axis}: {p!r}, {i!r}")


def test_each_batch_has_its_own_index_inside_of_its_values():
    params = tf.ragged.constant([[["a", "b"], ["c", "d", "e"]], [["f", "g"], ["h", "i", "j"], ["k", "l"]]])
    found = tf.gather(params, [1, 0], axis=2, batch_dims=1)
    assert found.to_list() == [[b"b", b"d"], [b"f", b"h", b"k"]]


def test_batches_that_differ():
    params = tf.ragged.constant([[[1, 2], [3]], [[4]]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="same batch dimensions"):
        tf.gather(params, [0, 0, 0], axis=2, batch_dims=1)
