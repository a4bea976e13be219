"""Every kind of linear operator against the dense matrix that it stands for."""

import numpy as np
import pytest

import tapeflow as tf

FULL = [[2.0, 1.0], [1.0, 4.0]]
L = tf.linalg


def full(matrix, **hints):
    return tf.linalg.LinearOperatorFullMatrix(np.array(matrix), **hints)


OPERATORS = {
    "full": lambda: full(FULL),
    "self_adjoint": lambda: full(FULL, is_self_adjoint=True, is_positive_definite=True),
    "diag": lambda: tf.linalg.LinearOperatorDiag(np.array([1.0, -2.0, 3.0])),
    "diag_batch": lambda: tf.linalg.LinearOperatorDiag(np.array([[1.0, 2.0], [3.0, 4.0]])),
    "lower": lambda: tf.linalg.LinearOperatorLowerTriangular(np.array([[1.0, 9.0], [3.0, 4.0]])),
    "identity": lambda: tf.linalg.LinearOperatorIdentity(3, dtype=tf.float64),
    "identity_batch": lambda: tf.linalg.LinearOperatorIdentity(2, [2], tf.float64),
    "scaled": lambda: tf.linalg.LinearOperatorScaledIdentity(2, np.array([2.0, 3.0])),
    "permutation": lambda: tf.linalg.LinearOperatorPermutation([2, 0, 1], dtype=tf.float64),
    "householder": lambda: tf.linalg.LinearOperatorHouseholder(np.array([1.0, 2.0, 2.0])),
    "tridiag": lambda: tf.linalg.LinearOperatorTridiag(
        np.array([[1.0, 2.0, 0.0], [9.0, 8.0, 7.0], [0.0, 3.0, 4.0]])
    ),
    "toeplitz": lambda: tf.linalg.LinearOperatorToeplitz(
        np.array([5.0, 2.0]), np.array([5.0, 1.0])
    ),
    "adjoint": lambda: full([[1.0, 2.0], [3.0, 4.0]]).adjoint(),
    "inverse": lambda: full(FULL).inverse(),
    "composition": lambda: full(FULL) @ tf.linalg.LinearOperatorDiag(np.array([1.0, 2.0])),
    "kronecker": lambda: tf.linalg.LinearOperatorKronecker(
        [full(FULL), full([[1.0, 2.0], [0.0, 5.0]])]
    ),
    "block_diag": lambda: tf.linalg.LinearOperatorBlockDiag(
        [full(FULL), tf.linalg.LinearOperatorDiag(np.array([1.0, 2.0, 3.0]))]
    ),
    "block_lower": lambda: tf.linalg.LinearOperatorBlockLowerTriangular(
        [[full(FULL)], [full([[1.0, 2.0]]), full([[3.0]])]]
    ),
    "low_rank_update": lambda: tf.linalg.LinearOperatorLowRankUpdate(
        tf.linalg.LinearOperatorDiag(np.array([1.0, 2.0])),
        np.array([[1.0], [2.0]]),
        np.array([3.0]),
    ),
}


@pytest.fixture(params=OPERATORS)
def operator(request):
    return OPERATORS[request.param]()


def test_products(operator, rng):
    dense = operator.to_dense().numpy()
    x = rng.normal(size=(dense.shape[-1], 2))
    np.testing.assert_allclose(operator.matmul(x), dense @ x)
    np.testing.assert_allclose(operator.matmul(x, adjoint=True), dense.swapaxes(-1, -2) @ x)
    np.testing.assert_allclose(operator.matmul(x.T.copy(), adjoint_arg=True), dense @ x)
    np.testing.assert_allclose(operator.matvec(x[:, 0]), dense @ x[:, 0])
    np.testing.assert_allclose(operator.H.to_dense(), dense.swapaxes(-1, -2))


def test_equations(operator, rng):
    dense = operator.to_dense().numpy()
    rhs = rng.normal(size=(dense.shape[-1], 2))
    np.testing.assert_allclose(
        dense @ operator.solve(rhs).numpy(), np.broadcast_to(rhs, (dense @ rhs).shape)
    )
    solution = operator.solve(rhs, adjoint=True).numpy()
    np.testing.assert_allclose(
        dense.swapaxes(-1, -2) @ solution, np.broadcast_to(rhs, solution.shape)
    )
    np.testing.assert_allclose(operator.inverse().to_dense(), np.linalg.inv(dense), atol=1e-12)


