"""Bijectors: they are undone by their inverses and scale volumes as numeric Jacobians say; shapes, checks, caching."""

import numpy as np
import pytest
from scipy import stats

import tapeflow.compat.v1 as tf
from tapeflow.contrib import distributions as D

B = D.bijectors
VECTOR = np.array([0.3, 0.45, 0.6])
TRIL = np.array([[1.0, 0.0], [0.4, 2.0]])
SIX = np.array([0.3, -0.4, 0.5, 1.2, -0.7, 0.2])


def half_of_the_first(first, count):
    """A shift and a log scale for a RealNVP: functions of the elements that stay."""
    total = tf.reduce_sum(first, -1, keepdims=True)
    return total * tf.ones([count], first.dtype), tf.sin(total) * tf.ones([count], first.dtype)


def sums_before(y):
    """A shift and a log scale for an autoregressive flow: of the elements before."""
    before = tf.cumsum(y, axis=-1, exclusive=True)
    return before, tf.sin(before)


# What makes each, an event x, and its rank; float64 numbers make the numeric Jacobians exact to 1e-6.
BIJECTORS = {
    "identity": (lambda: B.Identity(), VECTOR, 0),
    "exp": (lambda: B.Exp(), VECTOR, 0),
    "power": (lambda: B.PowerTransform(0.5), VECTOR, 0),
    "sigmoid": (lambda: B.Sigmoid(), VECTOR, 0),
    "softplus": (lambda: B.Softplus(), VECTOR, 0),
    "hinge": (lambda: B.Softplus(hinge_softness=-0.5), VECTOR, 0),
    "softsign": (lambda: B.Softsign(), VECTOR - 0.4, 0),
    "square": (lambda: B.Square(), VECTOR, 0),
    "sinh_arcsinh": (lambda: B.SinhArcsinh(np.float64(0.3), 1.4), VECTOR * 9 - 4, 0),
    "gumbel": (lambda: B.Gumbel(np.float64(0.2), np.float64(1.5)), VECTOR, 0),
    "weibull": (lambda: B.Weibull(np.float64(2.0), np.float64(1.5)), VECTOR, 0),
    "kumaraswamy": (lambda: B.Kumaraswamy(np.float64(2.0), np.float64(0.7)), VECTOR, 0),
    "affine_scalar": (lambda: B.AffineScalar(np.float64(1.0), np.float64(-2.0)), VECTOR, 0),
    "affine_multiple": (lambda: B.Affine(scale_identity_multiplier=np.float64(-3.0)), VECTOR, 1),
    "affine_diag": (lambda: B.Affine(VECTOR, np.float64(0.5), np.array([1.0, 2.0, -3.0])), VECTOR, 1),
    "affine_tril": (lambda: B.Affine(scale_tril=np.tri(3) * 2, scale_diag=VECTOR), VECTOR, 1),
    "affine_low_rank": (
        lambda: B.Affine(VECTOR, scale_tril=np.tri(3), scale_perturb_factor=VECTOR[:, None],
                         scale_perturb_diag=np.array([2.0])), VECTOR, 1),
    "affine_operator": (
        lambda: B.AffineLinearOperator(VECTOR, tf.linalg.LinearOperatorFullMatrix(
            np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 1.0], [0.0, 0.2, 1.0]]))), VECTOR, 1),
    "permute": (lambda: B.Permute([2, 0, 1]), VECTOR, 1),
    "ordered": (lambda: B.Ordered(), VECTOR, 1),
    "softmax_centered": (lambda: B.SoftmaxCentered(), VECTOR, 1),
    "cholesky_outer_product": (lambda: B.CholeskyOuterProduct(), TRIL, 2),
    "fill_triangular": (lambda: B.FillTriangular(), SIX, 1),
    "fill_upper": (lambda: B.FillTriangular(upper=True), SIX, 1),
    "scale_tril": (lambda: B.ScaleTriL(B.Exp(), diag_shift=None), SIX, 1),
    "transform_diagonal": (lambda: B.TransformDiagonal(B.Exp()), TRIL, 2),
    "reshape": (lambda: B.Reshape([2, -1], [6]), SIX, 1),
    "real_nvp": (lambda: B.RealNVP(1, half_of_the_first), VECTOR, 1),
    "autoregressive": (lambda: B.MaskedAutoregressiveFlow(sums_before), VECTOR, 1),
    "autoregressive_unrolled": (lambda: B.MaskedAutoregressiveFlow(sums_before, unroll_loop=True), VECTOR, 1),
    "chain": (lambda: B.Chain([B.Exp(), B.Affine(VECTOR, scale_diag=VECTOR * 2)]), VECTOR, 1),
    "chain_of_ranks": (lambda: B.Chain([B.TransformDiagonal(B.Exp()), B.FillTriangular(), B.Softsign()]), SIX, 1),
    "invert": (lambda: B.Invert(B.Chain([B.Sigmoid(), B.AffineScalar(np.float64(0.1))])), VECTOR, 0),
    "invert_of_ranks": (lambda: B.Invert(B.FillTriangular()), TRIL, 2),
    "inline": (
        lambda: B.Inline(
            lambda x: x**3, lambda y: y ** (1 / 3),
            forward_log_det_jacobian_fn=lambda x: tf.log(3 * x**2), forward_min_event_ndims=0,
        ), VECTOR, 0,
    ),
}  # fmt: skip
# Those of which volumes are not those of all the elements: what of x and of y is free.
LOWER = np.tril_indices(2)
FREE = {
    "softmax_centered": (slice(None), slice(0, 3)),
    "cholesky_outer_product": (LOWER, LOWER),
    "transform_diagonal": (LOWER, LOWER),
    "fill_triangular": (slice(None), np.tril_indices(3)),
    "fill_upper": (slice(None), np.triu_indices(3)),
    "scale_tril": (slice(None), np.tril_indices(3)),
    "chain_of_ranks": (slice(None), np.tril_indices(3)),
    "invert_of_ranks": (LOWER, slice(None)),
}


