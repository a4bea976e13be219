"""Calls of public functions for test_functions_in_graph.py: `CALLS`, a list of (label, function, arguments, keywords).

Arrays among the arguments are the tensors of a call; everything else is Python's.
"""

from __future__ import annotations

import numpy as np

import tapeflow as tf
from tapeflow.ops.sparse import segment as sparse_segment
from tapeflow.ops.string import regex

_numbers = np.random.default_rng(11)
CALLS: list[tuple] = []


def F(*shape):
    """Normal numbers."""
    return _numbers.normal(size=shape).astype(np.float32)


def P(*shape):
    """Numbers in [0.1, 0.9)."""
    return (_numbers.random(shape) * 0.8 + 0.1).astype(np.float32)


def Z(*shape):
    return (F(*shape) + 1j * F(*shape)).astype(np.complex64)


def N(*values):
    """Whole numbers, as given."""
    return np.array(values[0] if len(values) == 1 else values, np.int32)


def B(*values):
    return np.array(values, bool)


def S(*values):
    return np.array(values, object)


def positive_definite(n):
    a = F(n, n)
    return a @ a.T + n * np.eye(n, dtype=np.float32)


def call(function, *args, label="", **kwargs):
    name = label or getattr(function, "__qualname__", None) or getattr(function, "__name__", "call")
    CALLS.append((name, function, args, kwargs))


# Elementwise.
for f in (
    tf.abs,
    tf.negative,
    tf.sign,
    tf.square,
    tf.exp,
    tf.math.expm1,
    tf.floor,
    tf.math.ceil,
    tf.round,
    tf.math.rint,
    tf.sin,
    tf.cos,
    tf.tan,
    tf.sinh,
    tf.cosh,
    tf.tanh,
    tf.sigmoid,
    tf.math.log_sigmoid,
    tf.atan,
    tf.asinh,
    tf.math.erf,
    tf.math.erfc,
    tf.math.softplus,
    tf.nn.relu,
    tf.nn.relu6,
    tf.nn.elu,
    tf.nn.selu,
    tf.nn.softsign,
    tf.nn.gelu,
    tf.nn.silu,
    tf.nn.crelu,
    tf.nn.leaky_relu,
    tf.math.is_nan,
    tf.math.is_inf,
    tf.math.is_finite,
    tf.math.bessel_i0e,
    tf.math.bessel_i1,
    tf.math.special.dawsn,
    tf.math.special.expint,
    tf.math.special.spence,
    tf.math.special.fresnel_cos,
    tf.math.special.bessel_j0,
    tf.identity,
    tf.stop_gradient,
    tf.zeros_like,
    tf.ones_like,
    tf.shape,
    tf.size,
    tf.rank,
    tf.math.reciprocal_no_nan,
    tf.nn.softmax,
    tf.nn.log_softmax,
    tf.nn.l2_loss,
    tf.math.zero_fraction,
    tf.math.is_strictly_increasing,
    tf.math.is_non_decreasing,
    tf.math.l2_normalize,
    tf.transpose,
    tf.squeeze,
    tf.sort,
    tf.argsort,
    tf.norm,
    tf.math.reduce_std,
    tf.math.reduce_variance,
    tf.reduce_logsumexp,
    tf.math.count_nonzero,
    tf.math.reduce_euclidean_norm,
    tf.cumsum,
    tf.math.cumprod,
    tf.math.cumulative_logsumexp,
    tf.argmax,
    tf.argmin,
    tf.where,
    tf.linalg.trace,
    tf.linalg.diag,
    tf.linalg.diag_part,
    tf.linalg.matrix_transpose,
    tf.linalg.adjoint,
    tf.reduce_sum,
    tf.reduce_mean,
    tf.reduce_max,
    tf.reduce_min,
    tf.reduce_prod,
    tf.nn.zero_fraction,
    tf.math.conj,
):
    call(f, F(3, 4))
for f in (tf.sqrt, tf.math.rsqrt, tf.math.reciprocal, tf.math.log, tf.math.log1p, tf.math.acosh, tf.math.lgamma,
          tf.math.digamma, tf.math.lbeta, tf.acos, tf.asin, tf.atanh, tf.math.erfinv, tf.math.ndtri, tf.math.erfcinv,
          tf.math.special.bessel_y0, tf.math.special.bessel_k1e):  # fmt: skip
    call(f, P(2, 3) + (1 if f is tf.math.acosh else 0))