def test_numbers(operator):
    dense = operator.to_dense().numpy()
    assert operator.shape == dense.shape
    np.testing.assert_allclose(operator.determinant(), np.linalg.det(dense))
    np.testing.assert_allclose(
        operator.log_abs_determinant(), np.linalg.slogdet(dense)[1], atol=1e-12
    )
    np.testing.assert_allclose(operator.trace(), np.trace(dense, axis1=-2, axis2=-1))
    np.testing.assert_allclose(operator.diag_part(), np.diagonal(dense, 0, -2, -1))
    np.testing.assert_allclose(operator.cond(), np.linalg.cond(dense))


def test_zeros():
    with pytest.raises(ValueError, match="self-adjoint"):
        tf.linalg.LinearOperatorZeros(2, 3, is_square=False)
    zeros = tf.linalg.LinearOperatorZeros(2, 3, is_square=False, is_self_adjoint=False)
    assert not zeros.to_dense().numpy().any()
    with pytest.raises(NotImplementedError, match="singular"):
        zeros.solve([[1.0], [2.0]])


def test_contradicting_hints():
    with pytest.raises(ValueError, match="always non-singular"):
        full(FULL, is_positive_definite=True, is_non_singular=False)


@pytest.mark.parametrize(
    "product", [L.LinearOperatorKronecker, L.LinearOperatorBlockDiag], ids=lambda p: p.__name__
)
def test_hints_follow_from_those_of_the_operators(product):
    each = L.LinearOperatorFullMatrix(FULL, is_self_adjoint=True, is_positive_definite=True)
    operator = product([each, each])
    for hint in ("is_non_singular", "is_self_adjoint", "is_positive_definite"):
        assert getattr(operator, hint)
        with pytest.raises(ValueError, match="is always"):
            product([each, each], **{hint: False})


def test_dimensions_that_do_not_fit():
    with pytest.raises(ValueError, match="not compatible"):
        full(FULL).matmul([[1.0]] * 3)


def test_parts_of_blocks():
    blocks = OPERATORS["block_diag"]()
    upper, lower = blocks.matmul([np.ones((2, 1)), np.ones((3, 1))])
    assert upper.numpy().tolist() == [[3.0], [5.0]]
    assert lower.numpy().tolist() == [[1.0], [2.0], [3.0]]


def test_gradient_reaches_the_diagonal():
    diag = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(diag)
        y = tf.linalg.LinearOperatorDiag(diag).log_abs_determinant()
    assert tape.gradient(y, diag).numpy().tolist() == [1.0, 0.5]


# Kinds of operators of arrays, so that the arrays may come as tensors of unknown shape or as variables.
OF_ARRAYS = {
    "full": (L.LinearOperatorFullMatrix, [FULL]),
    "definite": (
        lambda m: L.LinearOperatorFullMatrix(m, is_self_adjoint=True, is_positive_definite=True),
        [FULL],
    ),
    "diag": (L.LinearOperatorDiag, [[[1.0, -2.0], [3.0, 4.0]]]),
    "lower": (L.LinearOperatorLowerTriangular, [[[1.0, 9.0], [3.0, 4.0]]]),
    "scaled": (lambda c: L.LinearOperatorScaledIdentity(2, c), [[2.0, 3.0]]),
    "householder": (L.LinearOperatorHouseholder, [[1.0, 2.0, 2.0]]),
    "tridiag": (
        L.LinearOperatorTridiag,
        [[[1.0, 2.0, 0.0], [9.0, 8.0, 7.0], [0.0, 3.0, 4.0]]],
    ),
    "tridiag_sequence": (
        lambda *d: L.LinearOperatorTridiag(d, "sequence"),
        [[1.0, 2.0, 0.0], [9.0, 8.0, 7.0], [0.0, 3.0, 4.0]],
    ),
    "toeplitz": (L.LinearOperatorToeplitz, [[5.0, 2.0], [5.0, 1.0]]),
    "circulant": (
        lambda s: L.LinearOperatorCirculant(s, input_output_dtype=tf.float64),
        [[2.0, 3.0, 3.0]],
    ),
    "adjoint": (
        lambda m: L.LinearOperatorAdjoint(L.LinearOperatorFullMatrix(m)),
        [[[1.0, 2.0], [3.0, 4.0]]],
    ),
    "inverse": (lambda m: L.LinearOperatorInversion(L.LinearOperatorFullMatrix(m)), [FULL]),
    "composition": (
        lambda m, d: L.LinearOperatorComposition(
            [L.LinearOperatorFullMatrix(m), L.LinearOperatorToeplitz(d, d)]
        ),
        [FULL, [3.0, 1.0]],
    ),
    "kronecker": (
        lambda a, b: L.LinearOperatorKronecker(
            [L.LinearOperatorFullMatrix(a), L.LinearOperatorDiag(b)]
        ),
        [FULL, [1.0, 2.0, 3.0]],
    ),
    "block_diag": (
        lambda a, b: L.LinearOperatorBlockDiag(
            [L.LinearOperatorFullMatrix(a), L.LinearOperatorDiag(b)]
        ),
        [FULL, [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]],
    ),
    "block_lower": (
        lambda a, b, c: L.LinearOperatorBlockLowerTriangular(
            [
                [L.LinearOperatorFullMatrix(a)],
                [L.LinearOperatorFullMatrix(b), L.LinearOperatorFullMatrix(c)],
            ]
        ),
        [FULL, [[1.0, 2.0]], [[3.0]]],
    ),
    "low_rank_update": (
        lambda a, u, d: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(a), u, d),
        [[1.0, 2.0], [[1.0], [2.0]], [3.0]],
    ),
}

