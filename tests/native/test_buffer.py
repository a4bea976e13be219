"""The cache of freed memory."""

import pytest

import tapeflow as tf
from tapeflow import _native


@pytest.fixture
def limit():
    _native.allocator_trim()
    yield _native.allocator_stats()["limit"]
    _native.allocator_trim()


def make_and_drop(size):
    tf.zeros([size], tf.uint8)


def test_freed_memory_is_used_again(limit):
    make_and_drop(1 << 20)
    cached = _native.allocator_stats()["cached"]
    assert cached >= 1 << 20
    x = tf.zeros([1 << 20], tf.uint8)
    assert _native.allocator_stats()["cached"] <= cached - (1 << 20)
    del x


def test_sizes_that_a_program_no_longer_uses_leave_the_cache(limit):
    make_and_drop(limit // 16 * 11)
    make_and_drop(limit // 16 * 3)
    full = _native.allocator_stats()["cached"]
    assert full >= limit // 16 * 14
    make_and_drop(limit // 2)  # only the oldest has to go
    assert limit // 16 * 11 <= _native.allocator_stats()["cached"] < full


def test_what_is_larger_than_the_cache_evicts_nothing(limit):
    make_and_drop(1 << 20)
    cached = _native.allocator_stats()["cached"]
    make_and_drop(limit + 1)
    assert _native.allocator_stats()["cached"] == cached