def test_all_bijectors_are_tested():
    others = {"AbsoluteValue", "BatchNormalization", "Bijector", "ConditionalBijector", "MatrixInverseTriL"}
    classes = {name for name in B.__all__ if isinstance(getattr(B, name), type)} - others
    assert classes <= {type(make()).__name__ for make, _, _ in BIJECTORS.values()}


def numeric_log_det(b, x, free_x, free_y, step=1e-5):
    columns = []
    for i in range(x[free_x].size):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            part = moved[free_x].ravel()
            part[i] += sign * step
            moved[free_x] = part.reshape(x[free_x].shape)
            ends.append(np.asarray(b.forward(moved))[free_y].ravel())
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.log(abs(np.linalg.det(np.stack(columns, 1))))


@pytest.mark.parametrize("name", BIJECTORS)
def test_bijectors_have_inverses_and_numeric_determinants(name):
    make, x, least = BIJECTORS[name]
    b = make()
    assert b.forward_min_event_ndims == (0 if name == "reshape" else least)
    y = b.forward(x)
    np.testing.assert_allclose(b.inverse(y), x, rtol=1e-9, atol=1e-12)
    assert y.shape.as_list() == b.forward_event_shape(x.shape).as_list()
    assert list(x.shape) == b.inverse_event_shape(y.shape).as_list()
    free_x, free_y = FREE.get(name, (..., ...))
    want = numeric_log_det(b, x, free_x, free_y)
    forward = b.forward_log_det_jacobian(x, x.ndim)
    np.testing.assert_allclose(forward, want, atol=1e-6)
    np.testing.assert_allclose(b.inverse_log_det_jacobian(y, len(y.shape)), -want, atol=1e-6)


