"""Random numbers drawn by several threads: no number is drawn twice, and all that one thread would draw are drawn."""

import importlib.util
import pathlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.random import generator as random_generator
from tapeflow.ops.random import seed as random_seed

_spec = importlib.util.spec_from_file_location("together", pathlib.Path(__file__).with_name("together.py"))
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
together = _module.together
THREADS, EACH = 8, 200
LONG = 20_000  # numbers of a call that lets go of the GIL


def drawn(draw, each=EACH):
    """The first number of each call of all threads, sorted."""
    return sorted(x for part in together(THREADS, lambda _: [draw() for _ in range(each)]) for x in part)


def first(x):
    return float(np.ravel(x)[0])


GENERATOR_DRAWS = {
    "normal": lambda g: first(g.normal((2,), dtype=tf.float64)),
    "uniform": lambda g: first(g.uniform((2,), dtype=tf.float64)),
    "truncated_normal": lambda g: first(g.truncated_normal((2,), dtype=tf.float64)),
    "full int": lambda g: int(np.ravel(g.uniform_full_int((2,)))[0]),
    "make_seeds": lambda g: int(g.make_seeds(1)[0, 0]),
    "split": lambda g: int(g.split(1)[0].key),
    "skip": lambda g: int(g.skip(3)[0]),
    "long": lambda g: first(g.uniform((LONG,), dtype=tf.float64)),
}


@pytest.mark.parametrize("name", GENERATOR_DRAWS)
def test_a_generator(name):
    draw = GENERATOR_DRAWS[name]
    shared, alone = tf.random.Generator.from_seed(7), tf.random.Generator.from_seed(7)
    each = EACH if name != "long" else EACH // 8
    wanted = [draw(alone) for _ in range(THREADS * each)]
    assert len(set(wanted)) == THREADS * each
    assert drawn(lambda: draw(shared), each) == sorted(wanted)


def test_a_generator_in_a_function():
    def calls(g):
        return tf.function(lambda: g.uniform((), dtype=tf.float64))

    shared, alone = (calls(tf.random.Generator.from_seed(7)) for _ in range(2))
    wanted = sorted(float(alone()) for _ in range(THREADS * EACH))
    assert drawn(lambda: float(shared())) == wanted


def test_a_generator_in_a_session():
    def calls():
        with tf.Graph().as_default():
            g = tf.random.Generator.from_seed(7)
            x = g.uniform((), dtype=tf.float64)
            s = tf.compat.v1.Session()
            s.run(g.state.initializer)
        return s.make_callable(x)

    shared, alone = calls(), calls()
    assert drawn(lambda: float(shared()), 50) == sorted(float(alone()) for _ in range(THREADS * 50))


def test_the_global_generator_is_made_once(monkeypatch):
    for _ in range(20):
        monkeypatch.setattr(random_generator, "_global_generator", None)
        assert len({id(g) for g in together(THREADS, lambda _: tf.random.get_global_generator())}) == 1


STATEFUL_DRAWS = {
    "uniform": lambda seed: first(tf.random.uniform((2,), seed=seed, dtype=tf.float64)),
    "normal": lambda seed: first(tf.random.normal((2,), seed=seed, dtype=tf.float64)),
    "long": lambda seed: first(tf.random.uniform((LONG,), seed=seed, dtype=tf.float64)),
    "truncated_normal": lambda seed: first(tf.random.truncated_normal((2,), seed=seed, dtype=tf.float64)),
    "gamma": lambda seed: first(tf.random.gamma((2,), 2.0, seed=seed, dtype=tf.float64)),
    "int": lambda seed: int(tf.random.uniform((), maxval=2**62, seed=seed, dtype=tf.int64)),
    # In Python.
    "shuffle": lambda seed: tuple(tf.random.shuffle(tf.constant([str(i) for i in range(40)]), seed=seed).numpy()),
}


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("name", STATEFUL_DRAWS)
def test_stateful_ops(name, seed):
    draw = STATEFUL_DRAWS[name]
    each = EACH if name not in ("long", "shuffle") else EACH // 8
    tf.random.set_seed(3)
    wanted = sorted(draw(seed) for _ in range(THREADS * each))
    assert len(set(wanted)) == THREADS * each
    tf.random.set_seed(3)
    assert drawn(lambda: draw(seed), each) == wanted


def test_stateful_ops_in_a_function():
    tf.random.set_seed(3)
    f = tf.function(lambda: tf.random.uniform((), seed=5, dtype=tf.float64))
    wanted = sorted(float(f()) for _ in range(THREADS * EACH))
    tf.random.set_seed(3)
    assert drawn(lambda: float(f())) == wanted


def test_streams_without_seeds(monkeypatch):
    monkeypatch.setattr(random_seed, "_global_seed", None)
    numbers = drawn(lambda: float(tf.random.uniform((), dtype=tf.float64)))
    assert len(set(numbers)) == THREADS * EACH


def test_a_seed_set_while_others_draw():
    """Whatever the turns, nothing is raised and all numbers are those of some stream."""

    def work(k):
        for i in range(300):
            if k == 0:
                tf.random.set_seed(i % 3)
            else:
                assert 0 <= float(tf.random.uniform(())) < 1

    together(THREADS, work)
