"""`tf.contrib.cluster_resolver`: which processes a program consists of; see `tf.distribute.cluster_resolver`."""

from tapeflow.distribute.cluster_resolver import (
    ClusterResolver,
    GCEClusterResolver,
    KubernetesClusterResolver,
    SimpleClusterResolver,
    SlurmClusterResolver,
    TFConfigClusterResolver,
    TPUClusterResolver,
)
from tapeflow.distribute.cluster_resolver import (
    UnionResolver as UnionClusterResolver,
)

__all__ = [
    "ClusterResolver", "GCEClusterResolver", "KubernetesClusterResolver", "SimpleClusterResolver",
    "SlurmClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver", "UnionClusterResolver",
]  # fmt: skip
