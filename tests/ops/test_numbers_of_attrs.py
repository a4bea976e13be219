"""Attrs may be numbers of NumPy and tensors: kernels in Python are given plain numbers, as native ones are."""

import numpy as np
import pytest
from row_samples import Generator, array, leaves

import tapeflow as tf
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

load_all_rows()


def as_numpy(attr):
    if isinstance(attr, bool):
        return np.bool_(attr)
    if isinstance(attr, int):
        return np.int64(attr)
    if isinstance(attr, list):
        return [as_numpy(each) for each in attr]
    return attr


def as_tensor(attr):
    return tf.constant(attr, tf.int64) if type(attr) is int else attr


def value(tensor):
    """The elements of a tensor to compare; None for those that are objects, as sparse matrices are."""
    found = array(tensor)
    if isinstance(found, np.ndarray):
        return found.tolist() if found.dtype == object else found.tobytes()
    return found if isinstance(found, bytes) else None


def outcome(row, inputs, attrs):
    return [(x.dtype, x.shape, value(x)) for x in leaves(row(*inputs, **attrs)) if isinstance(x, tf.Tensor)]


def calls():
    for name, row in sorted(REGISTRY.items()):
        for sample in row.sample_source(Generator()) if row.sample_source else ():
            plain = all(not isinstance(each, int) or abs(each) < 2**31 for each in sample.attrs.values())
            if sample.raises is None and plain and as_numpy_changes(sample.attrs):
                yield name, row, sample
                break


def as_numpy_changes(attrs):
    return any(isinstance(attr, (bool, int, list)) for attr in attrs.values())


CALLS = list(calls())


@pytest.mark.parametrize(("name", "row", "sample"), CALLS, ids=[name for name, _, _ in CALLS])
def test_numbers_of_any_kind_are_taken(name, row, sample):
    wanted = outcome(row, sample.inputs, sample.attrs)
    drawn = outcome(row, sample.inputs, sample.attrs) != wanted
    for turned in (as_numpy, as_tensor):
        found = outcome(row, sample.inputs, {key: turned(attr) for key, attr in sample.attrs.items()})
        assert [each[:2] for each in found] == [each[:2] for each in wanted]
        assert drawn or found == wanted
