"""`examples/same_model.py`: eagerly, by `tf.function` and in a session, the losses are the same."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(__file__).parents[2] / "examples" / "same_model.py"


@pytest.fixture(scope="module")
def program():
    return runpy.run_path(str(PROGRAM))


@pytest.fixture(scope="module")
def losses(program):
    batches = program["digits"](steps=6, batch=16)
    return {name: train(batches, 1) for name, train in program["WAYS"].items()}


@pytest.mark.parametrize("way", ["tf.function", "session"])
def test_losses_are_those_of_eager_training(losses, way):
    np.testing.assert_allclose(losses[way], losses["eager"], rtol=1e-6)


def test_the_model_learns(losses):
    assert losses["eager"][-1] < losses["eager"][0]


def test_another_seed_is_another_model(program, losses):
    batches = program["digits"](steps=1, batch=16)
    other = program["eagerly"](batches, 5)
    assert other[0] != losses["eager"][0]


def test_prints_the_losses_side_by_side(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(PROGRAM), "--steps", "2", "--batch", "8"])
    runpy.run_path(str(PROGRAM), run_name="__main__")
    head, first, *_, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["step", "eager", "tf.function", "session"]
    _, *values = first.split()
    assert len(values) == 3
    assert len(set(values)) == 1
    assert float(last.rpartition(" ")[2]) < 1e-6
