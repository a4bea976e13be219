"""`make demo ARGS="--device gpu"` on CPU devices of XLA's that stand for GPUs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tapeflow

pytest.importorskip("jax")
pytest.importorskip("rich")
pytest.importorskip("PIL")

pytestmark = pytest.mark.xla

ROOT = Path(__file__).parents[2]


def test_the_demo_runs_on_a_device(tmp_path):
    path = os.pathsep.join(filter(None, [str(Path(tapeflow.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "mnist.py"), "--device", "gpu:1", "--epochs", "1", "--images", "600"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path, "TAPEFLOW_VIRTUAL_GPUS": "2"}, capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "trained on GPU:1" in done.stdout
    assert (tmp_path / "mnist.png").exists()