for f in (tf.add, tf.subtract, tf.multiply, tf.divide, tf.pow, tf.maximum, tf.minimum, tf.math.squared_difference,
          tf.math.floordiv, tf.math.floormod, tf.truediv, tf.realdiv, tf.math.atan2, tf.math.divide_no_nan,
          tf.math.xdivy, tf.math.xlogy, tf.math.xlog1py, tf.math.multiply_no_nan, tf.math.nextafter, tf.math.zeta,
          tf.math.igamma, tf.math.igammac, tf.less, tf.greater_equal, tf.equal, tf.not_equal,
          tf.math.polygamma):  # fmt: skip
    call(f, P(2, 3) + 1, P(3) + 1)
call(tf.math.betainc, P(3), P(3), P(3))
call(tf.math.polyval, [F(3), F(3), F(3)], F(3))
call(tf.math.scalar_mul, F(), F(3))
call(tf.add_n, [F(2, 3), F(2, 3), F(2, 3)])
call(tf.math.accumulate_n, [F(2, 3), F(2, 3)])
call(tf.bitwise.bitwise_and, N(5, 3), N(6, 1))
call(tf.bitwise.invert, N(5, 3))
call(tf.bitwise.left_shift, N(5, 3), N(1, 2))
call(tf.logical_and, B(True, False), B(True, True))
call(tf.math.logical_xor, B(True, False), B(True, True))
call(tf.logical_not, B(True, False))
call(tf.where, B(True, False, True), F(3), F(3))
call(tf.where, B(True, False, True), F(2, 3), F(3))
call(tf.compat.v1.where, B(True, False), F(2, 3), F(2, 3))
call(tf.cast, F(3), tf.int32)
call(tf.saturate_cast, F(3) * 300, tf.uint8)
call(tf.saturate_cast, F(3), tf.float64)
call(tf.bitcast, F(3), tf.int32)
call(tf.compat.v1.to_int32, F(3))
call(tf.complex, F(3), F(3))
for f in (tf.math.real, tf.math.imag, tf.math.angle, tf.math.conj, tf.abs):
    call(f, Z(2, 3))
call(tf.nn.leaky_relu, F(3), alpha=0.3)
call(tf.nn.leaky_relu, F(3), np.float32(0.3) * np.ones((), np.float32))
call(tf.nn.gelu, F(3), approximate=True)
call(tf.nn.silu, F(3), beta=2.0)
call(tf.nn.silu, F(3), F())
call(tf.nn.crelu, F(2, 3), axis=0)
call(tf.compat.v1.nn.relu_layer, F(2, 3), F(3, 4), F(4))
call(tf.clip_by_value, F(2, 3), -0.5, F())
call(tf.clip_by_norm, F(2, 3), 0.5)
call(tf.clip_by_norm, F(2, 3), P(), axes=[0])
call(tf.compat.v1.clip_by_average_norm, F(2, 3), 0.1)
call(tf.linalg.global_norm, [F(2), F(3, 2)])
call(tf.clip_by_global_norm, [F(2), None, F(3, 2)], 0.5)
call(tf.clip_by_global_norm, [F(2), F(3, 2)], P())

# Reductions.
for f in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_prod, tf.reduce_logsumexp, tf.math.reduce_std,
          tf.math.reduce_euclidean_norm):  # fmt: skip
    call(f, F(2, 3, 4), 1)
    call(f, F(2, 3, 4), [0, -1], keepdims=True)
    call(f, F(2, 3), N([1]))
    call(f, F(2, 3), -1)
