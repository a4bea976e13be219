"""Functions of matrices that are called with linear operators."""

import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf

MATRIX = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
RIGHT = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)
OPERATOR = tf.linalg.LinearOperatorFullMatrix(MATRIX, is_self_adjoint=True, is_positive_definite=True)
CALLS = {
    "adjoint": tf.linalg.adjoint,
    "cholesky": tf.linalg.cholesky,
    "det": tf.linalg.det,
    "diag_part": tf.linalg.diag_part,
    "inv": tf.linalg.inv,
    "inv of the adjoint": lambda x: tf.linalg.inv(x, adjoint=True),
    "logdet": tf.linalg.logdet,
    "trace": tf.linalg.trace,
    "solve": lambda x: tf.linalg.solve(x, RIGHT),
    "matmul": lambda x: tf.matmul(x, RIGHT),
    "matmul from the left": lambda x: tf.matmul(RIGHT.T, x),
    "matmul of adjoints": lambda x: tf.matmul(x, RIGHT.T, adjoint_a=True, adjoint_b=True),
}


@pytest.mark.parametrize("name", CALLS)
def test_like_the_matrix(name):
    found = CALLS[name](OPERATOR)
    found = found.to_dense() if isinstance(found, tf.linalg.LinearOperator) else found
    np.testing.assert_allclose(found, CALLS[name](tf.constant(MATRIX)), rtol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: tf.matmul(x, RIGHT, transpose_a=True),
        lambda x: tf.matmul(x, RIGHT, a_is_sparse=True),
        lambda x: tf.linalg.solve(RIGHT, x),
        lambda x: tf.linalg.diag_part(x, k=1),
        lambda x: tf.linalg.logdet(tf.linalg.LinearOperatorDiag([1.0, 2.0])),
    ],
)
def test_refused(call):
    with pytest.raises(ValueError, match=r"not supported|main diagonal|positive definite"):
        call(OPERATOR)


def test_nothing_else_needs_to_be_imported():
    program = (
        "import tapeflow as tf; x = tf.linalg.LinearOperatorDiag([2.0, 3.0])\n"
        "print(float(tf.linalg.trace(x)), tf.matmul(x, [[1.0], [1.0]]).numpy().tolist())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5.0", "[[2.0],", "[3.0]]"]
