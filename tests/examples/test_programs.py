"""The programs of `examples/`, each run with small arguments as a user would run it."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SOURCES = Path(__file__).parents[2] / "src"


@pytest.fixture
def run(tmp_path):
    """Runs a program in an empty folder; returns what it printed."""

    def run(name, *arguments):
        path = os.pathsep.join(filter(None, [str(SOURCES), os.environ.get("PYTHONPATH")]))
        done = subprocess.run(
            [sys.executable, str(FOLDER / f"{name}.py"), *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def falls(printed, word="loss"):
    """Pairs of the first and last number in `word first -> last`."""
    number = r"(-?[\d.]+)"
    found = re.findall(rf"{word} {number} -> {number}", printed)
    assert found, printed
    return [(float(first), float(last)) for first, last in found]


def is_picture(path):
    image = pytest.importorskip("PIL.Image")
    with image.open(path) as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 4


@pytest.mark.slow
def test_linear_regression(run):
    printed = run("linear_regression")
    (a, b), (c, d) = falls(printed)
    assert (a, b) == (c, d)
    assert b < 0.02 * a


@pytest.mark.slow
def test_mnist_in_five_ways_is_one_training(run):
    pairs = falls(run("mnist_five_ways", "--epochs", 2, "--images", 2000))
    assert len(pairs) == 5
    np.testing.assert_allclose(pairs, [pairs[0]] * 5, atol=2e-3)
    assert pairs[0][1] < 0.6 * pairs[0][0]


@pytest.mark.slow
def test_char_rnn(run):
    printed = run("char_rnn", "--steps", 40, "--units", 48, "--write", 20)
    ((first, last),) = falls(printed)
    assert last < 0.85 * first
    assert len(printed.rstrip("\n").splitlines()[-1]) <= 24


@pytest.mark.slow
def test_color_bot(run, tmp_path):
    pytest.importorskip("PIL")
    printed = run("color_bot", "dark mint", "--epochs", 12)
    ((first, last),) = falls(printed)
    assert last < 0.7 * first
    assert re.search(r"^dark mint: #[0-9a-f]{6}$", printed, re.MULTILINE)
    is_picture(tmp_path / "colors.png")


@pytest.mark.slow
def test_tree_lstm(run):
    ((first, last),) = falls(run("tree_lstm", "--steps", 50, "--depth", 3))
    assert last < 0.6 * first


@pytest.mark.slow
def test_gan(run, tmp_path):
    pytest.importorskip("PIL")
    printed = run("gan", "--epochs", 2, "--images", 600, "--batch", 50)
    before, after = (float(x) for x in re.findall(r"mean digit by ([\d.]+)", printed))
    assert after < before
    for epoch in (1, 2):
        is_picture(tmp_path / "gan" / f"epoch-{epoch:02}.png")


@pytest.mark.slow
def test_transformer(run):
    ((first, last),) = falls(run("transformer", "--steps", 80, "--length", 6))
    assert last < 0.7 * first


@pytest.mark.slow
def test_dqn(run):
    ((first, last),) = falls(run("dqn", "--episodes", 100), "moves")
    assert last > 1.5 * first


@pytest.mark.slow
def test_bayesian_regression(run, tmp_path):
    pytest.importorskip("PIL")
    printed = run("bayesian_regression")
    ((first, last),) = falls(printed)
    assert last < 0.1 * first
    points, gap, outside = (float(x) for x in re.findall(r"\+- ([\d.]+)", printed))
    assert points < gap < 2 * outside
    is_picture(tmp_path / "bayesian_regression.png")


@pytest.mark.slow
def test_resnet50(run):
    printed = run("resnet50", "--steps", 2, "--batch", 2, "--size", 64)
    ((first, last),) = falls(printed)
    assert last < first
    assert printed.count("images/s") >= 2


@pytest.mark.slow
def test_revnet_needs_less_memory_for_the_same_loss(run):
    printed = run("revnet", "--steps", 8, "--batch", 20)
    pairs = falls(printed)
    np.testing.assert_allclose(pairs, [pairs[0]] * 3, atol=2e-3)
    plain, recomputed, reversible = (
        int(x.replace(",", "")) for x in re.findall(r"([\d,]+) bytes held", printed)
    )
    assert reversible < 0.5 * recomputed < 0.5 * plain


def test_gradients_of_a_reversible_network_are_those_of_the_plain_one(monkeypatch, rng):
    monkeypatch.syspath_prepend(str(FOLDER))
    program = runpy.run_path(str(FOLDER / "revnet.py"))
    import tapeflow as tf

    images = tf.constant(rng.random([3, 28, 28, 1]), tf.float32)
    labels = tf.constant([1, 2, 3])
    net = program["RevNet"](2, 4, seed=1)
    found = [
        program["gradients_of"](net, images, labels, program[way])[1]
        for way in ("plainly", "recomputing", "reversibly")
    ]
    for plain, recomputed, reversible in zip(*found):
        np.testing.assert_allclose(recomputed, plain, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(reversible, plain, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
def test_l2hmc(run, tmp_path):
    pytest.importorskip("PIL")
    ((first, last),) = falls(run("l2hmc", "--steps", 100, "--moves", 10))
    assert np.isfinite([first, last]).all()
    is_picture(tmp_path / "l2hmc.png")


def test_an_untrained_sampler_is_reversible(monkeypatch, rng):
    monkeypatch.syspath_prepend(str(FOLDER))
    pytest.importorskip("PIL")
    program = runpy.run_path(str(FOLDER / "l2hmc.py"))
    import tapeflow as tf

    sampler = program["Sampler"]()
    x, v = (tf.constant(rng.normal(size=[5, 2]), tf.float32) for _ in range(2))
    sampler.travel(x, v, True)
    for weights in sampler.trainable_variables:
        weights.assign_add(0.1 * tf.random.normal(weights.shape))
    there_x, there_v, growth = sampler.travel(x, v, True)
    back_x, back_v, shrinking = sampler.travel(there_x, there_v, False)
    np.testing.assert_allclose(back_x, x, atol=1e-3)
    np.testing.assert_allclose(back_v, v, atol=1e-3)
    np.testing.assert_allclose(growth, -shrinking, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("extra", [[], ["--defun"]])
def test_cat_generator(run, tmp_path, extra):
    pytest.importorskip("PIL")
    printed = run("cat_generator", "--size", 80, "--steps", 20, "--iterations", 3, *extra)
    assert "378 variables of 21,823,274 numbers restored" in printed
    ((first, last),) = falls(printed)
    assert last < first
    nudged = falls(printed, r"p\(\d\):")
    assert len(nudged) == 10
    assert np.mean([after for _, after in nudged]) > np.mean([before for before, _ in nudged])
    is_picture(tmp_path / "cats.png")