call(tf.reduce_all, B(True, False))
call(tf.reduce_any, B(True, False), axis=0, keepdims=True)
call(tf.math.count_nonzero, N([[1, 0], [2, 3]]), axis=1, dtype=tf.int32)
call(tf.math.count_nonzero, S(b"a", b""))
call(tf.compat.v1.reduce_sum, F(2, 3), reduction_indices=1, keep_dims=True)
call(tf.argmax, F(2, 3), 1, tf.int32)
call(tf.argmax, F(2, 3), np.array(0, np.int32))
call(tf.compat.v1.argmax, F(2, 3), dimension=1)
call(tf.cumsum, F(2, 3), axis=1, exclusive=True, reverse=True)
call(tf.math.cumprod, P(2, 3), axis=-1, reverse=True)
call(tf.math.top_k, F(2, 5), 2)
call(tf.math.top_k, F(2, 5), np.array(3, np.int32))
call(tf.math.approx_max_k, F(2, 5), 2)
call(tf.math.approx_min_k, F(5, 2), 2, reduction_dimension=0)
call(tf.math.in_top_k, N(1, 0), F(2, 3), 2)
call(tf.math.segment_sum, F(4, 2), N(0, 0, 1, 2))
call(tf.math.segment_mean, F(4, 2), N(0, 0, 1, 1))
call(tf.math.unsorted_segment_sum, F(4, 2), N(0, 2, 0, 1), 3)
call(tf.math.unsorted_segment_mean, F(4, 2), N(0, 2, 0, 1), 3)
call(tf.math.unsorted_segment_mean, F(4, 2), N(0, 2, 0, 1), np.array(3, np.int32))
call(tf.math.unsorted_segment_sqrt_n, F(2, 2, 3), N([[0, 1], [1, 1]]), 2)
call(tf.math.unsorted_segment_max, F(4), N(0, 2, 0, 1), 3)
call(sparse_segment.sparse_segment_sum, F(4, 2), N(0, 2, 3), N(0, 0, 1))
call(sparse_segment.sparse_segment_mean, F(4, 2), N(0, 2, 3), N(0, 0, 1), num_segments=3)
call(sparse_segment.sparse_segment_sqrt_n, F(4, 2), N(0, 2, 3), N(0, 0, 1))
call(tf.math.bincount, N(1, 1, 3))
call(tf.math.bincount, N(1, 1, 3), weights=F(3), minlength=5)
call(tf.math.bincount, N([[1, 1], [0, 3]]), axis=-1, maxlength=3, binary_output=True)
call(tf.math.bincount, N([[1, 1], [0, 3]]), axis=-1)
call(tf.histogram_fixed_width, F(20), [-1.0, 1.0], nbins=5)
call(tf.histogram_fixed_width, F(20), np.array([-1.0, 1.0], np.float32), nbins=5)
call(tf.histogram_fixed_width_bins, F(20), np.array([-1.0, 1.0], np.float32))
call(tf.math.confusion_matrix, N(0, 1, 2), N(0, 2, 2))
call(
    tf.math.confusion_matrix, N(0, 1, 2), N(0, 2, 2), num_classes=4, weights=F(3), dtype=tf.float32
)
call(tf.compat.v1.confusion_matrix, N([0], [1]), N(0, 1), 2)

# Shapes and parts.
call(tf.reshape, F(2, 6), [-1, 3])
call(tf.reshape, F(2, 6), N(3, 4))
call(tf.expand_dims, F(2, 3), -1)
call(tf.expand_dims, F(2, 3), np.array(1, np.int32))
call(tf.squeeze, F(1, 3, 1), [0])
call(tf.squeeze, F(1, 3, 1), axis=-1)
call(tf.transpose, F(2, 3, 4), [2, 0, 1])
call(tf.transpose, Z(2, 3), conjugate=True)
call(tf.transpose, F(2, 3), N(1, 0))
call(tf.concat, [F(2, 3), F(1, 3)], 0)
call(tf.concat, [F(2, 3), F(2, 2)], -1)
call(tf.concat, [F(2, 3)], 0)
call(tf.concat, [F(2, 3), F(2, 2)], np.array(1, np.int32))
call(tf.stack, [F(2, 3), F(2, 3)])
call(tf.stack, [F(2, 3), F(2, 3)], axis=-1)
call(tf.stack, [F(), 1.0, F()])
call(tf.unstack, F(2, 3), 2)
call(tf.unstack, F(2, 3), 3, axis=-1)
call(tf.split, F(4, 3), 2)
call(tf.split, F(4, 3), [1, 3])
call(tf.split, F(4, 3), [1, -1], axis=0)
call(tf.split, F(4, 3), 3, axis=-1)
call(tf.split, F(4, 3), N(1, 3), 0, 2)
call(tf.tile, F(2, 3), [1, 2])
call(tf.tile, F(2, 3), N(1, 2))
call(tf.repeat, F(3), 2)
call(tf.repeat, F(3, 2), 2, axis=0)
call(tf.repeat, F(3, 2), [1, 0, 2], axis=0)
call(tf.repeat, F(3, 2), N(1, 0, 2), axis=0)
call(tf.repeat, F(2, 3), N(1, 0, 2), axis=-1, label="repeat needs rank")
call(tf.repeat, F(2, 3), N(1, 0, 2, 1, 1, 1))
call(tf.repeat, F(2, 3), np.array(2, np.int32))
call(tf.broadcast_to, F(3), [2, 3])
call(tf.broadcast_dynamic_shape, N(2, 1), N([3]))
call(tf.pad, F(2, 3), [[1, 0], [0, 2]])
call(tf.pad, F(2, 3), N([1, 0], [0, 2]), "REFLECT")
call(tf.pad, F(2, 3), [[1, 0], [0, 2]], "SYMMETRIC")
call(tf.pad, F(2, 3), [[1, 0], [0, 2]], constant_values=F())
call(tf.slice, F(3, 4), [0, 1], [2, -1])
call(tf.slice, F(3, 4), N(0, 1), N(2, 2))
call(tf.strided_slice, F(4, 4), [0, 3], [4, 0], [2, -1])
call(lambda x: x[1:, ..., None, -1], F(3, 4), label="getitem")
call(lambda x, i: x[i], F(3, 4), np.array(1, np.int32), label="getitem-index")
call(lambda x, i: x[i:, :i], F(3, 4), np.array(2, np.int32), label="getitem-bounds")
call(tf.gather, F(3, 4), N(2, 0))
call(tf.gather, F(3, 4), N(2, 0), axis=1)
call(tf.gather, F(3, 4), N(2, 0), axis=-1)
call(tf.gather, F(2, 4), N([2, 0], [1, 1]), batch_dims=1)
call(tf.gather, F(2, 4), N([2, 0], [1, 1]), axis=1, batch_dims=-1)
call(tf.gather, F(3, 4), N(2, 0), axis=np.array(1, np.int32))
call(tf.gather_nd, F(3, 4), N([2, 0], [1, 1]))
call(tf.gather_nd, F(2, 3, 4), N([[2], [0]], [[1], [1]]), batch_dims=1)
call(tf.compat.v1.batch_gather, F(2, 4), N([2, 0], [1, 1]))
call(tf.boolean_mask, F(3, 4), [True, False, True])
call(tf.boolean_mask, F(3, 4), [True, False, True, True], axis=1)
call(tf.scatter_nd, N([0], [2]), F(2, 3), [4, 3])
call(tf.scatter_nd, N([0], [2]), F(2, 3), N(4, 3))
for f in (
    tf.tensor_scatter_nd_update,
    tf.tensor_scatter_nd_add,
    tf.tensor_scatter_nd_sub,
    tf.tensor_scatter_nd_min,
):
    call(f, F(4, 3), N([0], [2]), F(2, 3))
