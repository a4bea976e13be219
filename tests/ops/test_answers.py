"""Calls that TensorFlow answers, or refuses, in a way of its own: what it said is kept in `answers.json`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import answers
import numpy as np
import pytest

import tapeflow as tf

HERE = Path(__file__).parent
THEIRS = json.loads((HERE / "answers.json").read_text())


@pytest.fixture(scope="module")
def ours():
    return answers.answers(tf, np)


@pytest.mark.parametrize("call", answers.CALLS)
def test_answer(call, ours):
    assert ours[call] == THEIRS[call]


def test_every_answer_is_of_a_call():
    assert set(THEIRS) == set(answers.CALLS)


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_answers_are_tensorflows():
    done = subprocess.run(
        [os.environ["TF_PYTHON"], HERE / "answers.py"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == THEIRS
