"""`examples/graph_and_session.py`, on few digits."""

import runpy
import sys
from pathlib import Path

import pytest

import tapeflow.compat.v1 as tf

pytest.importorskip("rich")
PROGRAM = Path(__file__).parents[2] / "examples" / "graph_and_session.py"


@pytest.fixture
def graph():
    with tf.Graph().as_default() as g:
        tf.set_random_seed(1)
        yield g


def test_trains(graph):
    program = runpy.run_path(str(PROGRAM))
    model = program["build"]()
    start = tf.global_variables_initializer()
    graph.finalize()
    assert program["summary"](graph).endswith("nodes, 8 variables of 215,370 numbers")
    (images, labels), _ = tf.keras.datasets.mnist.load_data()
    images, labels = program["as_inputs"](images[:64], labels[:64])
    with tf.Session() as session:
        session.run(start)
        losses, _ = program["train"](session, model, images, labels, epochs=6, batch=16, seed=1)
        assert session.run(model.step) == len(losses) == 24
    assert sum(losses[-4:]) < 0.7 * sum(losses[:4])


@pytest.mark.slow
def test_reads_unseen_digits(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(PROGRAM), "--epochs", "2"])
    runpy.run_path(str(PROGRAM), run_name="__main__")
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("test accuracy"))
    assert float(line.split()[2].rstrip("%")) > 94
