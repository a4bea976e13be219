"""Rows folded into the rows that indices name, and products of sparse matrices, against plain loops in NumPy."""

import ml_dtypes
import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.folding import fold_at
from tapeflow.ops.math import segment
from tapeflow.ops.sparse.math import SparseTensorDenseMatMul

FLOATS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]


@pytest.fixture(params=[1, 2])
def threads(request):
    """With two threads, kernels split whatever they do."""
    before = _native.get_threads()
    limits = _native.set_work_thresholds(1, 1)
    _native.set_threads(request.param)
    yield request.param
    _native.set_threads(before)
    _native.set_work_thresholds(*limits)


def numbers(dtype, *shape, seed=0):
    """Some that make sums and products of bytes wrap around."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0 if np.dtype(dtype).kind == "u" else -100, 100, shape)
    return (x / 8 if dtype in (*FLOATS, *COMPLEX) else x).astype(dtype)


def folded(ufunc, out, at, values):
    """One after the other, as the definition says."""
    out = out.copy()
    with np.errstate(all="ignore"):
        for i, row in enumerate(at.ravel()):
            out[row] = ufunc(out[row], values.reshape(at.size, *out.shape[1:])[i])
    return out


def check(ufunc, dtype, rows, columns, count, threads):
    rng = np.random.default_rng(rows)
    at, out = rng.integers(0, count, rows), numbers(dtype, count, *columns, seed=1)
    values = numbers(dtype, rows, *columns, seed=2)
    expected = folded(ufunc, out, at, values)
    fold_at(ufunc, out, at, values)
    assert out.dtype == expected.dtype
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply, np.maximum, np.minimum])
@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
@pytest.mark.parametrize("columns", [(), (3,), (5, 13)])
def test_real_numbers(ufunc, dtype, columns, threads):
    check(ufunc, dtype, 40, columns, 7, threads)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.multiply])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers(ufunc, dtype, threads):
    check(ufunc, dtype, 9, (3,), 4, threads)


@pytest.mark.parametrize("dtype", FLOATS)
def test_quotients(dtype, threads):
    out, values = numbers(dtype, 5, 2), np.array([[2, 4], [2, 8], [2, 4]], dtype)
    at = np.array([0, 3, 3])
    expected = folded(np.divide, out, at, values)
    fold_at(np.divide, out, at, values)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_extremes_of_nan_are_nan(dtype):
    for ufunc in (np.maximum, np.minimum):
        out = np.array([1, np.nan, 2], dtype)
        fold_at(ufunc, out, np.array([0, 1, 2, 2]), np.array([np.nan, 1, 3, 1], dtype))
        np.testing.assert_array_equal(np.isnan(out.astype(float)), [True, True, False])


def test_several_axes_and_memory_that_is_not_contiguous():
    whole = np.zeros((4, 6, 3))
    out = whole[:, ::2]
    fold_at(np.add, out, (np.array([[0], [3]]), np.array([1, 2])), np.ones((2, 2, 3)))
    expected = np.zeros((4, 6, 3))
    expected[[[0], [3]], [2, 4]] = 1
    np.testing.assert_array_equal(whole, expected)


def test_whole_arrays():
    out = np.ones((2, 2), np.float32)
    fold_at(np.add, out, (), np.full((3, 2, 2), 2, np.float32))
    np.testing.assert_array_equal(out, np.full((2, 2), 7))


@pytest.mark.parametrize("bad", [-1, 3, 2**62, -(2**63)])
def test_rows_that_are_not_there(bad):
    out = np.zeros((3, 2))
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for 3 rows"):
        fold_at(np.add, out, np.array([0, bad]), np.ones((2, 2)))
    np.testing.assert_array_equal(out, np.zeros((3, 2)))


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", 1, bytearray(8), bytes(8), bytes(8), 3),
        ("add", 1, bytearray(8), bytes(8), bytes(8), 0),
        ("add", 1, bytearray(8), bytes(8), bytes(8), -2),
        ("add", 1, bytearray(8), bytes(8), bytes(8), 2**62),
        ("add", 1, bytearray(8), bytes(7), bytes(8), 2),
        ("add", 1, bytearray(8), bytes(16), bytes(8), 2),
        ("add", 1, bytearray(0), bytes(8), bytes(8), 2),
        ("add", 1, bytes(8), bytes(8), bytes(8), 2),
        ("add", 99, bytearray(8), bytes(8), bytes(8), 2),
        ("add", -1, bytearray(8), bytes(8), bytes(8), 2),
        ("add", 8, bytearray(8), bytes(8), bytes(8), 1),
        ("arctan2", 1, bytearray(8), bytes(8), bytes(8), 2),
        ("divide", 3, bytearray(8), bytes(8), bytes(8), 2),
        ("add", 1, None, bytes(8), bytes(8), 2),
    ],
)
def test_arrays_that_do_not_fit(arguments):
    with pytest.raises((ValueError, TypeError, IndexError, BufferError)):
        _native.fold_rows(*arguments)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_means_of_many(dtype, threads):
    data, ids = numbers(dtype, 300, 2) % 2, np.repeat([0, 2], [10, 290])
    totals = [
        folded(np.add, np.zeros((1, 2), dtype), np.zeros(len(part), int), part)[0]
        for part in (data[:10], data[10:])
    ]
    counts = np.array([10, 290]).astype(dtype if dtype in FLOATS else np.int64)
    expected = [np.trunc(t / n) if dtype in INTEGERS else t / n for t, n in zip(totals, counts, strict=True)]
    got = segment.SegmentMean(data, ids).numpy()
    np.testing.assert_array_equal(got, np.array([expected[0], [0, 0], expected[1]], dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.float16, np.complex64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("columns", [1, 5, 70])
@pytest.mark.parametrize(
    ("adjoint_a", "adjoint_b"), [(False, False), (True, False), (False, True), (True, True)]
)
def test_sparse_products(dtype, index, columns, adjoint_a, adjoint_b, threads):
    rng = np.random.default_rng(3)
    at = rng.integers(0, [6, 9], (40, 2)).astype(index)  # places repeat, in no order
    values = numbers(dtype, 40)
    dense = np.zeros((6, 9), dtype)
    np.add.at(dense, tuple(at.T), values)
    a = dense.conj().T if adjoint_a else dense
    b = numbers(dtype, columns, a.shape[1]) if adjoint_b else numbers(dtype, a.shape[1], columns)
    got = SparseTensorDenseMatMul(
        at, values, [6, 9], b, adjoint_a=adjoint_a, adjoint_b=adjoint_b
    ).numpy()
    wide = np.promote_types(dtype, np.float32) if dtype == np.float16 else dtype
    expected = (a.astype(wide) @ (b.conj().T if adjoint_b else b).astype(wide)).astype(dtype)
    np.testing.assert_allclose(
        got,
        expected,
        rtol=2e-3 if dtype == np.float16 else 1e-5,
        atol=1e-2 if dtype == np.float16 else 1e-4,
    )


@pytest.mark.parametrize("place", [[6, 0], [0, 9], [-1, 0], [0, -1], [2**40, 0]])
def test_elements_outside_of_a_sparse_matrix(place):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"from index\[1,[01]\] out of bounds \(>="):
        SparseTensorDenseMatMul(
            np.array([[0, 0], place]), np.ones(2, np.float32), [6, 9], np.ones((9, 2), np.float32)
        )


@pytest.mark.parametrize(("shape", "columns"), [([0, 0], 3), ([0, 4], 3), ([4, 0], 3), ([4, 2], 0)])
def test_empty_sparse_products(shape, columns):
    got = SparseTensorDenseMatMul(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), shape,
                                  np.ones((shape[1], columns), np.float32))  # fmt: skip
    np.testing.assert_array_equal(got, np.zeros((shape[0], columns)))