call(tf.dynamic_partition, F(4, 2), N(0, 1, 0, 1), 2)
call(tf.dynamic_stitch, [N(0, 2), N(1, 3)], [F(2, 2), F(2, 2)])
call(tf.reverse, F(2, 3), [1])
call(tf.reverse, F(2, 3), [-1])
call(tf.reverse_sequence, F(2, 3), N(2, 3), seq_axis=1)
call(tf.roll, F(2, 3), 1, 0)
call(tf.roll, F(2, 3), [1, 2], [0, 1])
call(tf.unique, N(1, 2, 1))
call(tf.unique_with_counts, N(1, 2, 1))
call(tf.compat.v1.setdiff1d, N(1, 2, 3), N([2]))
call(tf.searchsorted, np.sort(F(5)), F(3))
call(tf.searchsorted, np.sort(F(2, 5), -1), F(2, 3), side="right")
call(tf.sort, F(3, 4), axis=0, direction="DESCENDING")
call(tf.argsort, F(3, 4), axis=-1, stable=True)
call(tf.argsort, F(3, 4), axis=0, direction="DESCENDING")
call(tf.sort, N([3, 1], [2, 5]))
call(tf.math.invert_permutation, N(1, 0, 2))
call(tf.unravel_index, N(5, 2), N(2, 3))
call(tf.one_hot, N(0, 2), 3)
call(tf.one_hot, N(0, 2), np.array(3, np.int32), on_value=F(), off_value=0.0, axis=0)
call(tf.sequence_mask, N(1, 3))
call(tf.sequence_mask, N(1, 3), 4)
call(tf.sequence_mask, N([1], [3]), np.array(4, np.int32), tf.float32)
call(tf.meshgrid, F(2), F(3))
call(tf.meshgrid, F(2), F(3), indexing="ij")
call(tf.range, np.array(5, np.int32))
call(tf.range, F(), 10.0, 2.5)
call(tf.range, np.array(5, np.int32), np.array(1, np.int32), -1)
call(tf.linspace, F(), 10.0, 4)
call(tf.linspace, F(3), F(3), 4, axis=-1)
call(tf.linspace, F(), F(), np.array(3, np.int32))
call(tf.fill, N(2, 3), F())
call(tf.fill, [2, np.array(3, np.int32)], 7)
call(tf.zeros, N(2, 3))
call(tf.zeros, [2, np.array(3, np.int32)], tf.int32)
call(tf.ones, N(2, 3), tf.float64)
call(tf.eye, np.array(3, np.int32))
call(tf.eye, 2, np.array(3, np.int32), batch_shape=[2])
call(tf.eye, 2, batch_shape=N(2, 1))
call(tf.zeros_like, F(2, 3), tf.int32)
call(tf.compat.v1.zeros_like, F(2, 3), tf.int32)
call(tf.shape_n, [F(2, 3), F(1)])
call(tf.shape, F(2, 3), tf.int64)
call(tf.size, F(2, 3), tf.int64)
call(tf.compat.v1.shape, F(2, 3))
call(tf.ensure_shape, F(2, 3), [None, 3])
call(tf.identity_n, [F(2), N(1, 2)])
call(tf.space_to_batch, F(1, 4, 4, 1), [2, 2], [[0, 0], [0, 0]])
call(tf.batch_to_space, F(4, 2, 2, 1), [2, 2], [[0, 0], [0, 0]])
call(tf.nn.space_to_depth, F(1, 4, 4, 1), 2)
call(tf.nn.depth_to_space, F(1, 2, 2, 4), 2)
call(tf.compat.v1.required_space_to_batch_paddings, N(5, 4), N(2, 3))
call(tf.compat.v1.required_space_to_batch_paddings, N(5, 4), N(2, 3), N([0, 1], [1, 0]))
call(tf.compat.v1.space_to_batch, F(1, 4, 4, 1), [[0, 0], [0, 0]], block_size=2)

