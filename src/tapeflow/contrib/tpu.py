"""`tf.contrib.tpu`: the estimator of programs written for TPUs, and what they compute and train with."""

from __future__ import annotations

from tapeflow.estimator.tpu import (
    InputPipelineConfig,
    RunConfig,
    TPUConfig,
    TPUEstimator,
    TPUEstimatorSpec,
)
from tapeflow.tpu.replication import (
    CrossShardOptimizer,
    batch_parallel,
    bfloat16_scope,
    core,
    cross_replica_sum,
    outside_compilation,
    replicate,
    rewrite,
    shard,
)
from tapeflow.tpu.system import initialize_system, shutdown_system
from tapeflow.tpu.topology import Topology

__all__ = [
    "CrossShardOptimizer", "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec",
    "Topology", "batch_parallel", "bfloat16_scope", "core", "cross_replica_sum", "initialize_system",
    "outside_compilation", "replicate", "rewrite", "shard", "shutdown_system",
]  # fmt: skip