RESULTS = {
    "dense": lambda o, x: o.to_dense(),
    "shape": lambda o, x: o.shape_tensor(),
    "batch": lambda o, x: o.batch_shape_tensor(),
    "rank": lambda o, x: o.tensor_rank_tensor(),
    "sizes": lambda o, x: tf.stack([o.range_dimension_tensor(), o.domain_dimension_tensor()]),
    "adjoint": lambda o, x: o.adjoint().to_dense(),
    "product": lambda o, x: o.matmul(x, adjoint=True),
    "vector": lambda o, x: o.matvec(x[:, 0]),
    "solution": lambda o, x: o.solve(x),
    "inverse": lambda o, x: o.inverse().to_dense(),
    "determinant": lambda o, x: o.determinant(),
    "log_abs_determinant": lambda o, x: o.log_abs_determinant(),
    "diag_part": lambda o, x: o.diag_part(),
    "trace": lambda o, x: o.trace(),
    "cond": lambda o, x: o.cond(),
    "sum": lambda o, x: o.add_to_tensor(o.to_dense()),
}


def expected(dense, x):
    t = dense.swapaxes(-1, -2)
    return {
        "dense": dense,
        "shape": dense.shape,
        "batch": dense.shape[:-2],
        "rank": dense.ndim,
        "sizes": dense.shape[-2:],
        "adjoint": t,
        "product": t @ x,
        "vector": dense @ x[:, 0],
        "solution": np.linalg.inv(dense) @ x,
        "inverse": np.linalg.inv(dense),
        "determinant": np.linalg.det(dense),
        "log_abs_determinant": np.linalg.slogdet(dense)[1],
        "diag_part": np.diagonal(dense, 0, -2, -1),
        "trace": np.trace(dense, axis1=-2, axis2=-1),
        "cond": np.linalg.cond(dense),
        "sum": 2 * dense,
    }


