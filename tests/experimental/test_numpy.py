"""`tf.experimental.numpy` against NumPy: each expression is evaluated with both."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.experimental import numpy as tnp

A = np.arange(12.0).reshape(3, 4) - 5.5
I = np.array([[3, -1, 4], [1, 5, -9]], np.int32)
B = np.array([[True, False, True]])
C = np.array([1 + 2j, -3j, 2.0])
V = np.array([0.5, 2.0, -1.5])
N = np.array([1.0, np.nan, np.inf, -np.inf, -0.0])
CONSTANTS = {"A": A, "I": I, "B": B, "C": C, "V": V, "N": N}

EXPRESSIONS = """
abs(I); absolute(C); fabs(I); add(I, A[0, :3]); add(1, 2.5); add(B, B); all(A, axis=1); any(B)
allclose(A, A + 1e-9); amax(A, axis=0); amin(A); max(B); min(I, axis=1, keepdims=True); angle(C); angle(C, deg=True)
append(I, [[7, 8, 9]], axis=0); append(I, 2.5); arange(5); arange(1, 2, 0.25); arange(10, 0, -3)
arange(3, dtype=np.float32); arccos(V / 3); arccosh(V + 3); arcsin(V / 3); arcsinh(V); arctan(I); arctan2(V, 2.0)
arctanh(V / 3); argmax(A); argmax(A, axis=0); argmin(I, axis=1); argsort([3, 1, 2]); argsort(I, axis=0)
around(A / 3, 1); round(V); array([[1, 2], [3, 4.5]]); array(3, ndmin=2); array([True, False])
array([1, 2], dtype=np.int8); array([]); array(()); array([[]]); array([[], []]); array([], dtype=np.float32)
array([], ndmin=2); concatenate([[], [1.0]]); hstack([[], [1.5]])
asarray(I); ascontiguousarray(5); atleast_1d(3); atleast_2d([1, 2])
atleast_3d([[1, 2]]); atleast_3d([1, 2]); average(A); average(A, axis=0); average(A, axis=1, weights=[1, 2, 3, 4])
average(V, weights=[1, 1, 2], returned=True); bitwise_and(I, 6); bitwise_or(I, 1); bitwise_xor(I, 3); bitwise_not(I)
bitwise_not(B); broadcast_to(V, (2, 3)); broadcast_arrays(V, [[1], [2]]); cbrt(V); ceil(V); clip(A, -1, 2)
clip(I, None, 2); clip(I, 0.5, None); compress([True, False], I, axis=0); compress([0, 1, 1], I)
concatenate([I, I]); concatenate([I, A[:2, :3]], axis=1); concatenate([I, V[None]], axis=None); conj(C)
conjugate(I); cos(V); cosh(V); count_nonzero(I); count_nonzero(A > 0, axis=0); cross([1, 2, 3], [4, 5, 6])
cross([[1.0, 0, 0]], V); cross([1, 2, 0], [3, 1, 0]); cumprod(I, axis=1); cumsum(I); cumsum(A, axis=0); cumsum(B)
deg2rad(A); rad2deg(V); diag(V); diag(V, k=1); diag(A, k=-1); diag(A, k=9); diagflat(I); diag_indices(3)
diagonal(A); diagonal(A, offset=1); diff(A); diff(I, n=2); diff(A, axis=0); divide(I, 2); true_divide(7, 2)
divmod(I, 2); dot(A, A.T); dot(V, V); dot(2, V); dot(A.T, [1, 2, 3]); dstack([I, I]); dsplit(np.ones([2, 2, 4]), 2)
einsum("ij,kj->ik", A, A); empty_like(I).shape; equal(I, 3); exp(V); exp(I); exp2(V); expand_dims(V, 0); expm1(V)
eye(3); eye(2, 3, k=1); eye(2, dtype=np.int32); fix(V); flip(I); flip(I, axis=1); fliplr(I); flipud(I)
float_power(I + 20, 2); floor(V); floor_divide(I, 2); floor_divide(V, 0.75); full((2, 2), 7)
full([2], 1.5, dtype=np.int32); full_like(I, 2.7); gcd(12, [8, 9, 0]); lcm(12, [8, 9, 0]); geomspace(1, 1000, 4)
greater(I, V); greater_equal(I, 3); less(V, 1); less_equal(I, 3); not_equal(I, 3); heaviside(A[0], 0.5)
hstack([V, V]); hstack([I, I]); hsplit(A, 2); hypot(3, V); identity(2); imag(C); imag(V); inner(V, V); inner(A, A)
isclose(V, V + 1e-7); isclose(N, N, equal_nan=True); iscomplex(C); iscomplexobj(C); isfinite(N); isinf(N); isnan(N)
isneginf(N); isposinf(N); isreal(C); isrealobj(V); isscalar(3); ix_([0, 1], [2]); kron(I, [[1, 2]]); kron(V, [1, 2])
linspace(0, 1, 5); linspace(0, 10, 4, endpoint=False); linspace([0, 1], [2, 3], 3); linspace(0, 1, 3, retstep=True)
linspace([0, 1], [2, 3], 3, axis=1); log(A + 6); log10(A + 6); log1p(A + 6); log2(A + 6); logaddexp(V, 1.0)
logaddexp2(V, 1.0); logaddexp(np.inf, np.inf); logical_and(I, 0); logical_not(I); logical_or(I, 0)
logical_xor(B, True); logspace(0, 2, 3); matmul(A, A.T); matmul(V, [1, 2, 3])
matmul(np.ones([2, 3, 4]), np.ones([4, 2])); matmul(I, V); maximum(I, 2.5); minimum(I, 2); mean(A); mean(I, axis=0)
mean(B); meshgrid([1, 2], [3, 4, 5]); meshgrid([1, 2], [3.5], indexing="ij"); mod(I, 4); mod(-7.5, 2)
moveaxis(np.ones([2, 3, 4]), 0, -1).shape; moveaxis(np.ones([2, 3, 4, 5]), [0, 1], [-1, -2]).shape; multiply(B, B)
multiply(I, 2); nanmean(N[:2]); nanprod([1.0, np.nan, 3]); nansum([[1.0, np.nan], [2, 3]], axis=1); negative(I)
nextafter(1.0, 2.0); nonzero(I > 0); ones([2, 3]); ones_like(I); ones_like(I, dtype=np.float32); outer([1, 2], V)
pad(I, 1, "constant"); pad(I, ((0, 1), (2, 0)), "constant", constant_values=9); pad(A, 1, "reflect")
pad(V, (1, 2), "symmetric"); polyval([1, 2, 3], V); positive(I); power(2, [1, 2, 3]); power(V, 2); prod(I)
prod(I, axis=0, dtype=np.float64); ptp(A, axis=1); ravel(I); real(C); reciprocal(V); remainder(I, -4); repeat(I, 2)
repeat(V, [1, 2, 3]); repeat(I, 2, axis=1); reshape(I, (3, 2)); reshape(I, 6); reshape(I, (3, 2), order="F")
roll(I, 1); roll(I, 1, axis=1); rot90(I); rot90(I, 2); rot90(I, -1); select([V > 1, V < 0], [V, V * 10], 5); sign(V)
sign(I); signbit(V); signbit(N); sin(V); sinc(V); sinc(0); sinh(V); size(A); sort([3, 1, 2])
sort(I, axis=0); sort(I, axis=None); split(A, 2, axis=1); split(V, [1, 2]); split(A, [1, 5], axis=0); sqrt(4)
sqrt(A + 6); square(I); squeeze(V[None]); stack([V, V]); stack([I, I], axis=2); std(A); std(I, axis=0)
subtract(I, 0.5); sum(I); sum(np.int8([100, 100])); sum(B); sum(A, axis=(0, 1)); sum(A, keepdims=True)
sum(np.uint8([200, 100])); swapaxes(np.ones([2, 3, 4]), 0, 2).shape; take(V, [0, 2]); take(A, [[0, 1]], axis=1)
take(V, [5, -7], mode="clip"); take(V, [5, -7], mode="wrap"); take_along_axis(A, np.argsort(-A, axis=1), axis=1)
take_along_axis(I, np.array([[-1], [0]]), axis=1); take_along_axis(I, np.array([5, 0]), None); tan(V); tanh(V)
tensordot(A, A, axes=2); tensordot(A, A.T, axes=1); tensordot(A, A, axes=[[0], [0]]); tile(V, 2); tile(I, (2, 1))
tile(V, (2, 2)); trace(A); trace(A, offset=1); trace(I); transpose(A)
transpose(np.ones([2, 3, 4]), (1, 0, 2)).shape; tri(3); tri(2, 3, k=1); tril(A); tril(A, k=1); triu(A, k=-1)
triu(I); vander(V); vander([1, 2, 3], 2, increasing=True); var(A); var(I, axis=1, ddof=1); var(C); vdot(C, C)
vdot(I, I); vsplit(A, 3); vstack([V, V]); where([True, False, True], V, [1, 2, 3]); where(A > 0)
where(True, 1, 2.5); zeros([2]); zeros_like(I); zeros([2], dtype=np.bool_); issubdtype(np.int8, np.integer)
promote_types(np.int32, np.float32); finfo(np.float32).eps; iinfo(np.int8).max; ndim(A); copy(V)
"""
CALLS = [call.strip() for line in EXPRESSIONS.strip().splitlines() for call in line.split("; ")]


def evaluated(module, call):
    return eval(f"module.{call}", {"module": module, "np": np, **CONSTANTS})


def same(here, there):
    if isinstance(there, (list, tuple)) and not (
        isinstance(there, tuple)
        and isinstance(here, tuple)
        and all(isinstance(x, int) for x in there)
    ):
        assert len(here) == len(there)
        for a, b in zip(here, there):
            same(a, b)
        return
    if tf.is_tensor(here):
        there = np.asarray(there)
        assert here.shape == there.shape
        assert here.dtype == there.dtype or here.dtype == tf.int32
        np.testing.assert_allclose(here.numpy(), there, rtol=1e-6, atol=1e-7)
        return
    assert tuple(here) == there if isinstance(there, tuple) else here == there


@pytest.mark.filterwarnings("ignore")  # NumPy's, of divisions by zero
@pytest.mark.parametrize("call", CALLS)
def test_like_numpy(call):
    same(evaluated(tnp, call), evaluated(np, call))


@pytest.mark.parametrize(
    "call",
    [
        "add(x, 1.0)", "sum(x)", "concatenate([x, x])", "where(x > 0, x, 0)", "matmul(x, x)", "std(x)",
        "moveaxis(x, 0, 1)", "take_along_axis(x, [[0], [1]], 1)", "clip(x, 0.0, 1.0)", "array([x, 2 * x])",
    ],
)  # fmt: skip
def test_in_functions_and_tapes(call):
    x = tf.constant([[1.0, -2.0], [3.0, 4.0]], tf.float64)

    @tf.function
    def staged(x):
        return eval(f"tnp.{call}", {"tnp": tnp, "x": x})

    with tf.GradientTape() as tape:
        tape.watch(x)
        eager = eval(f"tnp.{call}", {"tnp": tnp, "x": x})
    np.testing.assert_allclose(staged(x), eager)
    assert tape.gradient(eager, x) is not None


def test_numbers_give_way_to_tensors():
    x = tf.constant([1.0, 2.0])
    assert tnp.add(x, 1.0).dtype == tf.float32
    assert tnp.multiply(tf.constant(1, tf.int8), 2).dtype == tf.int8
    assert tnp.add(x, np.float64(1)).dtype == tf.float64
    assert tnp.result_type(tf.int32, tf.float32) == tf.float64


def test_random_numbers_are_those_of_tensorflow():
    tnp.random.seed(1)
    np.testing.assert_allclose(
        tnp.random.rand(3), [0.3210474306745106, 0.04779355308887756, 0.33551271379460035]
    )
    np.testing.assert_allclose(tnp.random.randn(2), [2.228049233279119, -0.25682397274658764])
    np.testing.assert_array_equal(tnp.random.randint(10, size=[3]), [3, 2, 8])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("mean(V, out=V)", ValueError, "out"),
        ("sort(V, kind='heapsort')", ValueError, "kind"),
        ("ix_([[1]])", ValueError, "1-d"),
        ("matmul(1, 2)", ValueError, "multiply"),
        ("arange(1, 2, 0)", ValueError, "step"),
        ("clip(V, None, None)", ValueError, "a_min"),
        ("pad(V, 1, 'wrap')", ValueError, "wrap"),
        ("where([True], V)", ValueError, "Both"),
        ("diag(np.ones([1, 1, 1]))", ValueError, "1-D or 2-D"),
        ("reshape(V, [2, 2])", tf.errors.InvalidArgumentError, "3 values"),
        ("sum(V, axis=3)", tf.errors.InvalidArgumentError, "dimension"),
        ("cross([1, 2, 3, 4], [1, 2, 3, 4])", ValueError, "dimension must be 2 or 3"),
        ("select([], [])", ValueError, "non-empty"),
        ("random.randint(3, dtype=np.int8)", ValueError, "dtype"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        evaluated(tnp, call)


def test_every_function_is_tried():
    tried = " ".join(CALLS)
    functions = [
        n for n in tnp.__all__ if inspect.isroutine(getattr(tnp, n)) or callable(getattr(tnp, n))
    ]
    types = {n for n in functions if isinstance(getattr(tnp, n), type)}
    without = [n for n in functions if n not in types and f"{n}(" not in tried]
    assert set(without) <= {
        "asanyarray",
        "empty",
        "experimental_enable_numpy_behavior",
        "flatten",
        "array_equal",
        "result_type",
        "shape",
    }


@pytest.mark.parametrize(
    "given", [(0, -3), (3, 0), (0, 3, -1), (0.0, -3.0), (-5,), (0, 3, -1.5), (0, 0), (5, 0, -2), (4,)]
)
def test_arange_is_empty_where_the_stop_is_behind(given):
    made, expected = tf.experimental.numpy.arange(*given), np.arange(*given)
    assert made.dtype == expected.dtype
    assert made.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda: (tnp.eye(np.int64(2), 3, k=np.int64(1)), np.eye(2, 3, k=1)),
        lambda: (tnp.tri(3, np.int64(2)), np.tri(3, 2)),
        lambda: (tnp.tril(A, tf.constant(-1, tf.int64)), np.tril(A, -1)),
        lambda: (tnp.triu(A, np.int64(1)), np.triu(A, 1)),
    ],
)
def test_sizes_and_diagonals_of_another_kind_of_integers(call):
    made, expected = call()
    assert made.dtype == expected.dtype
    assert made.numpy().tolist() == expected.tolist()


CUBE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda m, x: m.swapaxes(x, 0, -1), [CUBE]),
        (lambda m, x: m.swapaxes(x, 1, 1), [CUBE]),
        (lambda m, x: m.moveaxis(x, [0, 1], [-1, 0]), [CUBE]),
        (lambda m, x: m.diagonal(x, 1), [A]),
        (lambda m, x: m.trace(x), [A]),
        (lambda m, x: m.full([2, 2], x), [np.array(1.5)]),
        (lambda m, x, y: m.matmul(x, y), [CUBE, CUBE.swapaxes(1, 2)]),
        (lambda m, x, y: m.matmul(x, y), [A, V[:1].repeat(4)]),
        (lambda m, x, y: m.matmul(x, y), [V, A]),
        (lambda m, x, y: m.matmul(x, y), [V, V]),
    ],
)
def test_arrays_of_unknown_rank(function, values):
    of_any_rank = tf.function(
        lambda *x: function(tnp, *x), input_signature=[tf.TensorSpec(None, v.dtype) for v in values], autograph=False
    )
    np.testing.assert_allclose(of_any_rank(*map(tf.constant, values)), function(np, *values))


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("axis", [0, -1])
def test_differences_along_an_axis_of_unknown_size(n, axis):
    of_any_size = tf.function(
        lambda x: tnp.diff(x, n, axis), input_signature=[tf.TensorSpec([None, None], A.dtype)], autograph=False
    )
    np.testing.assert_allclose(of_any_size(tf.constant(A)), np.diff(A, n, axis))
    with pytest.raises(ValueError, match="requires a known rank"):
        tf.function(tnp.diff, input_signature=[tf.TensorSpec(None)], autograph=False).get_concrete_function()