@pytest.mark.parametrize("name", BIJECTORS)
def test_in_graphs_of_unknown_batches(name):
    make, x, _ = BIJECTORS[name]
    batch = np.stack([x, x])
    wanted = make()
    y = wanted.forward(x)
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float64, [None, *x.shape])
        b = make()
        value = b.forward(given)
        assert b.inverse(value) is given
        again = tf.identity(value)
        found = session.run(
            [value, b.inverse(again), b.forward_log_det_jacobian(given, x.ndim),
             b.inverse_log_det_jacobian(again, len(y.shape))], {given: batch},
        )  # fmt: skip
    volume = np.broadcast_to(wanted.forward_log_det_jacobian(x, x.ndim), [2])
    np.testing.assert_allclose(found[0], np.stack([y, y]), rtol=1e-6)
    np.testing.assert_allclose(found[1], batch, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(np.broadcast_to(found[2], [2]), volume, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.broadcast_to(found[3], [2]), -volume, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", BIJECTORS)
def test_shapes_as_tensors(name):
    make, x, _ = BIJECTORS[name]
    b = make()
    there = b.forward_event_shape(x.shape)
    assert b.forward_event_shape_tensor(x.shape).numpy().tolist() == there.as_list()
    assert b.inverse_event_shape_tensor(there.as_list()).numpy().tolist() == list(x.shape)


def test_inverses_of_triangular_matrices():
    b = B.MatrixInverseTriL(validate_args=True)
    np.testing.assert_allclose(b.forward(TRIL), np.linalg.inv(TRIL), rtol=1e-12)
    np.testing.assert_allclose(b.inverse(b.forward(TRIL)), TRIL, rtol=1e-12)
    np.testing.assert_allclose(b.forward_log_det_jacobian(TRIL, 2), -4 * np.log(2.0))
    invalid = (([1.0], "rank at least 2"), (np.ones([2, 2]), "lower triangular"), (np.zeros([2, 2]), "nonzero"))
    for bad, message in invalid:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
            b.forward(bad)


def test_absolute_values_have_two_inverses():
    b = B.AbsoluteValue(validate_args=True)
    assert [x.numpy().tolist() for x in b.inverse([1.0, 2.0])] == [[-1.0, -2.0], [1.0, 2.0]]
    assert [np.asarray(v).tolist() for v in b.inverse_log_det_jacobian([1.0, 2.0], 1)] == [0.0, 0.0]
    with pytest.raises(NotImplementedError, match="non-injective"):
        b.forward_log_det_jacobian(1.0, 0)
    with pytest.raises(NotImplementedError, match="non-injective"):
        B.Invert(b)
    with pytest.raises(NotImplementedError, match="non-injective"):
        B.Chain([b])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Argument y was negative"):
        b.inverse(-1.0)


def test_batch_normalization_normalizes_and_undoes():
    x = np.float32(np.random.RandomState(1).randn(50, 3) * [1, 2, 3] + 5)
    layer = tf.layers.BatchNormalization(momentum=0.0, epsilon=1e-3)
    b = B.BatchNormalization(layer)
    y = b.inverse(x)
    np.testing.assert_allclose(np.mean(y, 0), 0, atol=1e-5)
    np.testing.assert_allclose(np.std(y, 0), 1, atol=1e-2)
    np.testing.assert_allclose(b.forward(y), x, atol=1e-4)
    want = -0.5 * np.log(x.var(0) + 1e-3).sum()
    np.testing.assert_allclose(b.inverse_log_det_jacobian(x, 1), want, rtol=1e-4)
    np.testing.assert_allclose(b.forward_log_det_jacobian(y, 1), -want, rtol=1e-4)
    with pytest.raises(ValueError, match="instance of BatchNormalization"):
        B.BatchNormalization(lambda x: x)


def test_templates_are_autoregressive_and_share_their_variables():
    with tf.Graph().as_default(), tf.Session() as session:
        function = B.masked_autoregressive_default_template([8, 8], activation=tf.tanh)
        y = tf.placeholder(tf.float64, [3])
        shift, log_scale = function(y[None])
        function(y[None] + 1.0)
        assert len(tf.trainable_variables()) == 6
        rows = [tf.gradients((shift + log_scale)[0, i], y)[0] for i in range(3)]
        session.run(tf.global_variables_initializer())
        jacobian = session.run(tf.stack(rows), {y: VECTOR})
    assert np.abs(np.tril(jacobian, -1)).max() > 0
    np.testing.assert_array_equal(np.triu(jacobian), 0)


FLOWS = {
    "autoregressive": lambda: B.MaskedAutoregressiveFlow(B.masked_autoregressive_default_template([4])),
    "shifted": lambda: B.MaskedAutoregressiveFlow(B.masked_autoregressive_default_template([4], True), True),
    "real_nvp": lambda: B.RealNVP(2, B.real_nvp_default_template([4])),
    "nice": lambda: B.RealNVP(1, B.real_nvp_default_template([4], shift_only=True), True),
}


@pytest.mark.parametrize("name", FLOWS)
def test_flows_of_templates(name):
    x = np.float32([[0.3, -0.2, 1.0], [1.0, 2.0, -3.0]])
    with tf.Graph().as_default(), tf.Session() as session:
        b = FLOWS[name]()
        back = b.inverse(tf.identity(b.forward(tf.constant(x))))
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(back), x, rtol=1e-4, atol=1e-5)


def test_events_may_have_more_axes_than_they_must():
    b = B.Softplus()
    x = np.linspace(-1, 1, 24).reshape([2, 3, 4])
    each = np.asarray(b.forward_log_det_jacobian(x, 0))
    for rank, axes in ((1, -1), (2, (-2, -1)), (3, None)):
        np.testing.assert_allclose(b.forward_log_det_jacobian(x, rank), each.sum(axes))
    with pytest.raises(ValueError, match=r"event_ndims \(0\) must be larger than min_event_ndims \(1\)"):
        B.Affine().forward_log_det_jacobian(np.float32(VECTOR), 0)
    with pytest.raises(ValueError, match="Expected scalar event_ndims"):
        b.forward_log_det_jacobian(x, [1])


def test_the_rank_of_events_may_be_a_tensor():
    with tf.Graph().as_default(), tf.Session() as session:
        rank = tf.placeholder(tf.int32, [])
        volume = B.Exp(validate_args=True).forward_log_det_jacobian(tf.constant([[1.0, 2.0]]), rank)
        assert session.run(volume, {rank: 1}).tolist() == [3.0]
        assert session.run(volume, {rank: 2}) == 3.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(volume, {rank: -1})


def test_eager_values_are_not_remembered_when_variables_change():
    scale = tf.Variable(2.0)
    b = B.Inline(lambda x: x * scale, lambda y: y / scale, forward_min_event_ndims=0)
    x = tf.constant(3.0)
    assert b.forward(x).numpy() == 6.0
    scale.assign(5.0)
    assert b.forward(x).numpy() == 15.0


def test_bijectors_of_their_own_class():
    class Cube(B.Bijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0)

        def _forward(self, x):
            return x**3

        def _forward_log_det_jacobian(self, x):
            return tf.log(3.0 * x**2)

    b = Cube()
    assert b.name == "cube"
    assert b(2.0).numpy() == 8.0
    with pytest.raises(NotImplementedError, match="inverse not implemented"):
        b.inverse(8.0)
    with pytest.raises(NotImplementedError, match="inverse_log_det_jacobian not implemented"):
        b.inverse_log_det_jacobian(8.0, 0)
    with pytest.raises(ValueError, match="Must specify at least one of"):
        B.Bijector()
    with pytest.raises(TypeError, match="to be of type int, got float"):
        B.Bijector(forward_min_event_ndims=1.0)


def test_conditions_go_to_the_functions():
    inner = B.Inline(lambda x, by: x * by, lambda y, by: y / by, forward_min_event_ndims=0, name="scaled")
    assert inner.forward(2.0, by=3.0).numpy() == 6.0
    assert B.Chain([B.Exp(), inner]).forward(2.0, scaled={"by": 0.0}).numpy() == 1.0
    assert B.Invert(inner).forward(6.0, by=2.0).numpy() == 3.0


def test_shapes_of_inline_bijectors():
    b = B.Inline(
        forward_event_shape_tensor_fn=lambda s: s + 1, inverse_event_shape_tensor_fn=lambda s: s - 1,
        forward_min_event_ndims=1,
    )  # fmt: skip
    assert b.forward_event_shape_tensor([3]).numpy().tolist() == [4]
    assert b.inverse_event_shape_tensor([3]).numpy().tolist() == [2]


def invalid_shapes():
    return [
        lambda: B.FillTriangular().forward_event_shape([5]),
        lambda: B.FillTriangular().inverse_event_shape([2, 3]),
        lambda: B.SoftmaxCentered().inverse_event_shape([1]),
        lambda: B.Ordered().inverse_event_shape([1]),
        lambda: B.Reshape([-1, -1]),
        lambda: B.Reshape([-2, 3]),
        lambda: B.Reshape([2, 2], [4]).forward(np.ones([2, 3])),
        lambda: B.RealNVP(3, half_of_the_first).forward(VECTOR),
        lambda: B.RealNVP(0, half_of_the_first),
        lambda: B.PowerTransform(-1.0),
        lambda: B.Affine(scale_perturb_diag=[1.0]),
        lambda: B.Chain([B.Affine(), B.AffineLinearOperator(VECTOR)]),
    ]


@pytest.mark.parametrize("use", invalid_shapes())
def test_invalid_arguments(use):
    with pytest.raises(ValueError):
        use()


@pytest.mark.parametrize("order", [[0, 2], [1, 1], [-1, 0]])
def test_permutations_are_permutations(order):
    with pytest.raises(ValueError, match="exactly one of each"):
        B.Permute(order)
    with pytest.raises(TypeError, match="`int`-like"):
        B.Permute([1.0, 0.0])


@pytest.mark.parametrize(
    "use",
    [
        lambda v: B.Exp(v).inverse(-1.0),
        lambda v: B.PowerTransform(0.5, v).forward(-3.0),
        lambda v: B.PowerTransform(0.5, v).inverse_log_det_jacobian(-3.0, 0),
        lambda v: B.Softplus(0.0, v).forward(1.0),
        lambda v: B.Softsign(v).inverse(2.0),
        lambda v: B.Square(v).forward(-2.0),
        lambda v: B.Gumbel(scale=-1.0, validate_args=v),
        lambda v: B.Gumbel(validate_args=v).inverse(2.0),
        lambda v: B.Weibull(concentration=-1.0, validate_args=v),
        lambda v: B.Weibull(validate_args=v).forward(-1.0),
        lambda v: B.Kumaraswamy(1.0, -1.0, validate_args=v),
        lambda v: B.SinhArcsinh(tailweight=0.0, validate_args=v),
        lambda v: B.Ordered(v).forward([1.0, 0.5]),
        lambda v: B.AffineScalar(scale=0.0, validate_args=v),
        lambda v: B.Affine(scale_identity_multiplier=0.0, validate_args=v),
        lambda v: B.Affine(scale_diag=[1.0, 0.0], validate_args=v),
        lambda v: B.Affine(scale_tril=[[1.0, 0.0], [1.0, 0.0]], validate_args=v),
        lambda v: B.CholeskyOuterProduct(v).forward_log_det_jacobian([[-1.0]], 2),
        lambda v: B.FillTriangular(validate_args=v).forward_event_shape_tensor([5]),
    ],
)
def test_arguments_are_checked_where_asked(use):
    use(False)
    with pytest.raises(tf.errors.InvalidArgumentError):
        use(True)


def test_operations_have_their_scopes():
    with tf.Graph().as_default():
        assert B.Exp().forward(tf.constant(1.0)).name.startswith("exp/forward/")


def test_distribution_functions_are_those_of_scipy():
    x = VECTOR
    np.testing.assert_allclose(B.Gumbel(0.5, 2.0).forward(np.float32(x)), stats.gumbel_r(0.5, 2).cdf(x), rtol=1e-5)
    weibull = B.Weibull(2.0, 1.5).forward(np.float32(x))
    np.testing.assert_allclose(weibull, stats.weibull_min(1.5, scale=2).cdf(x), rtol=1e-5)
