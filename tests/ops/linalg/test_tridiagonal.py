"""Tridiagonal matrices whose parts are known not to fit: refused before anything runs."""

import pytest

import tapeflow as tf

ones = tf.ones
BAD = [
    ("compact", ones([5, 4, 4]), ones([5, 4]), "Expected 3 diagonals got 4"),
    ("compact", ones([5, 3, 4]), ones([4, 5]), "Batch shapes"),
    ("compact", ones([5, 3, 4]), ones([5]), "rank of rhs to be 2 or 3, got 1"),
    ("compact", ones([5]), ones([5]), "rank at least 2"),
    ("compact", ones([2, 3, 4]), ones([2, 5, 1]), "to be equal, got 4 and 5"),
    ("matrix", ones([5, 4, 7]), ones([5, 4]), "last two dimensions"),
    ("sequence", (ones([5, 4]), ones([5, 4]), ones([5, 6])), ones([5, 4]), "subdiagonal"),
    ("sequence", (ones([5, 2]), ones([5, 4]), ones([5, 4])), ones([5, 4]), "superdiagonal"),
    ("sequence", [ones([5, 4])] * 4, ones([5, 4]), "sequence of length 3"),
    ("dense", ones([3, 4]), ones([4]), "Unrecognized diagonals_format"),
]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("case", BAD, ids=lambda case: case[3])
def test_parts_that_do_not_fit(wrap, case):
    form, diagonals, rhs, message = case
    with pytest.raises(ValueError, match=message):
        wrap(lambda: tf.linalg.tridiagonal_solve(diagonals, rhs, form))()
