"""The order of shuffled row numbers against that of a shuffled pass of elements."""

import itertools

import numpy as np
import pytest

from tapeflow import _native
from tapeflow.data.iteration.passes import Counted
from tapeflow.data.transform.shuffling import (
    PhiloxStream,
    SeedGenerator,
    Shuffled,
    shuffled_numbers,
)


@pytest.mark.parametrize("size", [1, 2, 7, 10, 64, 2**62])
@pytest.mark.parametrize("lengths", [[], [1], [10], [3, 4, 1, 9], [50, 50, 3]])
def test_numbers_are_those_of_the_elements(size, lengths):
    ends = np.cumsum([0, *lengths])
    blocks = [np.arange(a, b) for a, b in itertools.pairwise(ends)]
    ours = [n for block in shuffled_numbers(iter(blocks), size, PhiloxStream(5, 6)) for n in block.tolist()]
    theirs = list(Shuffled(Counted(lambda: range(ends[-1])), size, SeedGenerator(5, 6, False)))
    assert ours == theirs


def test_input_is_not_changed():
    block = np.arange(20)
    list(shuffled_numbers([block], 5, PhiloxStream(1, 2)))
    np.testing.assert_array_equal(block, np.arange(20))


@pytest.mark.parametrize(
    "call",
    [
        lambda a, r: _native.shuffle_through(a, 5, a.copy(), r),
        lambda a, r: _native.shuffle_through(a, -1, a.copy(), r),
        lambda a, r: _native.shuffle_through(a[:0], 0, a, r),
        lambda a, r: _native.shuffle_through(a, 0, a.copy(), r[:3]),
        lambda a, r: _native.shuffle_through(a.astype(np.int32), 0, a, r),
        lambda a, r: _native.shuffle_through(a[::2], 0, a, r),
        lambda a, r: _native.shuffle_through(bytes(40), 0, a, r),
        lambda a, r: _native.shuffle_rest(a[:3], r),
        lambda a, r: _native.shuffle_rest(None, r),
    ],
)
def test_bad_arguments_raise(call):
    with pytest.raises((ValueError, TypeError, BufferError)):
        call(np.arange(5), np.arange(5, dtype=np.uint64))