# Linear algebra.
call(tf.matmul, F(2, 3), F(3, 4))
call(tf.matmul, F(5, 3, 2), F(3, 4), transpose_a=True)
call(tf.matmul, F(5, 2, 3), F(5, 4, 3), transpose_b=True)
call(tf.matmul, Z(2, 3), Z(2, 4), adjoint_a=True)
call(tf.matmul, F(2, 3), F(3, 4), a_is_sparse=True)
call(tf.linalg.matvec, F(2, 3), F(3))
call(tf.linalg.matvec, F(4, 3, 2), F(4, 3), transpose_a=True)
call(tf.tensordot, F(2, 3, 4), F(4, 3), 1)
call(tf.tensordot, F(2, 3, 4), F(4, 3), [[1, 2], [1, 0]])
call(tf.tensordot, F(2, 3), F(4, 5), 0)
call(tf.tensordot, F(2, 3, 4), F(3, 4, 2), 2)
call(tf.tensordot, F(2, 3, 4), F(4, 3), [[-1], [0]])
call(tf.tensordot, F(2, 3, 4), F(4, 3), N([[1, 2], [1, 0]]), label="tensordot needs rank")
call(tf.einsum, "ij,jk->ik", F(2, 3), F(3, 4))
call(tf.einsum, "bij,bjk,kl->bil", F(2, 2, 3), F(2, 3, 2), F(2, 2))
call(tf.einsum, "...ij,jk->...ik", F(2, 2, 3), F(3, 4))
call(tf.einsum, "ij->ji", F(2, 3))
call(tf.linalg.cross, F(2, 3), F(2, 3))
call(tf.linalg.det, positive_definite(3))
call(tf.linalg.slogdet, positive_definite(3))
call(tf.linalg.logdet, positive_definite(3))
call(tf.linalg.inv, positive_definite(3))
call(tf.linalg.cholesky, positive_definite(3))
call(tf.linalg.cholesky_solve, np.linalg.cholesky(positive_definite(3)).astype(np.float32), F(3, 2))
call(tf.linalg.solve, positive_definite(3), F(3, 2))
call(tf.linalg.triangular_solve, positive_definite(3), F(3, 2))
call(tf.linalg.lstsq, F(4, 3), F(4, 2))
call(tf.linalg.lstsq, F(4, 3), F(4, 2), l2_regularizer=0.1)
call(tf.linalg.lstsq, F(3, 4), F(3, 2), fast=False)
call(tf.linalg.qr, F(4, 3))
call(tf.linalg.svd, F(4, 3), compute_uv=False)
call(lambda x: tf.abs(tf.linalg.svd(x)[1]), F(4, 3), label="svd-u")
call(tf.linalg.eigvalsh, positive_definite(3))
call(lambda x: tf.abs(tf.linalg.eigh(x)[1]), positive_definite(3), label="eigh-v")
call(tf.linalg.eigvals, positive_definite(3))
call(tf.linalg.expm, F(3, 3) * 0.1)
call(tf.linalg.sqrtm, positive_definite(3))
call(tf.linalg.logm, np.diag([1.0, 2.0]).astype(np.complex128))
call(tf.linalg.lu, positive_definite(3))
call(
    lambda x: tf.linalg.lu_reconstruct(*tf.linalg.lu(x)),
    positive_definite(3),
    label="lu_reconstruct",
)
call(
    lambda x, b: tf.linalg.lu_solve(*tf.linalg.lu(x), b),
    positive_definite(3),
    F(3, 1),
    label="lu_solve",
)
call(
    lambda x: tf.linalg.lu_matrix_inverse(*tf.linalg.lu(x)),
    positive_definite(3),
    label="lu_inverse",
)
call(tf.linalg.matrix_rank, F(2, 4, 3))
call(tf.linalg.pinv, F(4, 3))
call(tf.norm, F(2, 3, 4), axis=1)
call(tf.norm, F(2, 3, 4), ord=1, axis=[0, 1])
call(tf.norm, F(2, 3, 4), ord=2, axis=[-2, -1], keepdims=True)
call(tf.norm, F(2, 3, 4), ord=np.inf, axis=-1)
call(tf.norm, F(3, 4), ord=np.inf, axis=[0, 1])
call(tf.norm, F(2, 3), ord=3, keepdims=True)
call(tf.linalg.normalize, F(2, 3), axis=-1)
call(tf.linalg.diag, F(2, 3), k=1)
call(tf.linalg.diag, F(2, 3), num_rows=4)
call(tf.linalg.diag_part, F(2, 3, 4), k=(-1, 1))
call(tf.linalg.set_diag, F(2, 3, 3), F(2, 3))
call(tf.linalg.band_part, F(3, 4), 1, -1)
call(tf.linalg.tensor_diag, F(3))
call(tf.linalg.tensor_diag_part, F(3, 3))
call(tf.linalg.trace, F(2, 3, 3))
call(tf.linalg.eigh_tridiagonal, F(4), F(3))
call(tf.linalg.eigh_tridiagonal, F(4), F(3), select="i", select_range=(1, 2))
call(tf.linalg.eigh_tridiagonal, F(4), F(3), select="v", select_range=(-1.0, 1.0))
call(tf.linalg.tridiagonal_matmul, F(3, 4), F(4, 2))
call(tf.linalg.tridiagonal_matmul, [F(4), F(4), F(4)], F(4, 2), diagonals_format="sequence")
call(tf.linalg.tridiagonal_solve, F(3, 4) + np.array([[0], [5], [0]], np.float32), F(4, 2))
call(tf.linalg.tridiagonal_solve, F(3, 4) + np.array([[0], [5], [0]], np.float32), F(4))
call(
    tf.linalg.tridiagonal_solve,
    [F(3), F(4) + 4, F(3)],
    F(2, 4),
    diagonals_format="sequence",
    transpose_rhs=True,
)
call(tf.linalg.tridiagonal_solve, positive_definite(4), F(4), diagonals_format="matrix")
call(tf.linalg.banded_triangular_solve, F(2, 4) + 2, F(4, 2))

