"""`slim.summaries`: summaries of tensors under their own names, which may be printed too."""

from __future__ import annotations

from tapeflow.graph.build.collections import add_to_collection
from tapeflow.ops.control.printing import Print
from tapeflow.ops.nn.normalization import zero_fraction
from tapeflow.v1 import summary

__all__ = [
    "add_histogram_summaries", "add_histogram_summary", "add_image_summaries", "add_image_summary",
    "add_scalar_summaries", "add_scalar_summary", "add_zero_fraction_summaries", "add_zero_fraction_summary",
]  # fmt: skip


def _name_of(tensor, name: str | None = None, prefix=None, postfix=None):
    parts = (prefix, name or tensor.op.name, postfix)
    return "/".join(part for part in parts if part)


def _made(make, tensor, name: str, print_summary):
    """A summary; one that is printed joins the collection with what prints it."""
    if not print_summary:
        return make(name, tensor)
    printed = Print(make(name, tensor, collections=[]), [tensor], name)
    add_to_collection("summaries", printed)
    return printed


def add_histogram_summary(tensor, name: str | None = None, prefix=None):
    """A summary of the distribution of the values."""
    return summary.histogram(_name_of(tensor, name, prefix), tensor)


def add_image_summary(tensor, name: str | None = None, prefix=None, print_summary: bool = False):
    """A summary of images."""
    return _made(summary.image, tensor, _name_of(tensor, name, prefix), print_summary)


def add_scalar_summary(tensor, name: str | None = None, prefix=None, print_summary: bool = False):
    """A summary of a number."""
    return _made(summary.scalar, tensor, _name_of(tensor, name, prefix), print_summary)


def add_zero_fraction_summary(tensor, name: str | None = None, prefix=None, print_summary: bool = False):
    """A summary of the share of zeros."""
    name = _name_of(tensor, name, prefix, "Fraction_of_Zero_Values")
    return add_scalar_summary(zero_fraction(tensor), name, print_summary=print_summary)


def add_histogram_summaries(tensors, prefix=None):
    """`add_histogram_summary` of each of the tensors."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors, prefix=None):
    """`add_image_summary` of each of the tensors."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors, prefix=None, print_summary: bool = False):
    """`add_scalar_summary` of each of the tensors."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors, prefix=None):
    """`add_zero_fraction_summary` of each of the tensors."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
