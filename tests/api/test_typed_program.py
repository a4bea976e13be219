"""A user's program that mypy checks without false alarms."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/api/typed_program.py"


def run(*arguments):
    """The finished process of Python with `arguments`, which finds the package in this checkout."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "src"), MYPYPATH=str(ROOT / "src"))
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True)


def check(file):
    """What mypy says about a file, with the cache that `make lint` fills."""
    options = ["--follow-imports=silent", "--check-untyped-defs", "--config-file=pyproject.toml"]
    return run("-m", "mypy", *options, str(file))


def test_the_program_runs():
    done = run(str(PROGRAM))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "[33, 73] (2, 2) float32"


@pytest.mark.slow
def test_mypy_finds_nothing_in_it():
    pytest.importorskip("mypy")
    done = check(PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_mypy_finds_a_mistake(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "mistaken.py"
    program.write_text("import tapeflow as tf\n\ntf.reduce_sum([1.0], keepdims='yes')\n")
    done = check(program)
    assert '"keepdims" to "reduce_sum"' in done.stdout, done.stdout
