"""`tf.contrib.linalg`: the linear operators of `tf.linalg`."""

from tapeflow.linalg import (
    LinearOperator,
    LinearOperatorAdjoint,
    LinearOperatorBlockDiag,
    LinearOperatorCirculant,
    LinearOperatorCirculant2D,
    LinearOperatorCirculant3D,
    LinearOperatorComposition,
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorHouseholder,
    LinearOperatorIdentity,
    LinearOperatorInversion,
    LinearOperatorKronecker,
    LinearOperatorLowerTriangular,
    LinearOperatorLowRankUpdate,
    LinearOperatorScaledIdentity,
    LinearOperatorToeplitz,
    LinearOperatorZeros,
)

LinearOperatorTriL = LinearOperatorLowerTriangular
LinearOperatorUDVHUpdate = LinearOperatorLowRankUpdate

__all__ = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorBlockDiag", "LinearOperatorCirculant",
    "LinearOperatorCirculant2D", "LinearOperatorCirculant3D", "LinearOperatorComposition", "LinearOperatorDiag",
    "LinearOperatorFullMatrix", "LinearOperatorHouseholder", "LinearOperatorIdentity", "LinearOperatorInversion",
    "LinearOperatorKronecker", "LinearOperatorLowRankUpdate", "LinearOperatorLowerTriangular",
    "LinearOperatorScaledIdentity", "LinearOperatorToeplitz", "LinearOperatorTriL", "LinearOperatorUDVHUpdate",
    "LinearOperatorZeros",
]  # fmt: skip
