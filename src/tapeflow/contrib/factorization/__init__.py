"""`tf.contrib.factorization`: clusters and mixtures of Gaussians."""

from tapeflow.contrib.factorization import clustering_ops, factorization_ops
from tapeflow.contrib.factorization.clustering_ops import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
from tapeflow.contrib.factorization.factorization_ops import (
    masked_matmul,
    wals_compute_partial_lhs_and_rhs,
)
from tapeflow.contrib.factorization.gmm import GMM
from tapeflow.contrib.factorization.gmm_ops import GmmAlgorithm, gmm
from tapeflow.contrib.factorization.kmeans import KMeansClustering

__all__ = [
    "COSINE_DISTANCE", "GMM", "GmmAlgorithm", "KMEANS_PLUS_PLUS_INIT", "KMeans", "KMeansClustering", "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE", "gmm",
]  # fmt: skip
