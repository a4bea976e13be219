"""Strategies in several processes of this machine: exchanges, training, the death of one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("jax")

PROGRAMS = Path(__file__).parent / "programs"
pytestmark = pytest.mark.xla


def launched(count, program, *arguments, options=(), **environment):
    """What `python -m tapeflow.launch` says of a program in so many processes."""
    return subprocess.run(
        [sys.executable, "-m", "tapeflow.launch", "--processes", str(count), *options, PROGRAMS / program,
         *map(str, arguments)],
        capture_output=True, text=True, check=False, timeout=500,
        env={**os.environ, "TAPEFLOW_VIRTUAL_GPUS": "", "XLA_FLAGS": "", **environment},
    )  # fmt: skip


def results(folder, count):
    return [json.loads((folder / f"result{i}.json").read_text()) for i in range(count)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What one process computes, by how it trains."""
    found = {}

    def trained(how):
        if how not in found:
            folder = tmp_path_factory.mktemp(how)
            done = launched(1, "training.py", how, folder)
            assert done.returncode == 0, done.stdout
            (found[how],) = results(folder, 1)
        return found[how]

    return trained


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_exchange(count):
    done = launched(count, "collectives.py")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("exchanged") == count


@pytest.mark.parametrize(
    ("how", "count"),
    [("fit", 2), ("loop", 2), ("eager", 2), *[pytest.param(how, 4, marks=pytest.mark.slow) for how in ("fit", "loop")]],
)
def test_training_of_several_is_that_of_one(how, count, alone, tmp_path):
    done = launched(count, "training.py", how, tmp_path)
    assert done.returncode == 0, done.stdout
    expected = alone(how)
    for found in results(tmp_path, count):
        assert found["history"]["loss"] == pytest.approx(expected["history"]["loss"], abs=1e-6)
        assert found["weights"] == pytest.approx(expected["weights"], rel=1e-5)
        assert found["programs"] == {"fit": 2, "loop": 1, "eager": 0}[how]
        if how == "fit":
            assert found["history"]["mae"] == pytest.approx(expected["history"]["mae"], abs=1e-6)
            assert found["history"]["evaluated"] == pytest.approx(expected["history"]["evaluated"], abs=1e-6)


def test_replicas_on_two_devices_of_each_process(alone, tmp_path):
    done = launched(2, "training.py", "loop", tmp_path, TAPEFLOW_VIRTUAL_GPUS="2")
    assert done.returncode == 0, done.stdout
    for found in results(tmp_path, 2):
        assert found["history"]["loss"] == pytest.approx(alone("loop")["history"]["loss"], abs=1e-6)
        assert found["programs"] == 1


def test_after_the_death_of_one_the_others_stop_with_an_error(tmp_path):
    done = launched(2, "training.py", "fit", tmp_path, 4, TAPEFLOW_HEARTBEAT_SECONDS="10")
    assert done.returncode == 128 + 9
    assert "[worker 0]" in done.stdout
    assert "UnavailableError: /job:worker/task:1 stopped during a collective operation" in done.stdout, done.stdout


def test_training_goes_on_after_the_death_of_one(alone, tmp_path):
    done = launched(2, "training.py", "fit", tmp_path, 4, options=["--restarts", "1"], TAPEFLOW_HEARTBEAT_SECONDS="10")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "died").exists()
    expected = alone("fit")
    for found in results(tmp_path, 2):
        assert len(found["history"]["loss"]) == 3  # the first epoch had been saved
        assert found["history"]["loss"] == pytest.approx(expected["history"]["loss"][1:], abs=1e-6)
        assert found["weights"] == pytest.approx(expected["weights"], rel=1e-5)


@pytest.mark.parametrize("target", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_signal_to_one_lets_all_save_and_end(target, tmp_path):
    done = launched(2, "preempted.py", tmp_path, target, options=["--restarts", "1"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "exit code 42; starting again" in done.stderr
    assert done.stdout.count("counted") == 2
