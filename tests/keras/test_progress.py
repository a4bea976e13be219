"""`keras.utils.Progbar`: what it writes for numbers of each kind."""

import re

import pytest

import tapeflow as tf


def shown(capsys, updates, **arguments):
    """The names and numbers of the last line."""
    bar = tf.keras.utils.Progbar(**arguments)
    for step, value in enumerate(updates):
        bar.update(step + 1, values=[("loss", value)], finalize=step + 1 == len(updates))
    lines = capsys.readouterr().out.replace("\r", "\n").strip().splitlines()
    return re.findall(r"loss: (\S+)", lines[-1])[-1] if lines else ""


@pytest.mark.parametrize("verbose", [1, 2])
def test_the_end_shows_what_is_given_there(capsys, verbose):
    assert shown(capsys, [3.0, 2.0, 1.0], target=3, verbose=verbose) == "1.0000"
    assert shown(capsys, [3.0, [2.0, 4.0]], target=2, verbose=verbose, stateful_metrics=["loss"]) == "3.0000"


def test_before_that_it_is_a_mean(capsys):
    bar = tf.keras.utils.Progbar(10, interval=0)
    for step, value in enumerate([3.0, 2.0]):
        bar.update(step + 1, values=[("loss", value)])
    assert "loss: 2.5000" in capsys.readouterr().out


def test_negative_numbers(capsys):
    assert shown(capsys, [-2.0], target=1, verbose=1) == "-2.0000"
    assert shown(capsys, [-2.0], target=1, verbose=2) == "-2.0000e+00"


def test_an_unknown_end_has_no_line_of_its_own(capsys):
    assert shown(capsys, [3.0, 2.0], target=None, verbose=2) == ""