# Neural networks.
image, taps = F(2, 6, 6, 3), F(3, 3, 3, 4)
call(tf.nn.conv2d, image, taps, 1, "SAME")
call(tf.nn.conv2d, image, taps, [1, 2, 2, 1], "VALID", dilations=1)
call(tf.nn.conv2d, image, taps, 2, [[0, 0], [1, 1], [1, 0], [0, 0]])
call(tf.nn.conv2d_transpose, F(2, 3, 3, 4), taps, [2, 6, 6, 3], 2)
call(tf.nn.conv2d_transpose, F(2, 3, 3, 4), taps, N(2, 6, 6, 3), 2)
call(tf.nn.conv1d, F(2, 6, 3), F(2, 3, 4), 1, "SAME")
call(tf.nn.conv1d, F(2, 6, 3), F(2, 3, 4), 2, "VALID")
call(tf.nn.conv1d_transpose, F(2, 3, 4), F(2, 3, 4), [2, 6, 3], 2)
call(tf.nn.conv3d, F(1, 3, 4, 4, 2), F(2, 2, 2, 2, 3), [1, 1, 1, 1, 1], "SAME")
call(tf.nn.conv3d_transpose, F(1, 2, 2, 2, 3), F(2, 2, 2, 2, 3), [1, 4, 4, 4, 2], 2)
call(tf.nn.conv_transpose, F(2, 3, 3, 4), taps, [2, 6, 6, 3], 2)
call(tf.nn.convolution, image, taps)
call(tf.nn.convolution, image, taps, padding="SAME", dilations=2)
call(tf.nn.convolution, F(2, 6, 3), F(2, 3, 4), strides=2)
call(tf.nn.atrous_conv2d, image, taps, 2, "VALID")
call(tf.nn.atrous_conv2d_transpose, F(2, 2, 2, 4), taps, [2, 6, 6, 3], 2, "VALID")
call(tf.nn.depthwise_conv2d, image, F(3, 3, 3, 2), [1, 1, 1, 1], "SAME")
call(tf.nn.separable_conv2d, image, F(3, 3, 3, 2), F(1, 1, 6, 4), [1, 1, 1, 1], "SAME")
call(tf.nn.max_pool2d, image, 2, 2, "VALID")
call(tf.nn.avg_pool2d, image, 2, 2, "SAME")
call(tf.nn.max_pool, image, 2, 1, "SAME")
call(tf.nn.avg_pool, image, [1, 2, 2, 1], [1, 1, 1, 1], "VALID", data_format="NHWC")
call(tf.nn.max_pool1d, F(2, 6, 3), 2, 2, "VALID")
call(tf.nn.avg_pool1d, F(2, 6, 3), 2, 2, "VALID")
call(tf.nn.max_pool3d, F(1, 4, 4, 4, 2), 2, 2, "VALID")
call(tf.nn.avg_pool3d, F(1, 4, 4, 4, 2), 2, 2, "VALID")
call(tf.nn.max_pool_with_argmax, image, 2, 2, "VALID")
call(tf.nn.pool, image, [2, 2], "MAX")
call(tf.nn.pool, image, [2, 2], "AVG", strides=[2, 2], padding="SAME")
call(tf.nn.pool, image, [2, 2], "MAX", dilations=[2, 2])
call(tf.nn.dilation2d, image, F(2, 2, 3), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])
call(tf.nn.erosion2d, image, F(2, 2, 3), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1])
call(tf.nn.bias_add, F(2, 3), F(3))
call(tf.nn.bias_add, F(2, 3, 4), F(3), data_format="NCW")
call(tf.nn.local_response_normalization, image)
call(tf.nn.moments, F(2, 3, 4), [0, 1])
call(tf.nn.moments, F(2, 3, 4), [-1], keepdims=True)
call(tf.nn.moments, F(2, 3), N([0]))
call(tf.nn.weighted_moments, F(2, 3), [0], P(2, 1))
call(tf.nn.sufficient_statistics, F(2, 3), [0])
call(tf.nn.sufficient_statistics, F(2, 3), [0, 1], shift=F(), keepdims=True)
call(tf.nn.normalize_moments, P() + 3, F(3), P(3), F(3))
call(tf.nn.batch_normalization, F(2, 3), F(3), P(3), F(3), F(3), 0.01)
call(tf.nn.batch_norm_with_global_normalization, image, F(3), P(3), F(3), F(3), 0.01, True)
call(tf.compat.v1.nn.fused_batch_norm, image, F(3), F(3))
call(tf.compat.v1.nn.fused_batch_norm, image, F(3), F(3), F(3), P(3), is_training=False)
call(tf.math.l2_normalize, F(2, 3), axis=[0, 1])
call(tf.math.l2_normalize, Z(2, 3), axis=1)
call(tf.nn.softmax, F(2, 3, 4), axis=1)
call(tf.nn.softmax, F(2, 3), axis=0)
call(tf.nn.log_softmax, F(2, 3), axis=0)
call(tf.nn.softmax_cross_entropy_with_logits, P(2, 3), F(2, 3))
call(tf.nn.softmax_cross_entropy_with_logits, P(2, 3, 4), F(2, 3, 4), axis=1)
call(tf.nn.softmax_cross_entropy_with_logits, P(2, 3, 4), F(2, 3, 4))
call(tf.compat.v1.nn.softmax_cross_entropy_with_logits, labels=P(2, 3), logits=F(2, 3))
call(tf.nn.sparse_softmax_cross_entropy_with_logits, N(1, 0), F(2, 3))
call(tf.nn.sparse_softmax_cross_entropy_with_logits, N([1, 0], [1, 1]), F(2, 2, 3))
call(tf.nn.sigmoid_cross_entropy_with_logits, P(2, 3), F(2, 3))
call(tf.nn.weighted_cross_entropy_with_logits, P(2, 3), F(2, 3), 2.0)
call(tf.nn.log_poisson_loss, P(3), F(3), True)
call(tf.nn.embedding_lookup, F(4, 2), N([1, 2], [0, 3]))
call(tf.nn.embedding_lookup, F(4, 2), N(1, 2), max_norm=0.5)
call(tf.nn.embedding_lookup, [F(2, 2), F(2, 2)], N(1, 2, 3))
call(tf.compat.v1.nn.embedding_lookup, [F(2, 2), F(2, 2)], N(1, 2, 3), partition_strategy="div")
call(tf.compat.v1.nn.xw_plus_b, F(2, 3), F(3, 4), F(4))
call(tf.nn.dropout, F(2, 3), 0.0)

