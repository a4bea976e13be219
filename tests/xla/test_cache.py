"""`TAPEFLOW_CACHE_DIR`: programs that XLA compiled are found by later processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("jax")

pytestmark = pytest.mark.xla

PROGRAM = """
import tapeflow as tf
from jax._src import monitoring
seen = []
monitoring.register_event_listener(lambda name, **_: seen.append(name))
print(tf.function(lambda x: tf.tanh(x) * 3.0, jit_compile=True)(tf.zeros([3])).numpy().tolist())
print(sum(name.endswith("cache_hits") for name in seen))
"""


def test_a_second_process_compiles_nothing(tmp_path):
    folder = tmp_path / "cache"
    printed = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, "TAPEFLOW_CACHE_DIR": str(folder)}, check=True,
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        printed.append(done.stdout.split("\n"))
        assert list(folder.iterdir())
    (first, hits, _), (second, later, _) = printed
    assert first == second == "[0.0, 0.0, 0.0]"
    assert int(hits) == 0
    assert int(later) >= 1
