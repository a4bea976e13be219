"""Every row with native kernels that let go of the GIL and split however small the work is: the same results."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

load_all_rows()

NATIVE = sorted(
    name
    for name, row in REGISTRY.items()
    if row.native_dtypes() and row.sample_source is not None and not row.stateful
)


class Generator:
    """What samples draw from."""

    def __init__(self):
        self.numbers = np.random.default_rng(7)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


@pytest.fixture
def eager_to_split():
    before = _native.set_work_thresholds(1, 1)
    yield
    _native.set_work_thresholds(*before)


def leaves(out):
    return [x for x in tf.nest.flatten(out) if x.dtype not in (tf.resource, tf.variant)]


def call(row, sample):
    """The row of tensors: arrays may be cast to the dtype that a row prefers."""
    inputs = [tf.constant(x) if isinstance(x, (np.ndarray, np.generic)) and x.size else x for x in sample.inputs]
    return row(*inputs, **sample.attrs)


@pytest.mark.parametrize("name", NATIVE)
def test_the_same_results(name, eager_to_split):
    row = REGISTRY[name]
    good = [s for s in row.sample_source(Generator()) if s.raises is None]
    before = _native.set_work_thresholds(2**62, 2**62)
    wanted = [leaves(call(row, s)) for s in good]
    _native.set_work_thresholds(1, 1)
    assert before == (1, 1)
    for sample, expected in zip(good, wanted, strict=True):
        for x, y in zip(leaves(call(row, sample)), expected, strict=True):
            if x.dtype == tf.string:
                np.testing.assert_array_equal(x.numpy(), y.numpy())
            else:
                # Sums are taken in another order.
                np.testing.assert_allclose(
                    x.numpy().astype(np.complex128),
                    y.numpy().astype(np.complex128),
                    rtol=1e-3,
                    atol=1e-5,
                )


def test_a_large_segment_sum():
    x = np.ones([3000, 300], np.float32)
    ids = np.repeat(np.arange(30), 100).astype(np.int32)
    np.testing.assert_array_equal(tf.math.segment_sum(x, ids), np.full([30, 300], 100.0))
