"""`tf.contrib`: the parts that programs still use."""

import importlib
from typing import Any

_PACKAGES = {
    "batching", "bayesflow", "checkpoint", "crf", "cudnn_rnn", "data", "deprecated", "distributions", "eager",
    "framework", "image", "integrate", "layers", "learn", "legacy_seq2seq", "linalg", "lookup", "losses",
    "metrics", "mixed_precision", "nn", "opt", "periodic_resample", "proto", "reduce_slice_ops", "resampler",
    "rnn", "seq2seq", "signal", "slim", "solvers", "sparsemax", "stateless", "summary", "tensorboard", "text", "tpu",
    "training", "util",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"tapeflow.contrib.{name}")
    raise AttributeError(f"module 'tapeflow.contrib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_PACKAGES)
