"""Every row for a whole batch at once, by its own samples, against one call for each element."""

from __future__ import annotations

import numpy as np
import pytest
from row_samples import Generator, array, leaves, tensors, wide

import tapeflow as tf
from tapeflow.autodiff import vectorized_map
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

load_all_rows()

SIZE = 3


def batched_inputs(sample):
    """The positions of inputs, with those in lists spread out, that can differ from element to element."""
    flat = leaves(tensors(sample.inputs))
    return flat, [i for i, x in enumerate(flat) if np.asarray(x).dtype.kind in "fcV" or (np.ndim(x) and np.size(x))]


def variations(x):
    """An input for each element: numbers scaled, so that matrices keep their properties; others in another order."""
    x = array(x)
    if x.dtype.kind in "fcV":
        return np.stack([(x * np.asarray(factor, x.dtype)).astype(x.dtype) for factor in (1, 0.5, 0.75)])
    return np.stack([np.roll(x, i, -1) if x.ndim else x for i in range(SIZE)])


def is_numbers_or_text(x):
    """Whether an input is of numbers or strings, not of payloads such as lists of tensors."""
    kind = np.asarray(x).dtype.kind
    return kind in "biufcVSU" or (kind == "O" and all(isinstance(v, (bytes, str)) for v in np.ravel(x)))


def cases():
    for name, row in sorted(REGISTRY.items()):
        if row.sample_source is None or row.stateful or "variant" in row.signature:
            continue
        for i, sample in enumerate(row.sample_source(Generator())):
            if sample.raises is None and all(map(is_numbers_or_text, leaves(tensors(sample.inputs)))):
                yield pytest.param(row, sample, id=f"{name}-{i}")


def calls_one(row, sample, flat, chosen):
    """A function of the chosen flat inputs."""

    def one(elements):
        given = list(flat)
        for i, x in zip(chosen, elements, strict=True):
            given[i] = x
        rest = iter(given)
        inputs = [[next(rest) for _ in x] if isinstance(x, list) else next(rest) for x in sample.inputs]
        return leaves(row(*inputs, **sample.attrs))

    return one


@pytest.mark.parametrize(("row", "sample"), list(cases()))
def test_whole_batch_is_each_element(row, sample):
    flat, candidates = batched_inputs(sample)
    groups = [candidates, *([i] for i in candidates if len(candidates) > 1)]
    compared = 0
    for chosen in filter(None, groups):
        one = calls_one(row, sample, flat, chosen)
        stacks = [tf.constant(variations(flat[i])) for i in chosen]
        try:
            want = [one([x[k] for x in stacks]) for k in range(SIZE)]
            columns = [np.stack([array(y) for y in column]) for column in zip(*want, strict=True)]
        except (tf.errors.OpError, ValueError, TypeError):
            continue  # what was changed does not suit the row, or what it returns differs in shape
        for static in (True, False):
            got = vectorized_map.vectorized_map(one, stacks) if static else in_function(one, stacks)
            for ours, theirs in zip(got, columns, strict=True):
                compare(ours, theirs)
        compared += 1
    if not compared:
        pytest.skip("no variation of its inputs suits it")


def in_function(one, stacks):
    """The same in a function, which knows of the batch only that it is there."""
    signature = [[tf.TensorSpec([None, *x.shape[1:]], x.dtype) for x in stacks]]
    return tf.function(lambda xs: vectorized_map.vectorized_map(one, xs), signature, autograph=False)(stacks)


def compare(ours, theirs):
    ours, theirs = wide(array(ours)), wide(theirs)
    assert ours.shape == theirs.shape
    if ours.dtype.kind in "fc":
        tolerance = 1e-5 if theirs.dtype.itemsize <= (8 if theirs.dtype.kind == "c" else 4) else 1e-9
        np.testing.assert_allclose(ours, theirs, rtol=max(tolerance, 2e-2 * (array(ours).dtype.kind == "V")),
                                   atol=tolerance, equal_nan=True)  # fmt: skip
    else:
        np.testing.assert_array_equal(ours, theirs)