# Signals.
call(tf.signal.fft, Z(2, 8))
call(tf.signal.ifft2d, Z(4, 4))
call(tf.signal.rfft, F(2, 8))
call(tf.signal.rfft, F(2, 8), [6])
call(tf.signal.rfft, F(2, 8), [12])
call(tf.signal.rfft, F(2, 8), N([12]))
call(tf.signal.rfft2d, F(4, 8), [6, 8])
call(tf.signal.irfft, Z(2, 5))
call(tf.signal.irfft, Z(2, 5), [7])
call(tf.signal.irfft2d, Z(4, 5), [4, 10])
call(tf.signal.fftshift, F(2, 5))
call(tf.signal.fftshift, F(2, 5), axes=1)
call(tf.signal.ifftshift, F(2, 5), axes=[0])
call(tf.signal.frame, F(2, 10), 4, 2)
call(tf.signal.frame, F(2, 10), 4, 3, pad_end=True, pad_value=1.0)
call(tf.signal.frame, F(10, 2), 4, 2, axis=0)
call(tf.signal.frame, F(2, 10), np.array(4, np.int32), np.array(2, np.int32))
call(tf.signal.overlap_and_add, F(2, 3, 4), 2)
call(tf.signal.overlap_and_add, F(3, 4), np.array(3, np.int32))
call(tf.signal.stft, F(2, 16), 6, 3)
call(tf.signal.stft, F(2, 16), 6, 3, fft_length=10, pad_end=True, window_fn=None)
call(tf.signal.stft, F(16), np.array(6, np.int32), np.array(3, np.int32), np.array(8, np.int32))
call(tf.signal.inverse_stft, Z(4, 5), 6, 3)
call(tf.signal.inverse_stft, Z(4, 5), 6, 3, window_fn=tf.signal.inverse_stft_window_fn(3))
call(tf.signal.hann_window, np.array(6, np.int32))
call(tf.signal.hamming_window, np.array(5, np.int32), periodic=False)
call(tf.signal.vorbis_window, np.array(6, np.int32))
call(tf.signal.kaiser_window, np.array(6, np.int32), P() * 5)
call(tf.signal.kaiser_bessel_derived_window, np.array(6, np.int32))

