"""Gradients that nobody asks for are not computed where they cost as much as the row itself."""

import pytest
from row_samples import Generator, leaves, tensors

import tapeflow as tf
from tapeflow.ops.all_rows import load_all_rows
from tapeflow.ops.table import REGISTRY

load_all_rows()
CONTRACTIONS = [
    "MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3",
    "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter",
    "Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2",
    "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter",
]  # fmt: skip


def first_sample(row):
    return next(s for s in row.sample_source(Generator()) if s.raises is None)


def cases():
    for name in CONTRACTIONS:
        for at, value in enumerate(tensors(first_sample(REGISTRY[name]).inputs)):
            if tf.as_dtype(value.dtype).is_floating:
                yield pytest.param(name, at, id=f"{name}-{at}")


@pytest.mark.parametrize(("name", "at"), list(cases()))
def test_all_that_is_computed_leads_to_the_gradient(name, at):
    row = REGISTRY[name]
    sample = first_sample(row)
    inputs = tensors(sample.inputs)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x for x in inputs if tf.as_dtype(x.dtype).is_floating])
        with tf.GradientTape() as tape:
            tape.watch(inputs[at])
            (result,) = leaves(row(*inputs, **sample.attrs))
        forward = len(outer._entries())
        gradient = tape.gradient(result, inputs[at])
    used, backward = {gradient._id}, outer._entries()[forward:]
    for _, read, written in reversed(backward):
        assert used.intersection(written)
        used.update(read)
    assert backward
