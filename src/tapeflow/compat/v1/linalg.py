"""`tf.linalg` with the names and signatures of 1.x."""

from tapeflow.ops.clip import global_norm
from tapeflow.ops.cross import cross
from tapeflow.ops.decomposition import cholesky, eigh, eigvalsh, qr, svd
from tapeflow.ops.diagonal import band_part, diag, diag_part, set_diag, trace
from tapeflow.ops.einsum import einsum
from tapeflow.ops.layout import transpose_v1 as transpose
from tapeflow.ops.matmul import matmul, matvec, tensordot
from tapeflow.ops.matrix_function import (
    adjoint,
    eigh_tridiagonal,
    expm,
    logm,
    lu,
    lu_matrix_inverse,
    lu_reconstruct,
    lu_solve,
    matrix_rank,
    matrix_transpose,
    normalize,
    pinv,
    sqrtm,
)
from tapeflow.ops.matrix_function import norm_v1 as norm
from tapeflow.ops.normalization import l2_normalize
from tapeflow.ops.solve import (
    cholesky_solve,
    det,
    inv,
    logdet,
    lstsq,
    slogdet,
    solve,
    triangular_solve,
)
from tapeflow.ops.tensor_diagonal import eye, tensor_diag, tensor_diag_part
from tapeflow.ops.tridiagonal import tridiagonal_matmul, tridiagonal_solve

__all__ = [
    "adjoint",
    "band_part",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eigh",
    "eigh_tridiagonal",
    "eigvalsh",
    "einsum",
    "expm",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "logm",
    "lstsq",
    "lu",
    "lu_matrix_inverse",
    "lu_reconstruct",
    "lu_solve",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "sqrtm",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "transpose",
    "triangular_solve",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]
