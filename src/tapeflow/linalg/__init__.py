"""tf.linalg: matrices, their products, decompositions and equations."""

from tapeflow.linalg import experimental
from tapeflow.ops.array.diagonal import band_part, diag, diag_part, set_diag, trace
from tapeflow.ops.array.tensor_diagonal import eye, tensor_diag, tensor_diag_part
from tapeflow.ops.linalg.cross import cross
from tapeflow.ops.linalg.decomposition import cholesky, eig, eigh, eigvals, eigvalsh, qr, svd
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.linalg.lu import lu, lu_matrix_inverse, lu_reconstruct, lu_solve
from tapeflow.ops.linalg.matmul import matmul, matvec, tensordot
from tapeflow.ops.linalg.matrix_function import (
    adjoint,
    eigh_tridiagonal,
    expm,
    logm,
    matrix_rank,
    matrix_transpose,
    norm,
    normalize,
    pinv,
    sqrtm,
)
from tapeflow.ops.linalg.solve import (
    cholesky_solve,
    det,
    inv,
    logdet,
    lstsq,
    slogdet,
    solve,
    triangular_solve,
)
from tapeflow.ops.linalg.tridiagonal import (
    banded_triangular_solve,
    tridiagonal_matmul,
    tridiagonal_solve,
)
from tapeflow.ops.linear_operator import (
    dispatch as _linear_operator_dispatch,  # functions of matrices take operators
)
from tapeflow.ops.linear_operator.algebra import (
    LinearOperatorAdjoint,
    LinearOperatorComposition,
    LinearOperatorInversion,
    LinearOperatorKronecker,
    LinearOperatorLowRankUpdate,
)
from tapeflow.ops.linear_operator.base import LinearOperator
from tapeflow.ops.linear_operator.blocks import (
    LinearOperatorBlockDiag,
    LinearOperatorBlockLowerTriangular,
)
from tapeflow.ops.linear_operator.circulant import (
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
)
from tapeflow.ops.linear_operator.matrix import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from tapeflow.ops.linear_operator.structured import (
    LinearOperatorHouseholder,
    LinearOperatorPermutation,
    LinearOperatorToeplitz,
    LinearOperatorTridiag,
)
from tapeflow.ops.math.clip import global_norm
from tapeflow.ops.nn.normalization import l2_normalize

__all__ = [
    "LinearOperator",
    "LinearOperatorAdjoint",
    "LinearOperatorBlockDiag",
    "LinearOperatorBlockLowerTriangular",
    "LinearOperatorCirculant",
    "LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D",
    "LinearOperatorComposition",
    "LinearOperatorDiag",
    "LinearOperatorFullMatrix",
    "LinearOperatorHouseholder",
    "LinearOperatorIdentity",
    "LinearOperatorInversion",
    "LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular",
    "LinearOperatorPermutation",
    "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz",
    "LinearOperatorTridiag",
    "LinearOperatorZeros",
    "adjoint",
    "band_part",
    "banded_triangular_solve",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eig",
    "eigh",
    "eigh_tridiagonal",
    "eigvals",
    "eigvalsh",
    "einsum",
    "experimental",
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
    "triangular_solve",
    "tridiagonal_matmul",
    "tridiagonal_solve",
]
