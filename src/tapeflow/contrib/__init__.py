"""`tf.contrib`: the parts that programs still use."""

import importlib
from typing import Any

_PACKAGES = {
    "autograph", "batching", "bayesflow", "boosted_trees", "checkpoint", "cluster_resolver", "compiler",
    "constrained_optimization", "copy_graph", "crf", "cudnn_rnn", "data", "deprecated", "distribute", "distributions",
    "eager", "estimator", "factorization", "feature_column", "ffmpeg", "framework", "gan", "graph_editor", "hooks",
    "image", "input_pipeline", "integrate", "keras", "kernel_methods", "layers", "learn", "legacy_seq2seq", "libsvm",
    "linalg", "lookup", "losses", "memory_stats", "metrics", "mixed_precision", "model_pruning", "nccl", "nn", "opt",
    "optimizer_v2", "periodic_resample", "predictor", "proto", "quantization", "quantize", "reduce_slice_ops",
    "resampler", "rnn", "saved_model", "seq2seq", "session_bundle", "signal", "slim", "solvers", "sparsemax",
    "staging", "stateless", "summary", "tensor_forest", "tensorboard", "testing", "text", "tfprof", "timeseries",
    "tpu", "training", "util",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "keras":
        return importlib.import_module("tapeflow.compat.v1.keras")
    if name in _PACKAGES:
        return importlib.import_module(f"tapeflow.contrib.{name}")
    raise AttributeError(f"module 'tapeflow.contrib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_PACKAGES)
