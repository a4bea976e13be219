"""`tf.contrib`: the parts that programs still use."""

import importlib
from typing import Any

_PACKAGES = {
    "checkpoint", "crf", "cudnn_rnn", "data", "distributions", "eager", "framework", "gan", "layers", "learn",
    "legacy_seq2seq", "lookup", "losses", "metrics", "nn", "opt", "rnn", "seq2seq", "slim", "stateless", "summary",
    "tensorboard", "tpu", "training", "util",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"tapeflow.contrib.{name}")
    raise AttributeError(f"module 'tapeflow.contrib' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_PACKAGES)