@pytest.mark.parametrize("kind", OF_ARRAYS)
def test_arrays_of_unknown_shape(kind, rng):
    make, arrays = OF_ARRAYS[kind]
    arrays = [np.array(a) for a in arrays]
    dense = make(*arrays).to_dense().numpy()
    x = rng.normal(size=(dense.shape[-1], 2))

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float64)] * len(arrays))
    def results(*arrays):
        return {name: f(make(*arrays), tf.constant(x)) for name, f in RESULTS.items()}

    found = results(*arrays)
    for name, value in expected(dense, x).items():
        np.testing.assert_allclose(found[name], value, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("kind", OF_ARRAYS)
def test_gradients_reach_variables(kind, rng):
    make, arrays = OF_ARRAYS[kind]
    operator = make(*[tf.Variable(np.array(a)) for a in arrays])
    assert len(operator.trainable_variables) == len(arrays)
    x = rng.normal(size=(operator.shape[-1], 2))
    at_least_one = {"trace", "diag_part", "determinant", "log_abs_determinant"}
    for name in ("dense", "adjoint", "product", "vector", "solution", "inverse", *at_least_one):
        with tf.GradientTape() as tape:
            y = RESULTS[name](operator, tf.constant(x))
        found = tape.gradient(y, operator.trainable_variables)
        if kind == "householder" and name in at_least_one - {"diag_part", "trace"}:
            continue  # the determinant of a reflection is constant
        some = any if name in at_least_one else all
        assert some(g is not None for g in found), name


ASSERTIONS = [
    (L.LinearOperatorFullMatrix, [[1.0, 1.0], [1.0, 1.0]], {}, "non_singular", "Singular matrix"),
    (L.LinearOperatorFullMatrix, [[0.0, 1.0], [0.0, 1.0]], {}, "self_adjoint", "its adjoint"),
    (
        L.LinearOperatorFullMatrix,
        [[1.0, 2.0], [2.0, 1.0]],
        {"is_self_adjoint": True},
        "positive_definite",
        "not positive definite",
    ),
    (L.LinearOperatorDiag, [1.0, 0.0], {}, "non_singular", "contained zero"),
    (L.LinearOperatorDiag, [1.0, -1.0], {}, "positive_definite", "non-positive"),
    (L.LinearOperatorLowerTriangular, [[0.0, 1.0], [1.0, 1.0]], {}, "non_singular", "zero values"),
    (L.LinearOperatorCirculant, [1.0, 0.0], {}, "non_singular", "zero values"),
    (L.LinearOperatorToeplitz, ([1.0, 2.0], [1.0, 3.0]), {}, "self_adjoint", "row and col"),
]


@pytest.mark.parametrize("case", ASSERTIONS, ids=lambda c: f"{c[0].__name__}-{c[3]}")
def test_assertions_hold_in_graphs_too(case):
    make, arrays, hints, what, message = case
    arrays = arrays if isinstance(arrays, tuple) else (arrays,)

    def check():
        return getattr(make(*arrays, **hints), f"assert_{what}")()

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        check()
    raises = pytest.raises(tf.errors.InvalidArgumentError, match=message)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session, raises:
        session.run(check())  # what is known to fail does so when it is built


def test_structure_is_kept():
    diag = L.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
    scaled = L.LinearOperatorScaledIdentity(2, 3.0, is_positive_definite=True)
    identity = L.LinearOperatorIdentity(2)
    tril = L.LinearOperatorLowerTriangular([[1.0, 0.0], [2.0, 3.0]])
    for simple in (diag, scaled, identity):
        assert type(simple.inverse()) is type(simple)
        assert type(simple.cholesky()) is type(simple)
    kinds = {
        (diag, diag): L.LinearOperatorDiag,
        (diag, scaled): L.LinearOperatorDiag,
        (scaled, diag): L.LinearOperatorDiag,
        (scaled, scaled): L.LinearOperatorScaledIdentity,
        (identity, tril): L.LinearOperatorLowerTriangular,
        (tril, identity): L.LinearOperatorLowerTriangular,
        (diag, tril): L.LinearOperatorLowerTriangular,
        (tril, diag): L.LinearOperatorLowerTriangular,
        (tril, tril): L.LinearOperatorComposition,
    }
    for (left, right), kind in kinds.items():
        product = left @ right
        assert type(product) is kind
        expect = left.to_dense().numpy() @ right.to_dense().numpy()
        np.testing.assert_allclose(product.to_dense(), expect)
        quotient = left.solve(right).to_dense()
        expect = np.linalg.inv(left.to_dense().numpy()) @ right.to_dense().numpy()
        np.testing.assert_allclose(quotient, expect, atol=1e-6)
    for blocks in (L.LinearOperatorBlockDiag, L.LinearOperatorKronecker):
        operator = blocks([diag, scaled])
        for other in (operator.inverse(), operator.cholesky()):
            assert type(other) is blocks
            assert type(other.operators[0]) is L.LinearOperatorDiag
        dense = operator.to_dense().numpy()
        np.testing.assert_allclose(operator.inverse().to_dense(), np.linalg.inv(dense))
        np.testing.assert_allclose(operator.cholesky().to_dense(), np.linalg.cholesky(dense))
        np.testing.assert_allclose(np.sort(operator.eigvals()), np.linalg.eigvalsh(dense))