# Texts.
call(tf.strings.join, [S(b"a", b"b"), "c"], separator="-")
call(tf.strings.length, S(b"abc", b""))
call(tf.strings.lower, S(b"ABC"))
call(tf.strings.substr, S(b"abcdef"), 1, 3)
call(tf.strings.substr, S(b"abcdef", b"xyz1"), N(1, 0), N(2, 2))
call(tf.strings.reduce_join, S([b"a", b"b"], [b"c", b"d"]), 1, separator=",")
call(tf.strings.reduce_join, S([b"a", b"b"], [b"c", b"d"]))
call(tf.strings.regex_replace, S(b"abc"), "b", "x")
call(tf.strings.regex_full_match, S(b"abc", b"b"), "a.*")
call(tf.strings.as_string, F(2), precision=2)
call(tf.strings.to_number, S(b"1.5", b"2"))
call(tf.strings.to_hash_bucket_fast, S(b"a", b"b"), 10)
call(tf.strings.strip, S(b" a "))
call(tf.strings.format, "x = {}, y = {}", (F(3), N(1, 2)))
call(tf.strings.format, "x = {}", F(20), summarize=-1)
call(regex.encode_base64, S(b"abc"))
call(regex.decode_base64, S(b"YWJj"))

# Random numbers that seeds fix.
call(tf.random.stateless_uniform, [3], N(1, 2))
call(
    tf.random.stateless_uniform,
    N(3, 2),
    [1, 2],
    np.array(1, np.int32),
    np.array(9, np.int32),
    tf.int32,
)
call(tf.random.stateless_normal, N([3]), N(1, 2), mean=F(3), stddev=P())
call(tf.random.stateless_truncated_normal, [3], N(1, 2))
call(tf.random.stateless_categorical, F(2, 3), 4, N(1, 2))
call(tf.random.stateless_categorical, F(2, 3), np.array(4, np.int32), N(1, 2))
call(tf.random.stateless_gamma, [4, 3], N(1, 2), P(3), P(3))
call(tf.random.stateless_gamma, N(4, 3), N(1, 2), P(3))
call(tf.random.stateless_poisson, [4, 3], N(1, 2), P(3) * 5)
call(tf.random.split, N(1, 2), 3)
call(tf.random.fold_in, N(1, 2), np.array(7, np.int32))
call(tf.random.experimental.stateless_shuffle, F(5), N(1, 2))
call(tf.math.sobol_sample, 3, np.array(4, np.int32))
call(tf.math.sobol_sample, np.array(3, np.int32), 4, skip=np.array(1, np.int32))

# Checks that hold.
call(tf.debugging.check_numerics, F(3), "text")
call(tf.debugging.assert_all_finite, F(3), "text")
call(tf.compat.v1.verify_tensor_all_finite, F(3), "text")
