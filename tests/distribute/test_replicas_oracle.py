"""Calls of strategies with two replicas against TensorFlow itself; TF_PYTHON names a Python that has it."""

import os
import pathlib
import runpy
import subprocess

import pytest

import tapeflow as tf
from tapeflow.core import config

PROGRAM = pathlib.Path(__file__).with_name("replica_calls.py")


@pytest.fixture
def devices():
    yield
    config.reset_devices()


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_replicas_do_as_tensorflow(devices):
    done = subprocess.run([os.environ["TF_PYTHON"], str(PROGRAM)], capture_output=True, text=True, check=True)
    theirs = done.stdout.splitlines()
    ours = runpy.run_path(str(PROGRAM))["lines"](tf)
    assert len(ours) > 100
    assert [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]] == []
