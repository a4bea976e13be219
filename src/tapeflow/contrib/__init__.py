"""`tf.contrib`: the parts that programs still use."""

import importlib
from typing import Any

_PACKAGES = {
    "checkpoint", "crf", "cudnn_rnn", "data", "distribute", "distributions", "eager", "estimator", "feature_column",
    "framework", "gan", "graph_editor", "hooks", "keras", "layers", "learn", "legacy_seq2seq", "lookup", "losses",
    "metrics", "nn", "opt", "predictor", "rnn", "saved_model", "seq2seq", "slim", "stateless", "summary",
    "tensorboard", "testing", "tpu", "training", "util",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "keras":
        return importlib.import_module("tapeflow.compat.v1.keras")
    if name in _PACKAGES:
        return importlib.import_module(f"tapeflow.contrib.{name}")
    raise AttributeError(f"module 'tapeflow.contrib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_PACKAGES)
