"""Summaries of tensors, of activations, and of whole collections of them."""

from __future__ import annotations

from tapeflow.graph.build.collections import GraphKeys, get_collection
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.reductions import reduce_mean
from tapeflow.ops.nn.activation import Relu, Relu6
from tapeflow.ops.nn.softplus import Softplus
from tapeflow.v1 import summary

__all__ = [
    "summarize_activation", "summarize_activations", "summarize_collection", "summarize_tensor",
    "summarize_tensors",
]  # fmt: skip


def summarize_tensor(tensor, tag=None):
    """A scalar's value, anything else's histogram, as a summary."""
    tag = tag or tensor.op.name
    if tensor.shape.rank == 0:
        return summary.scalar(tag, tensor)
    return summary.histogram(tag, tensor)


def summarize_activation(op):
    """The histogram of activations; for those of a relu, how many are zero too."""
    if op.op.row in (Relu, Softplus, Relu6):
        summary.scalar(f"{op.op.name}/zeros", reduce_mean(cast(equal(op, 0), "float32")))
    if op.op.row is Relu6:
        summary.scalar(f"{op.op.name}/sixes", reduce_mean(cast(equal(op, 6), "float32")))
    return summary.histogram(f"{op.op.name}/activation", op)


def summarize_tensors(tensors, summarizer=summarize_tensor):
    """A summary of each."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection, name_filter=None, summarizer=summarize_tensor):
    """A summary of each tensor of a collection whose name matches."""
    import re

    found = [
        tensor for tensor in get_collection(collection)
        if name_filter is None or re.match(name_filter, tensor.op.name)
    ]  # fmt: skip
    return summarize_tensors(found, summarizer)


def summarize_activations(name_filter=None, summarizer=summarize_activation):
    """A summary of each collected activation."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
