"""Shuffling gives TensorFlow's orders for TensorFlow's seeds."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.data.transform import shuffling

Dataset = tf.data.Dataset

# Orders that TensorFlow 2.21 gives.
BUFFER_OF_4 = [
    [1, 0, 2, 5, 4, 6, 3, 7, 8, 9],
    [0, 4, 5, 2, 3, 8, 1, 6, 7, 9],
    [3, 2, 4, 1, 7, 8, 5, 6, 9, 0],
]
ALWAYS_THE_SAME = [0, 1, 3, 6, 4, 7, 5, 2, 8, 9]


def values(dataset):
    return [int(x) for x in dataset]


@pytest.fixture
def seeded_42():
    tf.random.set_seed(42)


@pytest.mark.usefixtures("seeded_42")
def test_each_pass_has_its_own_order():
    dataset = Dataset.range(10).shuffle(4, seed=7)
    assert [values(dataset) for _ in range(3)] == BUFFER_OF_4


@pytest.mark.usefixtures("seeded_42")
def test_repeat_shuffles_anew():
    dataset = Dataset.range(10).shuffle(4, seed=7).repeat(2)
    assert values(dataset) == BUFFER_OF_4[0] + BUFFER_OF_4[1]


@pytest.mark.usefixtures("seeded_42")
def test_without_reshuffling_each_pass_is_the_same():
    dataset = Dataset.range(10).shuffle(4, seed=7, reshuffle_each_iteration=False)
    assert [values(dataset) for _ in range(2)] == [ALWAYS_THE_SAME] * 2


@pytest.mark.usefixtures("seeded_42")
def test_elements_are_shuffled_like_rows():
    dataset = Dataset.range(10).map(lambda x: x).shuffle(4, seed=7)
    assert values(dataset) == BUFFER_OF_4[0]


@pytest.mark.usefixtures("seeded_42")
def test_seeds_come_from_the_global_one():
    assert values(Dataset.range(10).shuffle(40)) == [5, 8, 2, 0, 4, 7, 1, 3, 9, 6]
    assert values(Dataset.range(10).shuffle(40)) == [0, 7, 9, 3, 4, 1, 8, 6, 2, 5]


def test_every_element_comes_once():
    dataset = Dataset.range(1000).shuffle(77).batch(32)
    assert sorted(int(x) for batch in dataset for x in batch) == list(range(1000))


@pytest.mark.parametrize("size", [7, 40, 100])
@pytest.mark.parametrize("batch", [3, 33, 200])
def test_pieces_of_a_long_pass(monkeypatch, size, batch):
    """However many numbers are shuffled at once, while other threads wait, the order is the same."""
    monkeypatch.setattr(shuffling, "_PIECE", 16)
    rows = tf.data.Dataset.from_tensor_slices(np.arange(100)).shuffle(size, seed=3).batch(batch)
    one_by_one = tf.data.Dataset.from_generator(lambda: range(100), tf.int64).shuffle(size, seed=3)
    batches = list(rows.as_numpy_iterator())
    assert [len(b) for b in batches] == [min(batch, 100 - i) for i in range(0, 100, batch)]
    assert np.concatenate(batches).tolist() == list(one_by_one.as_numpy_iterator())
