"""What is said of sparse tensors whose parts do not fit what is done with them, in TensorFlow's words."""

import pytest

import tapeflow as tf

InvalidArgumentError = tf.errors.InvalidArgumentError


@pytest.mark.parametrize(
    ("index", "adjoint", "text"),
    [
        ([1, 10], False, r"k \(10\) from index\[0,1\] out of bounds \(>=2\)"),
        ([10, 1], False, r"m \(10\) from index\[0,0\] out of bounds \(>=3\)"),
        ([-1, 1], False, r"m \(-1\) from index\[0,0\] out of bounds \(>=3\)"),
        ([10, 10], False, r"k \(10\) from index\[0,1\] out of bounds \(>=2\)"),
        ([1, 10], True, r"m \(10\) from index\[0,1\] out of bounds \(>=3\)"),
        ([10, 1], True, r"k \(10\) from index\[0,0\] out of bounds \(>=2\)"),
    ],
)
def test_factors_outside_of_their_shape(index, adjoint, text):
    factor = tf.SparseTensor([index], [1.0], [2, 3] if adjoint else [3, 2])
    with pytest.raises(InvalidArgumentError, match=text):
        tf.sparse.sparse_dense_matmul(factor, tf.ones([2, 2]), adjoint_a=adjoint)


def test_serialized_tensors_of_other_ranks():
    rows = [tf.io.serialize_sparse(tf.SparseTensor([[0] * rank], [1.0], [2] * rank)) for rank in (1, 2)]
    text = r"rank prior to SparseTensor\[1\] was: 1 but rank of SparseTensor\[1\] is: 2"
    with pytest.raises(InvalidArgumentError, match=text):
        tf.io.deserialize_many_sparse(tf.stack(rows), tf.float32)
