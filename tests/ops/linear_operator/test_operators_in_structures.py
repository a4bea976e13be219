"""Operators as structures of their tensors: arguments and results of functions, loop variables, and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

M = np.array([[2.0, 1.0], [0.5, 3.0]], np.float32)


def _full():
    return tf.linalg.LinearOperatorFullMatrix(M, is_non_singular=True)


MAKERS = {
    "FullMatrix": _full,
    "of a variable": lambda: tf.linalg.LinearOperatorFullMatrix(tf.Variable(M)),
    "Diag": lambda: tf.linalg.LinearOperatorDiag([1.0, 2.0]),
    "LowerTriangular": lambda: tf.linalg.LinearOperatorLowerTriangular(M),
    "Identity": lambda: tf.linalg.LinearOperatorIdentity(2),
    "Identity of a tensor": lambda: tf.linalg.LinearOperatorIdentity(tf.constant(2)),
    "ScaledIdentity": lambda: tf.linalg.LinearOperatorScaledIdentity(2, 3.0),
    "Zeros": lambda: tf.linalg.LinearOperatorZeros(2),
    "Circulant": lambda: tf.linalg.LinearOperatorCirculant(tf.constant([1.0, 2.0], tf.complex64)),
    "Toeplitz": lambda: tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0]),
    "Householder": lambda: tf.linalg.LinearOperatorHouseholder([0.6, 0.8]),
    "Permutation": lambda: tf.linalg.LinearOperatorPermutation([1, 0]),
    "Tridiag": lambda: tf.linalg.LinearOperatorTridiag([[3.0, 4.0, 5.0], [1.0, 2.0, 3.0], [0.0, 6.0, 7.0]]),
    "Tridiag of a sequence": lambda: tf.linalg.LinearOperatorTridiag(
        [[3.0, 4.0, 5.0], [1.0, 2.0, 3.0], [0.0, 6.0, 7.0]], diagonals_format="sequence"
    ),
    "LowRankUpdate": lambda: tf.linalg.LinearOperatorLowRankUpdate(
        tf.linalg.LinearOperatorDiag([1.0, 2.0]), [[1.0], [1.0]], [2.0]
    ),
    "Composition": lambda: tf.linalg.LinearOperatorComposition([_full(), _full()]),
    "Adjoint": lambda: tf.linalg.LinearOperatorAdjoint(_full()),
    "Inversion": lambda: tf.linalg.LinearOperatorInversion(_full()),
    "Kronecker": lambda: tf.linalg.LinearOperatorKronecker([_full(), _full()]),
    "BlockDiag": lambda: tf.linalg.LinearOperatorBlockDiag([_full(), _full()]),
    "BlockLowerTriangular": lambda: tf.linalg.LinearOperatorBlockLowerTriangular([[_full()], [_full(), _full()]]),
}
WITHOUT_GRADIENT = {"Identity", "Identity of a tensor", "Zeros", "Permutation"}


@pytest.fixture(params=MAKERS)
def kind(request):
    return request.param


@pytest.fixture
def operator(kind):
    return MAKERS[kind]()


def test_as_argument_and_result_of_a_function(operator):
    @tf.function
    def same(given):
        return given, given.to_dense()

    made, dense = same(operator)
    assert type(made) is type(operator)
    np.testing.assert_allclose(made.to_dense(), operator.to_dense())
    np.testing.assert_allclose(dense, operator.to_dense())


def test_another_of_the_same_kind_is_not_traced_again(kind):
    if kind == "of a variable":
        pytest.skip("a function is traced for each variable")
    dense = tf.function(lambda given: given.to_dense())
    dense(MAKERS[kind]())
    dense(MAKERS[kind]())
    assert dense.experimental_get_tracing_count() == 1


def test_through_a_condition_and_a_loop(operator):
    @tf.function
    def through(given, condition):
        given = tf.cond(condition, lambda: given, lambda: given)
        return tf.while_loop(lambda i, _: i < 2, lambda i, o: (i + 1, o), (0, given))[1]

    made = through(operator, tf.constant(True))
    assert type(made) is type(operator)
    np.testing.assert_allclose(made.to_dense(), operator.to_dense())


def test_taken_apart_and_put_together(operator):
    parts = tf.nest.flatten(operator, expand_composites=True)
    assert tf.nest.flatten(operator) == [operator]
    made = tf.nest.pack_sequence_as(operator, parts, expand_composites=True)
    assert type(made) is type(operator)
    np.testing.assert_allclose(made.to_dense(), operator.to_dense())


def test_gradient_by_an_operator_has_those_by_its_tensors(kind, operator):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(operator)
        size = tf.reduce_sum(tf.abs(operator.to_dense()) * 3.0)
    found = tape.gradient(size, operator)
    if kind in WITHOUT_GRADIENT:
        assert found is None
        return
    assert type(found) is type(operator)
    parts = tf.nest.flatten(operator, expand_composites=True)
    for part, whole in zip(tape.gradient(size, parts), tf.nest.flatten(found, expand_composites=True), strict=True):
        np.testing.assert_array_equal(whole, tf.zeros_like(whole) if part is None else part)


def test_gradient_in_a_graph():
    with tf.Graph().as_default():
        operator = MAKERS["Diag"]()
        (found,) = tf.gradients(operator.to_dense(), operator)
        assert type(found) is tf.linalg.LinearOperatorDiag
        with tf.compat.v1.Session() as session:
            np.testing.assert_array_equal(session.run(found.diag), [1.0, 1.0])


def test_an_operator_as_target():
    variable = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        operator = tf.linalg.LinearOperatorDiag(variable * 2.0)
    np.testing.assert_array_equal(tape.gradient(operator, variable), [2.0, 2.0])


def test_inverse_of_a_block_triangle_is_one():
    operator = MAKERS["BlockLowerTriangular"]()
    inverse = operator.inverse()
    assert type(inverse) is tf.linalg.LinearOperatorBlockLowerTriangular
    assert [len(row) for row in inverse.operators] == [1, 2]
    np.testing.assert_allclose(inverse.to_dense(), np.linalg.inv(operator.to_dense()), atol=1e-5)


def _of(*shape, **hints):
    return tf.linalg.LinearOperatorFullMatrix(np.ones(shape), **hints)


@pytest.mark.parametrize(
    ("rows", "hints", "text"),
    [
        ([], {}, "must be a list of >=1 operators"),
        ([[_of(2, 2)], [_of(2, 2)] * 3], {}, "must contain `2` blocks"),
        ([[_of(3, 4, is_square=False)], [_of(4, 4), _of(4, 4)]], {}, "must be square"),
        ([[_of(3, 3)], [_of(3, 4), _of(3, 3)]], {}, "must be the same as"),
        ([[_of(2, 2)], [_of(3, 2), _of(2, 2)]], {}, "must be the same as"),
        ([[_of(2, 2)]], {"is_square": False}, "must be square"),
        ([[_of(2, 2, is_non_singular=True)]], {"is_non_singular": False}, "always non-singular"),
        ([[_of(2, 2, is_non_singular=False)]], {"is_non_singular": True}, "always singular"),
    ],
)
def test_what_makes_no_block_triangle(rows, hints, text):
    with pytest.raises(ValueError, match=text):
        tf.linalg.LinearOperatorBlockLowerTriangular(rows, **hints)


def test_a_block_triangle_is_square():
    operator = tf.linalg.LinearOperatorBlockLowerTriangular([[_of(2, 2, is_non_singular=False)]])
    assert operator.is_square
    assert operator.is_non_singular is False


@pytest.mark.parametrize(
    ("perm", "error", "text"),
    [
        (0, ValueError, "at least 1 dimension"),
        ([0.0, 1.0], TypeError, "integer dtype"),
        ([-1, 2, 3], ValueError, "unique integers from 0 to 2"),
        ([[0, 1], [1, 1]], ValueError, "unique integers from 0 to 1"),
    ],
)
def test_what_is_no_permutation(perm, error, text):
    with pytest.raises(error, match=text):
        tf.linalg.LinearOperatorPermutation(perm)
