"""Ops of old graphs that their samples cannot show: files, numbers of the system, gradients of sparse matrices."""

import numpy as np
import pytest

import tapeflow as tf

raw = tf.raw_ops


def test_a_constant_in_a_file(tmp_path):
    path = tmp_path / "numbers"
    np.arange(6, dtype=np.float32).tofile(path)
    found = raw.ImmutableConst(dtype=tf.float32, shape=[2, 2], memory_region_name=str(path))
    assert found.numpy().tolist() == [[0, 1], [2, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="less than 8 elements"):
        raw.ImmutableConst(dtype=tf.float32, shape=[8], memory_region_name=str(path))


def test_numbers_of_the_system_differ():
    first, second = (raw.NonDeterministicInts(shape=[8]) for _ in range(2))
    assert first.dtype == tf.int64
    assert first.shape == [8]
    assert first.numpy().tolist() != second.numpy().tolist()
    assert raw.NonDeterministicInts(shape=[2], dtype=tf.uint32).dtype == tf.uint32
    with pytest.raises(tf.errors.InvalidArgumentError, match="no numbers of float32"):
        raw.NonDeterministicInts(shape=[2], dtype=tf.float32)


DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
TURNS = [
    {},
    {"transpose_a": True},
    {"adjoint_a": True},
    {"transpose_b": True},
    {"adjoint_b": True},
    {"transpose_output": True},
    {"transpose_a": True, "adjoint_b": True, "conjugate_output": True},
]


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("dtype", [tf.float64, tf.complex128])
def test_gradients_of_products_of_sparse_matrices(turns, dtype):
    at = np.argwhere(DENSE)
    factor = 1 + 0.5j if dtype.is_complex else 1.0
    values = tf.constant(DENSE[tuple(at.T)] * factor, dtype)
    rows = 2 if {"transpose_a", "adjoint_a"} & turns.keys() else 3
    b = np.arange(4.0 * rows).reshape(rows, 4) * factor + 1
    b = tf.constant(b.T if {"transpose_b", "adjoint_b"} & turns.keys() else b, dtype)

    def sparse(values, b):
        matrix = raw.SparseTensorToCSRSparseMatrix(indices=at, values=values, dense_shape=DENSE.shape)
        return raw.SparseMatrixMatMul(a=matrix, b=b, **turns)

    def dense(values, b):
        flags = {key: value for key, value in turns.items() if key[-1] in "ab"}
        y = tf.matmul(tf.scatter_nd(at, values, DENSE.shape), b, **flags)
        y = tf.transpose(y) if "transpose_output" in turns else y
        return tf.math.conj(y) if "conjugate_output" in turns else y

    found = []
    for function in (sparse, dense):
        with tf.GradientTape() as tape:
            tape.watch([values, b])
            y = function(values, b)
            loss = tf.reduce_sum(tf.math.real(y) ** 2 + 2 * tf.math.imag(y) if dtype.is_complex else y**2)
        found.append([y, *tape.gradient(loss, [values, b])])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), 1e-9)


def test_functions_of_sparse_matrices_by_the_names_of_their_module():
    from tapeflow.alias import places

    ops = places.find("python.ops.linalg.sparse.sparse_csr_matrix_ops")
    at = np.argwhere(DENSE)
    a = ops.get("sparse_tensor_to_csr_sparse_matrix")(at, DENSE[tuple(at.T)], DENSE.shape)
    c = ops.get("sparse_matrix_sparse_mat_mul")(a=a, b=a, type=tf.float64, transpose_b=True)
    found = ops.get("csr_sparse_matrix_to_dense")(c, tf.float64)
    np.testing.assert_allclose(found.numpy(), DENSE @ DENSE.T)
