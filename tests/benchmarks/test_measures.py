"""What `make bench` compares and counts, on cases that can be counted by hand."""

import runpy
from pathlib import Path

import pytest

import tapeflow as tf
from tapeflow.graph.run import planning

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def memory():
    return runpy.run_path(str(BENCHMARKS / "memory.py"))


@pytest.fixture(scope="module")
def bench():
    return runpy.run_path(str(BENCHMARKS / "bench.py"))


def program(function, *args):
    concrete = tf.function(function, autograph=False).get_concrete_function(*args)
    return planning.function_program(concrete.graph)


X = tf.ones([32, 32])
SIZE = 32 * 32 * 4


def test_live_set_of_a_chain_is_two_values(memory):
    made = program(lambda x: tf.matmul(tf.matmul(tf.matmul(x, x), x), x), X)
    assert memory["live_set"](made) == 2 * SIZE


def test_live_set_counts_what_is_used_later(memory):
    def f(x):
        a = tf.matmul(x, x)
        b = tf.matmul(a, x)
        c = tf.matmul(b, x)  # a, b and c
        return tf.matmul(a, c)

    assert memory["live_set"](program(f, X)) == 3 * SIZE


def test_views_take_no_memory(memory):
    made = program(lambda x: tf.matmul(tf.reshape(tf.matmul(x, x), [32, 32]), x), X)
    assert memory["live_set"](made) == 2 * SIZE


def test_peers_that_compute_something_else_are_found(bench):
    answers = {
        "one": {"a": [[2, 1.0, 2.0]], "b": [[1, 5.0]]},
        "near": {"a": [[2, 1.0001, 2.0]], "b": [[1, 5.0]]},
        "far": {"a": [[2, 1.0, 2.1]], "b": [[1, 5.0]]},
        "longer": {"a": [[3, 1.0, 2.0]], "b": [[1, 5.0], [1, 5.0]]},
    }
    assert bench["differing"](answers) == [("far", "a"), ("longer", "a"), ("longer", "b")]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (-1e-9, "none"), (5e-8, "0.05 µs"), (2.5e-6, "2.5 µs"), (1.25, "1.25 s")],
)
def test_times_are_written_in_fitting_units(bench, seconds, text):
    assert bench["time"](seconds) == text


@pytest.mark.parametrize(("mine", "missed"), [(2.0, False), (2.2, True)])
def test_a_limit_may_be_a_part_of_a_peers_speed(bench, mine, missed):
    limit = bench["Speed"](0.5, "disk")
    table = bench["Table"]({}, (), [("save", "saving", limit)], [])
    written = bench["report"](table, {"tapeflow": {"save": mine}, "disk": {"save": 1.0}})
    assert ("(!)" in written) == missed
    assert "| 2 s |" in written


def test_summary_counts_rows_and_names_the_worst(bench):
    times = [(key, f"the {key}", None) for key in ("near", "won", "lost", "worse", "alone")]
    table = bench["Table"](peers={}, rivals=("A", "B"), times=times, sizes=[])
    results = {
        "tapeflow": {"near": 1.0, "won": 1.0, "lost": 2.0, "worse": 4.0, "alone": 1.0},
        "A": {"near": 1.02, "won": 3.0, "lost": 1.0, "worse": 2.0},
        "B": {"won": 2.0, "worse": 1.0},
        "by hand": {"near": 0.1},
    }
    ratios = list(bench["ratios"](table, results))
    assert ratios == [(1.02, "the near", "A"), (2.0, "the won", "B"), (0.5, "the lost", "A"), (0.25, "the worse", "B")]
    assert bench["summary"](ratios).splitlines() == [
        "1 rows ahead of the fastest rival, 1 level, 2 behind.",
        "- the worse: 0.25 of the speed of B",
        "- the lost: 0.5 of the speed of A",
    ]
