# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.linalg import experimental as experimental
from tapeflow.ops.array.band import band_part as band_part
from tapeflow.ops.array.band import trace as trace
from tapeflow.ops.array.diagonal import diag_part as diag_part
from tapeflow.ops.array.diagonal import set_diag as set_diag
from tapeflow.ops.array.diagonal_matrix import diag as diag
from tapeflow.ops.array.tensor_diagonal import eye as eye
from tapeflow.ops.array.tensor_diagonal import tensor_diag as tensor_diag
from tapeflow.ops.array.tensor_diagonal import tensor_diag_part as tensor_diag_part
from tapeflow.ops.linalg.banded import banded_triangular_solve as banded_triangular_solve
from tapeflow.ops.linalg.cross import cross as cross
from tapeflow.ops.linalg.decomposition import cholesky as cholesky
from tapeflow.ops.linalg.decomposition import qr as qr
from tapeflow.ops.linalg.decomposition import svd as svd
from tapeflow.ops.linalg.eigen import eig as eig
from tapeflow.ops.linalg.eigen import eigh as eigh
from tapeflow.ops.linalg.eigen import eigvals as eigvals
from tapeflow.ops.linalg.eigen import eigvalsh as eigvalsh
from tapeflow.ops.linalg.einsum import einsum as einsum
from tapeflow.ops.linalg.inverse import det as det
from tapeflow.ops.linalg.inverse import inv as inv
from tapeflow.ops.linalg.inverse import logdet as logdet
from tapeflow.ops.linalg.inverse import slogdet as slogdet
from tapeflow.ops.linalg.lu import lu as lu
from tapeflow.ops.linalg.lu import lu_matrix_inverse as lu_matrix_inverse
from tapeflow.ops.linalg.lu import lu_reconstruct as lu_reconstruct
from tapeflow.ops.linalg.lu import lu_solve as lu_solve
from tapeflow.ops.linalg.matmul import matmul as matmul
from tapeflow.ops.linalg.matmul import matvec as matvec
from tapeflow.ops.linalg.matrix_function import adjoint as adjoint
from tapeflow.ops.linalg.matrix_function import eigh_tridiagonal as eigh_tridiagonal
from tapeflow.ops.linalg.matrix_function import expm as expm
from tapeflow.ops.linalg.matrix_function import logm as logm
from tapeflow.ops.linalg.matrix_function import matrix_rank as matrix_rank
from tapeflow.ops.linalg.matrix_function import matrix_transpose as matrix_transpose
from tapeflow.ops.linalg.matrix_function import pinv as pinv
from tapeflow.ops.linalg.matrix_function import sqrtm as sqrtm
from tapeflow.ops.linalg.norms import norm as norm
from tapeflow.ops.linalg.norms import normalize as normalize
from tapeflow.ops.linalg.solve import cholesky_solve as cholesky_solve
from tapeflow.ops.linalg.solve import lstsq as lstsq
from tapeflow.ops.linalg.solve import solve as solve
from tapeflow.ops.linalg.solve import triangular_solve as triangular_solve
from tapeflow.ops.linalg.tensordot import tensordot as tensordot
from tapeflow.ops.linalg.tridiagonal_functions import tridiagonal_matmul as tridiagonal_matmul
from tapeflow.ops.linalg.tridiagonal_functions import tridiagonal_solve as tridiagonal_solve
from tapeflow.ops.linear_operator.algebra import LinearOperatorAdjoint as LinearOperatorAdjoint
from tapeflow.ops.linear_operator.algebra import LinearOperatorComposition as LinearOperatorComposition
from tapeflow.ops.linear_operator.algebra import LinearOperatorInversion as LinearOperatorInversion
from tapeflow.ops.linear_operator.algebra import LinearOperatorKronecker as LinearOperatorKronecker
from tapeflow.ops.linear_operator.base import LinearOperator as LinearOperator
from tapeflow.ops.linear_operator.blocks import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from tapeflow.ops.linear_operator.blocks import LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular
from tapeflow.ops.linear_operator.circulant import LinearOperatorCirculant as LinearOperatorCirculant
from tapeflow.ops.linear_operator.circulant import LinearOperatorCirculant2D as LinearOperatorCirculant2D
from tapeflow.ops.linear_operator.circulant import LinearOperatorCirculant3D as LinearOperatorCirculant3D
from tapeflow.ops.linear_operator.identity import LinearOperatorIdentity as LinearOperatorIdentity
from tapeflow.ops.linear_operator.identity import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
from tapeflow.ops.linear_operator.identity import LinearOperatorZeros as LinearOperatorZeros
from tapeflow.ops.linear_operator.low_rank import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from tapeflow.ops.linear_operator.matrix import LinearOperatorDiag as LinearOperatorDiag
from tapeflow.ops.linear_operator.matrix import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from tapeflow.ops.linear_operator.matrix import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
from tapeflow.ops.linear_operator.structured import LinearOperatorHouseholder as LinearOperatorHouseholder
from tapeflow.ops.linear_operator.structured import LinearOperatorPermutation as LinearOperatorPermutation
from tapeflow.ops.linear_operator.structured import LinearOperatorToeplitz as LinearOperatorToeplitz
from tapeflow.ops.linear_operator.structured import LinearOperatorTridiag as LinearOperatorTridiag
from tapeflow.ops.math.clip import global_norm as global_norm
from tapeflow.ops.nn.normalization import l2_normalize as l2_normalize
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
