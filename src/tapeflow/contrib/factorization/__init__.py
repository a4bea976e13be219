"""`tf.contrib.factorization`: clusters, mixtures of Gaussians, and matrices as products of factors."""

from tapeflow.contrib.factorization.clustering_ops import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
from tapeflow.contrib.factorization.kmeans import KMeansClustering

__all__ = [
    "COSINE_DISTANCE", "KMEANS_PLUS_PLUS_INIT", "KMeans", "KMeansClustering", "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
]  # fmt: skip
