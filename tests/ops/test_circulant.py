"""Circulant operators, against the dense matrices that SciPy makes; the conjugate gradient method; dilation."""

import numpy as np
import pytest
import scipy.linalg

import tapeflow as tf

RNG = np.random.default_rng(0)


def dense(kernel):
    """The block circulant matrix whose convolution kernel this is."""
    n = kernel.size
    out = np.zeros((n, n), complex)
    for i, at in enumerate(np.ndindex(*kernel.shape)):
        for j, frm in enumerate(np.ndindex(*kernel.shape)):
            out[i, j] = kernel[tuple(np.subtract(at, frm) % kernel.shape)]
    return out


@pytest.mark.parametrize(
    ("cls", "shape"),
    [
        (tf.linalg.LinearOperatorCirculant, (5,)),
        (tf.linalg.LinearOperatorCirculant2D, (2, 3)),
        (tf.linalg.LinearOperatorCirculant3D, (2, 2, 3)),
    ],
)
def test_block_circulant_operators(cls, shape):
    spectrum = RNG.normal(size=shape) + 1j * RNG.normal(size=shape)
    operator = cls(spectrum, tf.complex128)
    matrix = dense(np.fft.ifftn(spectrum))
    x = RNG.normal(size=(matrix.shape[0], 2)) + 0j
    if len(shape) == 1:
        np.testing.assert_allclose(matrix, scipy.linalg.circulant(np.fft.ifft(spectrum)))
    for found, want in (
        (operator.to_dense(), matrix),
        (operator.matmul(x), matrix @ x),
        (operator.matmul(x, adjoint=True), matrix.conj().T @ x),
        (operator.solve(x), np.linalg.solve(matrix, x)),
        (operator.determinant(), np.linalg.det(matrix)),
        (operator.log_abs_determinant(), np.linalg.slogdet(matrix)[1]),
        (operator.trace(), np.trace(matrix)),
        (operator.diag_part(), np.diag(matrix)),
        (operator.cond(), np.linalg.cond(matrix)),
        (operator.adjoint().to_dense(), matrix.conj().T),
        (operator.inverse().to_dense(), np.linalg.inv(matrix)),
        (operator.matmul(operator).to_dense(), matrix @ matrix),
        (operator.convolution_kernel(), np.fft.ifftn(spectrum)),
    ):
        np.testing.assert_allclose(found, want, atol=1e-10)
    assert type(operator.matmul(operator)) is cls
    with pytest.raises(tf.errors.InvalidArgumentError, match="self-adjoint"):
        operator.assert_self_adjoint()


def test_hints_of_circulant_operators():
    assert tf.linalg.LinearOperatorCirculant([1.0, 2.0]).is_self_adjoint
    with pytest.raises(ValueError, match="always square"):
        tf.linalg.LinearOperatorCirculant([1.0, 2.0], is_square=False)
    with pytest.raises(ValueError, match="self-adjoint"):
        tf.linalg.LinearOperatorCirculant([1.0, 2.0], is_self_adjoint=False)
    with pytest.raises(ValueError, match="at least 2"):
        tf.linalg.LinearOperatorCirculant2D([1.0, 2.0])


def test_conjugate_gradient():
    a = RNG.normal(size=(4, 4))
    a = a @ a.T + 4 * np.eye(4)
    operator = tf.linalg.LinearOperatorFullMatrix(a, is_self_adjoint=True, is_positive_definite=True)
    rhs = RNG.normal(size=(2, 4))
    solve = tf.linalg.experimental.conjugate_gradient
    for preconditioner in (None, tf.linalg.LinearOperatorDiag(1 / np.diag(a))):
        state = solve(operator, rhs, preconditioner, tol=1e-12)
        np.testing.assert_allclose(state.x, np.linalg.solve(a, rhs.T).T, atol=1e-9)
    np.testing.assert_allclose(
        tf.function(lambda b: solve(operator, b).x)(rhs), np.linalg.solve(a, rhs.T).T, atol=1e-3
    )
    with pytest.raises(ValueError, match="positive definite"):
        solve(tf.linalg.LinearOperatorFullMatrix(a), rhs)


def test_transpose_of_version_one():
    assert tf.compat.v1.linalg.transpose(np.zeros((2, 3, 4))).shape == (2, 4, 3)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_with_space_to_batch_dilates(padding):
    x, w = RNG.normal(size=(1, 7, 6, 2)), RNG.normal(size=(2, 3, 2, 1))

    def op(part, count, padding):
        assert count == 2
        return tf.nn.convolution(part, w, padding=padding)

    found = tf.nn.with_space_to_batch(tf.constant(x), [2, 3], padding, op, filter_shape=w.shape)
    np.testing.assert_allclose(found, tf.nn.convolution(x, w, None, padding, dilations=[2, 3]), atol=1e-12)
    assert tf.nn.with_space_to_batch(x, [1, 1], padding, lambda *given: given[2]) == padding
    with pytest.raises(ValueError, match="positive"):
        tf.nn.with_space_to_batch(x, [0, 1], padding, op)


def test_depthwise_max_pooling():
    x = np.arange(8.0).reshape(1, 1, 2, 4)
    pooled = tf.compat.v1.nn.max_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "SAME")
    assert pooled.numpy().tolist() == [[[[1, 3], [5, 7]]]]
    with pytest.raises(tf.errors.UnimplementedError, match="evenly divide"):
        tf.compat.v1.nn.max_pool(x, [1, 1, 1, 3], [1, 1, 1, 3], "SAME")


def test_wrapped_cells():
    cell = tf.nn.RNNCellResidualWrapper(tf.keras.layers.GRUCell(3))
    x, state = tf.ones([2, 3]), cell.get_initial_state(batch_size=2, dtype=tf.float32)
    y, _ = cell(x, state)
    np.testing.assert_allclose(y, x + cell.cell(x, state)[0])
    dropped = tf.nn.RNNCellDropoutWrapper(tf.keras.layers.GRUCell(3), output_keep_prob=0.5, seed=1)
    assert tf.keras.layers.RNN(dropped)(tf.ones([2, 4, 3])).shape == (2, 3)
    again = tf.nn.RNNCellDeviceWrapper.from_config(
        tf.nn.RNNCellDeviceWrapper(tf.keras.layers.GRUCell(3), "/cpu:0").get_config()
    )
    assert again.get_config()["device"] == "/cpu:0"
    with pytest.raises(ValueError, match="LSTM"):
        tf.nn.RNNCellDropoutWrapper(tf.keras.layers.LSTMCell(3))
